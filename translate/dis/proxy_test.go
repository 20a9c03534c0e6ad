package dis

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The host that only the proxy can reach; the name never resolves.
const proxiedHost = "dis.test"

// TestHTTPSProxy runs a client in a process of its own, since the proxy's
// variables are read once per process, and a request to the loopback address would
// go around a proxy.
func TestHTTPSProxy(t *testing.T) {
	certificate, caFile := certificateFor(t, proxiedHost)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != proxiedHost || !strings.Contains(r.Header.Get("Authorization"), "host;") {
			t.Errorf("host %s, authorization %s", r.Host, r.Header.Get("Authorization"))
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	defer server.Close()
	proxy := &connectProxy{t: t, target: server.Listener.Addr().String()}
	front := httptest.NewServer(proxy)
	defer front.Close()

	client := exec.Command(os.Args[0])
	client.Env = append(os.Environ(), behindProxy+"="+caFile, "NO_PROXY=", "no_proxy=",
		"HTTPS_PROXY="+strings.Replace(front.URL, "http://", "http://user:password@", 1))
	if output, err := client.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, output)
	}
	proxy.tunnels.Wait()
	if got := proxy.seen(); got != "CONNECT dis.test:443 Basic dXNlcjpwYXNzd29yZA==" {
		t.Errorf("the proxy saw %q", got)
	}
}

// behindProxy is the variable that turns this program into the client of
// TestHTTPSProxy; it names the CA file.
const behindProxy = "DIS_TEST_BEHIND_PROXY"

func clientBehindProxy(caFile string) error {
	cfg := testConfig("https://" + proxiedHost)
	cfg.CAFile = caFile
	cfg.Retry.Attempts = 1
	client, err := New(cfg)
	if err != nil {
		return err
	}
	defer client.Close()
	for range 3 { // over one tunnel
		if err := deleteStream(context.Background(), client); err != nil {
			return err
		}
	}
	return nil
}

// connectProxy tunnels everything to one target, whatever host was asked for.
type connectProxy struct {
	t       *testing.T
	target  string
	tunnels sync.WaitGroup

	mu   sync.Mutex
	asks []string
}

func (p *connectProxy) seen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.asks, ", ")
}

func (p *connectProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asks = append(p.asks, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
	p.mu.Unlock()
	target, err := net.Dial("tcp", p.target)
	if err != nil {
		p.t.Errorf("dial the target: %v", err)
		http.Error(w, "no target", http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	source, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		p.t.Errorf("hijack: %v", err)
		return
	}
	// The server may have read the client's first bytes already.
	p.tunnels.Go(func() { copyAndClose(target, source, buffered) })
	p.tunnels.Go(func() { copyAndClose(source, target, target) })
}

// copyAndClose ends with an error when the other direction has ended.
func copyAndClose(to, from net.Conn, content io.Reader) {
	_, _ = io.Copy(to, content)
	_ = to.Close()
	_ = from.Close()
}

// certificateFor makes a self-signed certificate and a file with it.
func certificateFor(t *testing.T, host string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	mustDo(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	content, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	mustDo(t, err)
	file := filepath.Join(t.TempDir(), "ca.pem")
	mustDo(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: content}), 0o600))
	return tls.Certificate{Certificate: [][]byte{content}, PrivateKey: key}, file
}
