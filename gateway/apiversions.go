package gateway

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ApiVersions
//
//	v0 (KIP-35) the range of versions of each API
//	v1 throttle time
//	v2 throttling after the reply (KIP-219), same layout
//	v3 (KIP-511) client software name and version; flexible, though the reply
//	   keeps the header without tagged fields
//	v4 (KIP-896) features may start at version 0, same layout
//
// A version above ours is answered in the layout of v0, which every client
// reads, with UNSUPPORTED_VERSION and the full list. The client software name is
// not checked: a space in it has locked tools out elsewhere.
func handleApiVersions(table []*api) handler {
	list := make([]kmsg.ApiVersionsResponseApiKey, 0, len(table))
	var highest int16
	for _, a := range table {
		entry := kmsg.NewApiVersionsResponseApiKey()
		entry.ApiKey, entry.MinVersion, entry.MaxVersion = a.key.Int16(), a.min, a.max
		list = append(list, entry)
		if a.key == kmsg.ApiVersions {
			highest = a.max
		}
	}
	return func(c *call, req kmsg.Request) {
		resp := kmsg.NewPtrApiVersionsResponse()
		resp.ApiKeys = list
		if v := req.GetVersion(); v < 0 || v > highest {
			resp.ErrorCode = unsupportedVersion
			c.x.version = 0
		}
		if r, ok := req.(*kmsg.ApiVersionsRequest); ok && resp.ErrorCode == 0 {
			c.conn.noteSoftware(r.ClientSoftwareName, r.ClientSoftwareVersion)
		}
		c.reply(resp)
	}
}
