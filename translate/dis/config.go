package dis

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"
)

// The defaults of a Config.
const (
	DefaultMaxConnections   = 128
	DefaultMaxResponseBytes = 32 << 20
	DefaultAttemptTimeout   = 60 * time.Second
	DefaultUserAgent        = "kafka-dis-gateway"
)

// Config says which DIS to call and how.
type Config struct {
	// Endpoint is the base URL of records, cursors and checkpoints, for example
	// "https://dis.cn-north-4.myhuaweicloud.com". A path prefix is kept.
	Endpoint string
	// ManagerEndpoint is the base URL of streams, apps, tags, metrics and transfer
	// tasks; empty means Endpoint.
	ManagerEndpoint string
	// Region is part of every scoped signature, for example "cn-north-4".
	Region string
	// ProjectID is part of every path.
	ProjectID string
	// Credentials sign the requests.
	Credentials Credentials
	// Signing is the signature scheme. Default SigningScoped.
	Signing Signing
	// Tokens, if set, prove who calls instead of Credentials; nothing is signed then.
	Tokens TokenSource
	// IdentitySource says where the keys or tokens come from, as Error.IdentitySource
	// gives it back; may be empty.
	IdentitySource string
	// RecordBody is the form in which records travel. Default RecordBodyProtobuf.
	RecordBody RecordBody
	// Compression is applied to the body of every request. Default CompressionNone.
	Compression Compression
	// MaxConnections is how many requests run at once against one host; as many
	// connections are kept open. Calls above it wait. Default 128.
	MaxConnections int
	// MaxResponseBytes is the longest answer that is read. Default 32 MiB.
	MaxResponseBytes int64
	// AttemptTimeout ends an attempt without a complete answer, including the
	// wait for a connection. Default 60 s, as in the Java SDK.
	AttemptTimeout time.Duration
	// Retry says how often and how soon a failed call is repeated.
	Retry RetryPolicy
	// UserAgent is sent with every request. Default "kafka-dis-gateway".
	UserAgent string
	// CAFile holds PEM certificates to trust besides the system's; may be empty.
	CAFile string
	// Logger gets a debug line for each HTTP attempt.
	Logger zerolog.Logger
	// Observe, when set, is called once per HTTP attempt, from the goroutine of
	// the call; it must not block.
	Observe func(Call)
}

// SettingError is a mistake in one field of a Config. The error of New joins
// them.
type SettingError struct {
	Field string // of Config
	Err   error
}

func (e *SettingError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap gives what is wrong with the field.
func (e *SettingError) Unwrap() error { return e.Err }

func wrong(field, format string, args ...any) error {
	return &SettingError{field, fmt.Errorf(format, args...)}
}

// checked returns the settings with defaults filled in and the base URLs in
// normal form, or every mistake at once.
func (c Config) checked() (Config, error) {
	var mistakes []error
	check := func(err error) {
		if err != nil {
			mistakes = append(mistakes, err)
		}
	}
	var err error
	c.Endpoint, err = baseURL("Endpoint", c.Endpoint)
	check(err)
	if c.ManagerEndpoint == "" {
		c.ManagerEndpoint = c.Endpoint
	} else {
		c.ManagerEndpoint, err = baseURL("ManagerEndpoint", c.ManagerEndpoint)
		check(err)
	}
	check(headerWord("ProjectID", c.ProjectID))
	if c.Region != "" || (c.Tokens == nil && c.Signing != SigningUnscoped) { // only the scoped signature has a use for it
		check(headerWord("Region", c.Region))
	}
	check(c.checkIdentity())
	c.Signing, err = oneOf("Signing", c.Signing, SigningScoped, SigningUnscoped)
	check(err)
	c.RecordBody, err = oneOf("RecordBody", c.RecordBody, RecordBodyProtobuf, RecordBodyJSON)
	check(err)
	c.Compression, err = oneOf("Compression", c.Compression, CompressionNone, CompressionLZ4, CompressionSnappy, CompressionZstd)
	check(err)
	c.MaxConnections, err = positive("MaxConnections", c.MaxConnections, DefaultMaxConnections)
	check(err)
	c.MaxResponseBytes, err = positive("MaxResponseBytes", c.MaxResponseBytes, DefaultMaxResponseBytes)
	check(err)
	c.AttemptTimeout, err = positive("AttemptTimeout", c.AttemptTimeout, DefaultAttemptTimeout)
	check(err)
	c.Retry, err = c.Retry.checked()
	check(err)
	if c.UserAgent == "" {
		c.UserAgent = DefaultUserAgent
	}
	return c, errors.Join(mistakes...)
}

// checkIdentity looks at the settings that say who calls.
func (c Config) checkIdentity() error {
	switch {
	case c.Credentials == nil && c.Tokens == nil:
		return wrong("Credentials", "must be set, or Tokens")
	case c.Credentials != nil && c.Tokens != nil:
		return wrong("Credentials", "must not be set together with Tokens")
	}
	return nil
}

// positive returns the default for 0 and refuses what is negative.
func positive[N int | int64 | time.Duration](setting string, value, fallback N) (N, error) {
	if value < 0 {
		return 0, wrong(setting, "%v is negative", value)
	}
	if value == 0 {
		return fallback, nil
	}
	return value, nil
}

// headerWord refuses values that could not stand in a header and a signature scope.
func headerWord(setting, value string) error {
	if value == "" {
		return wrong(setting, "must be set")
	}
	for _, r := range value {
		if r <= ' ' || r == '/' || r > '~' {
			return wrong(setting, "%q contains a character other than printable ASCII without space and slash", value)
		}
	}
	return nil
}

// baseURL checks an endpoint and removes what the signature must not contain:
// the scheme's default port and a slash at the end.
func baseURL(setting, text string) (string, error) {
	if text == "" {
		return "", wrong(setting, "must be set")
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", wrong(setting, "%w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return "", wrong(setting, "%q is not a URL of the form http(s)://host[:port]", text)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", wrong(setting, "must not carry a user, a query or a fragment")
	}
	host := strings.ToLower(u.Host)
	if (u.Scheme == "http" && u.Port() == "80") || (u.Scheme == "https" && u.Port() == "443") {
		host = host[:strings.LastIndexByte(host, ':')]
	}
	path := appendEscaped(nil, strings.TrimRight(u.Path, "/"), true)
	return u.Scheme + "://" + host + string(path), nil
}

// trustedCAs is nil, meaning the system's own, when no file is named.
func trustedCAs(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, wrong("CAFile", "%w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, wrong("CAFile", "read the system's certificates: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, wrong("CAFile", "%s holds no PEM certificate", file)
	}
	return pool, nil
}
