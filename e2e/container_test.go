package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
)

// maxImageBytes is the promised size of the image.
const maxImageBytes = 40e6

// TestContainer runs what is in the image, on a root without anything else that
// cannot be written to, as the user of the Dockerfile: the gateway starts, trusts
// the image's certificates, serves, tells its health and drains.
func TestContainer(t *testing.T) {
	t.Parallel()
	certificate, trusted := selfSigned(t)
	i := buildImage(t, trusted)
	if size := i.size(t); size > maxImageBytes {
		t.Errorf("the image has %d bytes, more than %d", size, int(maxImageBytes))
	} else {
		t.Logf("the image has %.1f MB", float64(size)/1e6)
	}
	secure := secureDIS(t, certificate)
	address, admin := freeAddress(t), freeAddress(t)
	variables := append([]string{"KDG_LISTEN=" + address, "KDG_ADMIN_LISTEN=" + admin, "KDG_DIS_ENDPOINT=" + secure}, credentials...)
	gateway := i.start(t, container{variables: variables})
	healthy := func(arguments ...string) (code int, said string) {
		t.Helper()
		asked := i.start(t, container{variables: variables}, arguments...)
		code = asked.exitCode(startTimeout)
		return code, strings.TrimSpace(asked.stdout.String() + asked.stderr.String())
	}
	eventually(t, startTimeout, "the health check to find it ready", func() string {
		if code, said := healthy("health", "--ready"); code != 0 {
			return said
		}
		return ""
	})
	check := i.health(t)
	if entry := i.list(t, "ENTRYPOINT")[0]; check[0] != entry {
		t.Fatalf("Dockerfile: the health check runs %s, the image has %s", check[0], entry)
	}
	if code, said := healthy(check[1:]...); code != 0 || said != "ok" {
		t.Errorf("the health check of the Dockerfile: exit code %d, %q", code, said)
	}

	createTopic(t, address, "t", 1)
	k := newKcat(t, &dev{kafka: address})
	k.produce("t", "a:1\nb:2\n")
	if got := k.consume("t", "%k=%s"); strings.Join(got, " ") != "a=1 b=2" {
		t.Errorf("read %q", got)
	}
	if i.last["STOPSIGNAL"] != "SIGTERM" {
		t.Errorf("Dockerfile: STOPSIGNAL %s", i.last["STOPSIGNAL"])
	}
	gateway.signal(syscall.SIGTERM)
	if code := gateway.exitCode(startTimeout); code != 0 {
		t.Errorf("exit code %d:\n%s", code, gateway.stderr)
	}
	if code, said := healthy("health"); code != 1 || !strings.Contains(said, "no gateway answers at --admin-listen "+admin) {
		t.Errorf("health without a gateway: exit code %d, %q", code, said)
	}
}

// TestContainerTrustsItsCertificatesAlone: without the certificate in the image DIS
// is not spoken to, and the health check says why.
func TestContainerTrustsItsCertificatesAlone(t *testing.T) {
	t.Parallel()
	certificate, _ := selfSigned(t)
	i := buildImage(t, nil)
	admin := freeAddress(t)
	variables := append([]string{"KDG_LISTEN=127.0.0.1:0", "KDG_ADMIN_LISTEN=" + admin, "KDG_DIS_ENDPOINT=" + secureDIS(t, certificate)}, credentials...)
	i.start(t, container{variables: variables})
	eventually(t, startTimeout, "the health check to say why", func() string {
		asked := i.start(t, container{variables: variables}, "health", "--ready")
		code, said := asked.exitCode(startTimeout), asked.stderr.String()
		if code != 1 || !strings.Contains(said, "not ready: ") || !strings.Contains(said, "certificate signed by unknown authority") {
			return said
		}
		return ""
	})
}

// TestContainerDevelops: dev keeps its data in the volume at /data.
func TestContainerDevelops(t *testing.T) {
	t.Parallel()
	i := buildImage(t, nil)
	volume := t.TempDir()
	run := func(address string) (*process, string) {
		p := i.start(t, container{variables: []string{"KDG_LISTEN=" + address, "KDG_ADMIN_LISTEN=", "KDG_DIS_LISTEN=127.0.0.1:0"}, volume: volume},
			"dev", "--topic", "t:1")
		return p, waitForPrefix(t, p.stdout, "Kafka ", startTimeout)
	}
	first, address := run("127.0.0.1:0")
	newKcat(t, &dev{kafka: address}).produce("t", "a:1\n")
	first.kill()
	_, address = run("127.0.0.1:0")
	if got := newKcat(t, &dev{kafka: address}).consume("t", "%k=%s"); strings.Join(got, " ") != "a=1" {
		t.Errorf("read %q after a restart", got)
	}

	// The root is what the tests say it is.
	without := i.start(t, container{}, "dev")
	if code := without.exitCode(startTimeout); code != 1 || !strings.Contains(without.stderr.String(), "read-only file system") {
		t.Errorf("dev without a volume: exit code %d, %q", code, without.stderr)
	}
}

// secureDIS is an embedded DIS that speaks HTTPS.
func secureDIS(t *testing.T, certificate tls.Certificate) (endpoint string) {
	t.Helper()
	_, plain := startDIS(t, nil)
	target, err := url.Parse(plain)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	server := httptest.NewUnstartedServer(proxy)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust it
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// selfSigned is a certificate for 127.0.0.1, and what trusts it, in PEM.
func selfSigned(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a DIS with TLS"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	trusted := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, trusted
}
