package dis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// fakeHost is the metadata service of a cloud host, as a transport.
type fakeHost struct {
	mu      sync.Mutex
	life    time.Duration // of the keys it hands out
	down    error
	silence time.Duration // before it answers
	asked   []time.Time
}

func (f *fakeHost) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	f.asked = append(f.asked, time.Now())
	number, silence, down := len(f.asked), f.silence, f.down
	f.mu.Unlock()
	select {
	case <-time.After(silence):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if down != nil {
		return nil, down
	}
	if r.Method != http.MethodGet || r.URL.String() != "http://metadata.test/openstack/latest/securitykey" {
		return answerOf(http.StatusNotFound, "not here"), nil
	}
	return answerOf(http.StatusOK, credentialText(number, time.Now().Add(f.life))), nil
}

func answerOf(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body))}
}

func credentialText(number int, expires time.Time) string {
	return fmt.Sprintf(`{"credential":{"access":"AK%d","secret":"topsecret%d","securitytoken":"toptoken%d","expires_at":%q}}`,
		number, number, number, expires.UTC().Format("2006-01-02T15:04:05.000000Z"))
}

func (f *fakeHost) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeHost) requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

func (f *fakeHost) credentials() (*metadataCredentials, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return newMetadataCredentials("http://metadata.test", zerolog.New(log), f), log
}

// get asks and lets what was started in the background finish.
func get(t *testing.T, credentials Credentials) string {
	t.Helper()
	keys, err := credentials.Get(t.Context())
	synctest.Wait()
	if err != nil {
		return "error"
	}
	if number := strings.TrimPrefix(keys.AccessKey, "AK"); keys.SecretKey != "topsecret"+number || keys.SecurityToken != "toptoken"+number {
		t.Errorf("keys %s %q %q", keys, keys.SecretKey, keys.SecurityToken)
	}
	return keys.AccessKey
}

func TestMetadataKeysAreRefreshedBeforeTheyExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &fakeHost{life: time.Hour}
		credentials, log := host.credentials()
		if host.requests() != 0 {
			t.Error("asked before the first call")
		}
		for range 3 {
			if got := get(t, credentials); got != "AK1" {
				t.Errorf("got %s", got)
			}
		}
		time.Sleep(50*time.Minute - time.Second) // 10 minutes and a second are left
		if got := get(t, credentials); got != "AK1" || host.requests() != 1 {
			t.Errorf("got %s, %d requests", got, host.requests())
		}
		time.Sleep(5*time.Minute + time.Second) // 5 minutes are left
		if got := get(t, credentials); got != "AK1" || host.requests() != 2 {
			t.Errorf("the keys at hand serve while new ones are fetched: got %s, %d requests", got, host.requests())
		}
		if got := get(t, credentials); got != "AK2" {
			t.Errorf("got %s", got)
		}
		if log.Len() > 0 {
			t.Errorf("log:\n%s", log)
		}
	})
}

// Gateways that started together must not ask together.
func TestMetadataRefreshIsSpread(t *testing.T) {
	now := time.Now()
	seen := map[time.Time]bool{}
	for range 50 {
		at := refreshTime(now, now.Add(time.Hour))
		if left := now.Add(time.Hour).Sub(at); left < refreshLead || left > 2*refreshLead {
			t.Errorf("%v before the end", left)
		}
		seen[at] = true
	}
	if len(seen) < 10 {
		t.Errorf("%d different times of 50", len(seen))
	}
	for life, want := range map[time.Duration]time.Duration{4 * time.Minute: 2 * time.Minute, 10 * time.Second: 10 * time.Second} {
		if got := refreshTime(now, now.Add(life)).Sub(now); got != want {
			t.Errorf("keys of %v: refreshed after %v, want %v", life, got, want)
		}
	}
}

func TestMetadataIsAskedOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &fakeHost{life: time.Hour, silence: time.Second}
		credentials, _ := host.credentials()
		var group sync.WaitGroup
		ask := func() {
			for range 20 {
				group.Go(func() {
					if _, err := credentials.Get(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
		}
		ask()
		time.Sleep(56 * time.Minute)
		start := time.Now()
		ask()
		if waited := time.Since(start); waited != 0 {
			t.Errorf("waited %v for a refresh", waited)
		}
		time.Sleep(2 * time.Second)
		if host.requests() != 2 {
			t.Errorf("%d requests, want 2", host.requests())
		}
	})
}

func TestMetadataServiceThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &fakeHost{life: time.Hour}
		credentials, log := host.credentials()
		get(t, credentials)
		host.set(func() { host.down = errors.New("host is unreachable") })
		for range 59 { // every minute until the keys expire
			time.Sleep(time.Minute)
			if got := get(t, credentials); got != "AK1" {
				t.Errorf("got %s at %v", got, time.Now())
			}
		}
		if lines := strings.Count(log.String(), "\n"); lines != 1 {
			t.Errorf("%d log lines:\n%s", lines, log)
		}
		if host.requests() < 5 || host.requests() > 11 {
			t.Errorf("%d requests", host.requests())
		}
		time.Sleep(time.Minute)
		_, err := credentials.Get(t.Context())
		if err == nil || !strings.Contains(err.Error(), "expired at 2000-01-01T01:00:00Z") || !strings.Contains(err.Error(), "host is unreachable") {
			t.Errorf("after the end: %v", err)
		}
		host.set(func() { host.down = nil })
		time.Sleep(failurePause)
		if got := get(t, credentials); !strings.HasPrefix(got, "AK") {
			t.Errorf("got %s after the service came back", got)
		}
		if strings.Contains(log.String(), "topsecret") {
			t.Errorf("log:\n%s", log)
		}
	})
}

