package gateway

import (
	"runtime"
	"testing"
	"weak"
)

// TestATurnHoldsNoRequest: a batch asks for its turn for as long as it is being
// written, which may be long after its request was answered.
func TestATurnHoldsNoRequest(t *testing.T) {
	request := new([1 << 20]byte)
	kept := weak.Make(request)
	c := &call{conn: &conn{pipe: newPipeline()}, x: &exchange{}, release: func() { request[0] = 1 }}
	turn := c.turn()
	c, request = nil, nil
	runtime.GC()
	if kept.Value() != nil {
		t.Error("the request is still in memory")
	}
	if _, come := turn(); come {
		t.Error("the turn of a request that is not the oldest has come")
	}
}
