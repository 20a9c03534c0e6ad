package dis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/singleflight"
)

// DefaultMetadataEndpoint is where a cloud host asks about itself.
const DefaultMetadataEndpoint = "http://169.254.169.254"

const (
	metadataTimeout = 5 * time.Second
	// refreshLead is how long before their end keys are replaced; up to as much is
	// added at random, so that the gateways of a host do not ask together.
	refreshLead = 5 * time.Minute
	// refreshPause is the least time between two requests in the background.
	refreshPause = 10 * time.Second
	// failurePause is how long a failure is the answer to everybody.
	failurePause = time.Second
)

// metadataCredentials are the temporary keys of the agency of a cloud host.
type metadataCredentials struct {
	endpoint string
	client   *http.Client
	logger   zerolog.Logger
	flight   singleflight.Group

	mu        sync.Mutex
	keys      Keys
	expires   time.Time // zero: no keys yet
	refreshAt time.Time
	failure   error // of the last request, nil after a success
	failedAt  time.Time
}

// MetadataCredentials asks the metadata service of the cloud host for the keys of
// the agency that the host was given. They are replaced in the background well
// before they expire; while that fails, the old ones are used until their end. An
// empty endpoint means DefaultMetadataEndpoint. Nothing is asked before the first
// call.
func MetadataCredentials(endpoint string, logger zerolog.Logger) (Credentials, error) {
	if endpoint == "" {
		endpoint = DefaultMetadataEndpoint
	}
	base, err := baseURL("metadata endpoint", endpoint)
	if err != nil {
		return nil, err
	}
	return newMetadataCredentials(base, logger, &http.Transport{
		// No proxy: the address has a meaning on this host alone.
		DialContext:       (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		DisableKeepAlives: true, // hours pass between two requests
	}), nil
}

func newMetadataCredentials(endpoint string, logger zerolog.Logger, transport http.RoundTripper) *metadataCredentials {
	return &metadataCredentials{endpoint: endpoint, logger: logger, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Get waits for the metadata service only when there are no valid keys.
func (m *metadataCredentials) Get(ctx context.Context) (Keys, error) {
	now := time.Now()
	m.mu.Lock()
	keys, valid, due := m.keys, now.Before(m.expires), !now.Before(m.refreshAt)
	failure, failedNow := m.failure, now.Sub(m.failedAt) < failurePause
	m.mu.Unlock()
	switch {
	case valid && !due:
		return keys, nil
	case valid:
		m.flight.DoChan("", m.refresh) // whose outcome the next call sees
		return keys, nil
	case failure != nil && failedNow:
		return Keys{}, failure
	}
	select {
	case outcome := <-m.flight.DoChan("", m.refresh):
		if outcome.Err != nil {
			return Keys{}, outcome.Err
		}
		return outcome.Val.(Keys), nil
	case <-ctx.Done():
		return Keys{}, ctx.Err()
	}
}

// refresh asks for new keys, for everybody who waits. It outlives each of them.
func (m *metadataCredentials) refresh() (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), metadataTimeout)
	defer cancel()
	keys, expires, err := m.fetch(ctx)
	now := time.Now()
	if err == nil && !now.Before(expires) {
		err = fmt.Errorf("the keys offered expired at %s", expires.Format(time.RFC3339))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		return nil, m.failed(now, err)
	}
	m.keys, m.expires, m.failure = keys, expires, nil
	m.refreshAt = refreshTime(now, expires)
	return keys, nil
}

// refreshTime is well before the end, and for keys of a short life half-way.
func refreshTime(now, expires time.Time) time.Time {
	left := expires.Sub(now)
	lead := min(refreshLead+rand.N(refreshLead), left/2)
	return now.Add(max(left-lead, refreshPause))
}

// failed keeps a failure and logs it when it is the first in a row and the keys
// at hand hide it from the callers.
func (m *metadataCredentials) failed(now time.Time, cause error) error {
	first := m.failure == nil
	m.failure, m.failedAt = fmt.Errorf("metadata service: %w", cause), now
	m.refreshAt = now.Add(refreshPause + rand.N(refreshPause/2))
	if now.Before(m.expires) {
		if first {
			m.logger.Warn().Err(m.failure).Time("expires", m.expires).Msg("no new keys yet, the present ones are used until they expire")
		}
		return m.failure
	}
	if !m.expires.IsZero() {
		m.failure = fmt.Errorf("the keys expired at %s, and no new ones came: %w", m.expires.Format(time.RFC3339), m.failure)
	}
	return m.failure
}

// fetch asks the service, with a session token where the host insists on one.
func (m *metadataCredentials) fetch(ctx context.Context) (Keys, time.Time, error) {
	status, content, err := m.ask(ctx, http.MethodGet, "/openstack/latest/securitykey", nil)
	if err == nil && status == http.StatusUnauthorized {
		status, content, err = m.askWithToken(ctx)
	}
	if err != nil {
		return Keys{}, time.Time{}, err
	}
	if status != http.StatusOK {
		return Keys{}, time.Time{}, fmt.Errorf("HTTP %d %s", status, shortened(content))
	}
	return decodeKeys(content)
}

func (m *metadataCredentials) askWithToken(ctx context.Context) (status int, content []byte, err error) {
	status, content, err = m.ask(ctx, http.MethodPut, "/meta-data/latest/api/token", map[string]string{"X-Metadata-Token-Ttl-Seconds": "60"})
	if err != nil || status != http.StatusOK {
		return status, content, err
	}
	return m.ask(ctx, http.MethodGet, "/openstack/latest/securitykey", map[string]string{"X-Metadata-Token": strings.TrimSpace(string(content))})
}

func (m *metadataCredentials) ask(ctx context.Context, method, path string, header map[string]string) (status int, content []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, m.endpoint+path, nil)
	if err != nil {
		return 0, nil, err
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := m.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close() // only read
	content, err = io.ReadAll(io.LimitReader(response.Body, maxWatchedBytes))
	return response.StatusCode, content, err
}

// decodeKeys never quotes the answer in an error.
func decodeKeys(content []byte) (Keys, time.Time, error) {
	var body struct {
		Credential struct {
			Access        string `json:"access"`
			Secret        string `json:"secret"`
			SecurityToken string `json:"securitytoken"`
			ExpiresAt     string `json:"expires_at"`
		} `json:"credential"`
	}
	if json.Unmarshal(content, &body) != nil {
		return Keys{}, time.Time{}, errors.New("the answer is not the JSON of a credential")
	}
	c := body.Credential
	if c.Access == "" || c.Secret == "" || c.SecurityToken == "" {
		return Keys{}, time.Time{}, errors.New("the answer lacks access, secret or securitytoken")
	}
	expires, err := time.Parse(time.RFC3339, c.ExpiresAt)
	if err != nil {
		return Keys{}, time.Time{}, fmt.Errorf("expires_at: %w", err)
	}
	return Keys{AccessKey: c.Access, SecretKey: c.Secret, SecurityToken: c.SecurityToken}, expires, nil
}

// String names the service and none of the secrets.
func (m *metadataCredentials) String() string { return "keys of " + m.endpoint }

// GoString does the same for %#v.
func (m *metadataCredentials) GoString() string { return m.String() }
