package dis

import (
	"context"
	"errors"
	"strings"
)

// TokenSource hands out the IAM token that is valid now, the alternative to keys
// and a signature. Token is called once per attempt and from many goroutines; it
// should answer from memory.
type TokenSource interface {
	Token(ctx context.Context) (string, error)
}

type staticToken string

// StaticToken always hands out the same token, without surrounding white space.
// Tokens live for a day.
func StaticToken(token string) TokenSource { return staticToken(strings.TrimSpace(token)) }

func (s staticToken) Token(context.Context) (string, error) {
	if s == "" {
		return "", errors.New("the token is empty")
	}
	return string(s), nil
}

// String keeps the token out of a printed Config.
func (s staticToken) String() string { return "a token" }

// GoString keeps the token out of %#v.
func (s staticToken) GoString() string { return s.String() }