// A service that is down is not asked by every call.
func TestMetadataFailureIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &fakeHost{down: errors.New("host is unreachable")}
		credentials, _ := host.credentials()
		for range 10 {
			if got := get(t, credentials); got != "error" {
				t.Errorf("got %s", got)
			}
		}
		if host.requests() != 1 {
			t.Errorf("%d requests, want 1", host.requests())
		}
		time.Sleep(failurePause)
		if get(t, credentials); host.requests() != 2 {
			t.Errorf("%d requests, want 2", host.requests())
		}
	})
}

func TestMetadataServiceThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &fakeHost{life: time.Hour, silence: time.Hour}
		credentials, _ := host.credentials()
		start := time.Now()
		if _, err := credentials.Get(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != metadataTimeout {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// One caller's patience ends; the request goes on for the others.
func TestMetadataCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &fakeHost{life: time.Hour, silence: 3 * time.Second}
		credentials, _ := host.credentials()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := credentials.Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if got := get(t, credentials); got != "AK1" || host.requests() != 1 {
			t.Errorf("got %s, %d requests", got, host.requests())
		}
	})
}

func TestMetadataOffersExpiredKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &fakeHost{life: -time.Minute}
		credentials, _ := host.credentials()
		if _, err := credentials.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "expired at 1999-12-31T23:59:00Z") {
			t.Errorf("got %v", err)
		}
	})
}

func TestUselessMetadataAnswers(t *testing.T) {
	for body, want := range map[string]string{
		``:            "not the JSON",
		`"topsecret"`: "not the JSON",
		`{}`:          "lacks access",
		`{"credential":{"access":"a","secret":"topsecret","expires_at":"2030-01-01T00:00:00Z"}}`:             "lacks access, secret or securitytoken",
		`{"credential":{"access":"a","secret":"topsecret","securitytoken":"toptoken"}}`:                      "expires_at",
		`{"credential":{"access":"a","secret":"topsecret","securitytoken":"toptoken","expires_at":"later"}}`: "expires_at",
	} {
		_, _, err := decodeKeys([]byte(body))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "top") {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// Over a socket, with and without the session token that some hosts insist on.
func TestMetadataOverASocket(t *testing.T) {
	for name, insists := range map[string]bool{"plain": false, "with a session token": true} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPut && r.URL.Path == "/meta-data/latest/api/token" && r.Header.Get("X-Metadata-Token-Ttl-Seconds") != "":
					_, _ = io.WriteString(w, "session\n")
				case r.Method != http.MethodGet || r.URL.Path != "/openstack/latest/securitykey":
					http.NotFound(w, r)
				case insists && r.Header.Get("X-Metadata-Token") != "session":
					w.WriteHeader(http.StatusUnauthorized)
				default:
					_, _ = io.WriteString(w, credentialText(1, time.Now().Add(time.Hour)))
				}
			})
			credentials, err := MetadataCredentials(server.URL+"/", zerolog.Nop())
			if err != nil {
				t.Fatal(err)
			}
			keys, err := credentials.Get(t.Context())
			if want := (Keys{"AK1", "topsecret1", "toptoken1"}); err != nil || keys != want {
				t.Errorf("got %s, %v", keys, err)
			}
		})
	}
}

// A host without an agency says so.
func TestMetadataRefusal(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Please configure Cloud Service Agency first", http.StatusUnauthorized)
	})
	credentials, err := MetadataCredentials(server.URL, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := credentials.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "HTTP 401 Please configure Cloud Service Agency first") {
		t.Errorf("got %v", err)
	}
}

func TestMetadataEndpoint(t *testing.T) {
	for text, want := range map[string]string{"": "http://169.254.169.254", "http://127.0.0.1:8080/": "http://127.0.0.1:8080"} {
		credentials, err := MetadataCredentials(text, zerolog.Nop())
		if err != nil || credentials.(*metadataCredentials).endpoint != want {
			t.Errorf("%q: %v, %v", text, credentials, err)
		}
	}
	if _, err := MetadataCredentials("169.254.169.254", zerolog.Nop()); err == nil {
		t.Error("an address without a scheme passed")
	}
}
