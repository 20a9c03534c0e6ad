package dis

import (
	"context"
	"errors"
	"strings"
)

// Keys sign the requests of one user. SecurityToken is set for temporary keys.
type Keys struct {
	AccessKey     string
	SecretKey     string
	SecurityToken string
}

// String hides the secrets, so that keys can never end up in a log.
func (k Keys) String() string { return "keys of " + k.AccessKey }

// GoString hides the secrets from %#v.
func (k Keys) GoString() string { return k.String() }

// Credentials hands out the keys that are valid now. Get is called once per
// attempt and from many goroutines; it should answer from memory.
type Credentials interface {
	Get(ctx context.Context) (Keys, error)
}

type staticCredentials Keys

// StaticCredentials always hands out the same keys, with surrounding white
// space removed as the official SDKs do.
func StaticCredentials(keys Keys) Credentials {
	return staticCredentials{
		AccessKey:     strings.TrimSpace(keys.AccessKey),
		SecretKey:     strings.TrimSpace(keys.SecretKey),
		SecurityToken: strings.TrimSpace(keys.SecurityToken),
	}
}

func (s staticCredentials) Get(context.Context) (Keys, error) {
	if s.AccessKey == "" || s.SecretKey == "" {
		return Keys{}, errors.New("access key or secret key is empty")
	}
	return Keys(s), nil
}

// String keeps the secrets out of a printed Config.
func (s staticCredentials) String() string { return Keys(s).String() }

// GoString keeps the secrets out of %#v.
func (s staticCredentials) GoString() string { return Keys(s).String() }
