// Package adminpage reads the pages of a gateway that runs.
package adminpage

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
)

// Get reads a page, such as /readyz, at an admin address, of the text as many bytes
// as most. The address is dialled as it is: Go takes one of every interface, such as
// :9644, for this machine. No proxy comes in between, and no redirection is followed.
//
// Errors: those of the dialler, such as syscall.ECONNREFUSED where nobody listens,
// and of the context.
func Get(ctx context.Context, address, page string, most int64) (status int, text string, err error) {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://gateway"+page, nil)
	if err != nil {
		return 0, "", err
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close() // only read
	content, err := io.ReadAll(io.LimitReader(answer.Body, most))
	if err != nil {
		return 0, "", fmt.Errorf("reading %s: %w", page, err)
	}
	return answer.StatusCode, string(content), nil
}
