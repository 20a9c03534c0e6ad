package gateway

import (
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseListener(t *testing.T) {
	for _, c := range []struct {
		text string
		want Listener
	}{
		{"localhost:9092", Listener{Host: "localhost", Port: 9092, Auth: AuthNone}},
		{"127.0.0.1:0", Listener{Host: "127.0.0.1", Auth: AuthNone}},
		{"[::1]:9092,auth=none", Listener{Host: "::1", Port: 9092, Auth: AuthNone}},
		{"10.0.0.7:9092", Listener{Host: "10.0.0.7", Port: 9092, Auth: AuthNone}},
		{"0.0.0.0:9092,advertise=kafka.example:19092", Listener{Host: "0.0.0.0", Port: 9092, AdvertiseHost: "kafka.example", AdvertisePort: 19092, Auth: AuthNone}},
		{":9092,advertise=auto,auth=none", Listener{Port: 9092, AdvertiseAuto: true, Auth: AuthNone}},
		{"[::]:9092,advertise=[2001:db8::1]:9092", Listener{Host: "::", Port: 9092, AdvertiseHost: "2001:db8::1", AdvertisePort: 9092, Auth: AuthNone}},
	} {
		t.Run(c.text, func(t *testing.T) {
			got, err := ParseListener(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseListenerRefuses(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"", "is not HOST:PORT"},
		{"localhost", "is not HOST:PORT"},
		{"::1:9092", "is not HOST:PORT"},
		{"localhost:65536", "0 to 65535"},
		{"localhost:kafka", "0 to 65535"},
		{"0.0.0.0:9092", "advertise=HOST:PORT"},
		{":9092", "advertise=HOST:PORT"},
		{"[::]:9092", "advertise=HOST:PORT"},
		{":9092,advertise=0.0.0.0:9092", "HOST:PORT or auto"},
		{":9092,advertise=:9092", "HOST:PORT or auto"},
		{":9092,advertise=kafka.example", "is not HOST:PORT"},
		{":9092,advertise=kafka.example:0", "1 to 65535"},
		{"localhost:9092,auth=plain", "allowed: auth=none"},
		{"localhost:9092,tls=web", "tls is not supported"},
		{"localhost:9092,advertize=auto", `unknown option "advertize"`},
		{"localhost:9092,auth", "no value"},
		{"localhost:9092,auth=none,auth=none", "given twice"},
	} {
		t.Run(c.text, func(t *testing.T) {
			_, err := ParseListener(c.text)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		})
	}
}

func TestOpenListenersAreRefused(t *testing.T) {
	for _, c := range []struct {
		text     string
		insecure bool
		refused  bool
	}{
		{"localhost:9092", false, false},
		{"127.0.0.1:9092", false, false},
		{"127.8.8.8:9092", false, false},
		{"[::1]:9092", false, false},
		{"10.0.0.7:9092", false, true},
		{"10.0.0.7:9092", true, false},
		{"localhost.example:9092", false, true},
		{":9092,advertise=auto", false, true},
		{":9092,advertise=localhost:9092", false, true},
	} {
		l, err := ParseListener(c.text)
		if err != nil {
			t.Fatal(err)
		}
		cfg := Config{Listeners: []Listener{l}, Insecure: c.insecure, ClusterID: "c"}.withDefaults()
		err = cfg.validate()
		if refused := err != nil; refused != c.refused {
			t.Errorf("%s, insecure %v: error %v", c.text, c.insecure, err)
		}
		if c.refused && !strings.Contains(err.Error(), "--insecure") {
			t.Errorf("%s: the error does not name the way out: %v", c.text, err)
		}
	}
}

func TestConfigNamesEveryMistake(t *testing.T) {
	err := Config{
		Listeners: []Listener{{Host: "10.0.0.7", Auth: AuthNone}}, DefaultPartitions: -1, TopicAdmin: "some",
	}.withDefaults().validate()
	for _, part := range []string{"10.0.0.7", "cluster id", "default partitions -1", `"some"; allowed: none, create, full`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not mention %s", err, part)
		}
	}
}

func TestAdvertisedAddress(t *testing.T) {
	local := &net.TCPAddr{IP: net.IPv4(192, 168, 1, 5), Port: 9092}
	for _, c := range []struct {
		listener Listener
		host     string
		port     int
	}{
		{Listener{Host: "localhost"}, "localhost", 9092},
		{Listener{Host: "10.0.0.7", Port: 9092}, "10.0.0.7", 9092},
		{Listener{AdvertiseAuto: true}, "192.168.1.5", 9092},
		{Listener{AdvertiseHost: "kafka.example", AdvertisePort: 443}, "kafka.example", 443},
	} {
		host, port := c.listener.advertised(local)
		if host != c.host || port != c.port {
			t.Errorf("%+v: %s:%d, want %s:%d", c.listener, host, port, c.host, c.port)
		}
	}
}

func TestLocalhostListensOnBothFamilies(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Listeners = []Listener{{Host: "localhost", Auth: AuthNone}} })
	b.listen()
	addrs := b.server.Addrs()
	if addrs[0].(*net.TCPAddr).IP.String() != "127.0.0.1" {
		t.Errorf("first address is %s", addrs[0])
	}
	probe, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6 loopback: %v", err)
	}
	probe.Close()
	if len(addrs) != 2 || addrs[1].String() != net.JoinHostPort("::1", portOf(addrs[0])) {
		t.Errorf("addresses %v, want 127.0.0.1 and ::1 on one port", addrs)
	}
	for _, a := range addrs {
		dial(t, a.String()).ask(apiVersions(0))
	}
}

func TestTakenPort(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "[::1]"} {
		t.Run(host, func(t *testing.T) { testTakenPort(t, host) })
	}
}

func testTakenPort(t *testing.T, host string) {
	taken, err := net.Listen("tcp", host+":0")
	if err != nil && host == "[::1]" {
		t.Skipf("this machine has no IPv6 loopback: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	l, err := ParseListener("localhost:" + portOf(taken.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(c *Config) { c.Listeners = []Listener{l} })
	err = b.server.Listen()
	if want := "cannot listen on " + taken.Addr().String() + ": the address is in use by another program: stop it, or give another address"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func portOf(a net.Addr) string {
	_, port, _ := net.SplitHostPort(a.String())
	return port
}
