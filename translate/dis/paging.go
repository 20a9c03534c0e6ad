package dis

import (
	"context"
	"errors"
	"net/http"
)

// everyPage reads page after page until one says that no more follow. call makes
// the request for the entries behind the one named last, "" for the first page;
// entries takes them out of a page.
func everyPage[P, E any](
	ctx context.Context, c *Client, call func(last string) *request, entries func(page *P) (list []E, more bool), name func(E) string,
) ([]E, error) {
	var all []E
	last := ""
	for {
		page := new(P)
		asked := call(last).into(page)
		if err := c.run(ctx, asked); err != nil {
			return nil, err
		}
		list, more := entries(page)
		all = append(all, list...)
		if !more {
			return all, nil
		}
		if len(list) == 0 {
			return nil, stuck(asked)
		}
		last = name(list[len(list)-1])
	}
}

// stuck is the failure of a page that promises more and brings nothing.
func stuck(call *request) error {
	return &Error{Operation: call.operation, HTTPStatus: http.StatusOK,
		Err: errors.New("an empty page says that more follows")}
}
