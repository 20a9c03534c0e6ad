package embedded

import (
	"cmp"
	"net/http"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// updateStream serves PUT /v3/{project}/streams/{stream}, the form of the API
// reference and the v3 SDKs. What the body leaves out stays as it is.
func (s *Server) updateStream(r *request) (reply, error) {
	var body wire.UpdateStreamRequest
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	err := s.changeSettings(r, body.StreamName, func(c *wire.CreateStreamRequest) error {
		c.DataDuration = cmp.Or(body.DataDuration, c.DataDuration)
		changeDataType(c, body.DataType, body.DataSchema)
		changeAutoScale(c, body.AutoScaleEnabled, body.AutoScaleMinPartitionCount, body.AutoScaleMaxPartitionCount)
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return emptyReply(http.StatusOK)
}

// updateStreamV2 serves PUT /v2/{project}/streams/{stream}/update, the form of
// the Java SDK, which changes one aspect at a time.
func (s *Server) updateStreamV2(r *request) (reply, error) {
	var body wire.UpdateStreamV2Request
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	answer := wire.UpdateStreamV2Response{StreamName: cmp.Or(body.StreamName, r.path[0])}
	err := s.changeSettings(r, body.StreamName, func(c *wire.CreateStreamRequest) error {
		switch body.UpdateType {
		case wire.UpdateDataType:
			changeDataType(c, body.DataType, body.DataSchema)
			answer.TargetDataType = c.DataType
		case wire.UpdateAutoScale:
			changeAutoScale(c, body.AutoScaleEnabled, body.AutoScaleMinPartitionCount, body.AutoScaleMaxPartitionCount)
		default:
			return invalidRequest("update_type", body.UpdateType)
		}
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, answer)
}

// changeSettings changes the settings of the stream that the path names. A new
// retention counts from the next sweep on, for what is stored already too.
func (s *Server) changeSettings(r *request, nameInBody string, change func(*wire.CreateStreamRequest) error) error {
	if nameInBody != "" && nameInBody != r.path[0] {
		return invalidRequest("stream_name", nameInBody)
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	st, err := s.streamOfPath(r, r.path[0])
	if err != nil {
		return err
	}
	return s.changeMeta(st, func(meta *streamMeta) error {
		if err := change(&meta.Settings); err != nil {
			return err
		}
		return s.checkChangeable(&meta.Settings)
	})
}

func changeDataType(c *wire.CreateStreamRequest, dataType, schema string) {
	c.DataType = cmp.Or(dataType, c.DataType)
	c.DataSchema = cmp.Or(schema, c.DataSchema)
}

func changeAutoScale(c *wire.CreateStreamRequest, enabled *bool, lowest, highest int) {
	if enabled != nil {
		c.AutoScaleEnabled = *enabled
	}
	c.AutoScaleMinPartitionCount = cmp.Or(lowest, c.AutoScaleMinPartitionCount)
	c.AutoScaleMaxPartitionCount = cmp.Or(highest, c.AutoScaleMaxPartitionCount)
}
