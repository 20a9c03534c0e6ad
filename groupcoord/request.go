package groupcoord

import (
	"context"
	"strconv"
)

// Request is a request as log lines name it: by the number of its connection and
// its own there.
type Request struct {
	Connection  int64
	Correlation int32
}

func (r Request) String() string {
	return strconv.FormatInt(r.Connection, 10) + "/" + strconv.Itoa(int(r.Correlation))
}

type requestsKey struct{}

// Requests are those for which a call of a store is made, as its context tells. A
// commit may be made for several, and what the coordinator does of itself for none.
func Requests(ctx context.Context) []Request {
	requests, _ := ctx.Value(requestsKey{}).([]Request) // nil for none
	return requests
}
