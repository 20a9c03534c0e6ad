package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// testPages are the pages of a gateway that is not ready for a reason, or is.
func testPages(notReady func() string) adminPages {
	return adminPages{
		metrics: newMetrics(), notReady: notReady, degraded: func() []string { return nil }, status: func(*http.ServeMux) {},
	}
}

func TestAdminPages(t *testing.T) {
	reason := "DIS does not answer"
	admin, err := listenAdmin("127.0.0.1:0", testPages(func() string { return reason }))
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + admin.address().String()
	if status, body := get(t, base+"/healthz"); status != 200 || body != "ok\n" {
		t.Errorf("/healthz: %d %q", status, body)
	}
	if status, body := get(t, base+"/readyz"); status != 503 || body != reason+"\n" {
		t.Errorf("/readyz: %d %q", status, body)
	}
	reason = ""
	if status, _ := get(t, base+"/readyz"); status != 200 {
		t.Errorf("/readyz when ready: %d", status)
	}
	if status, body := get(t, base+"/metrics"); status != 200 || !strings.Contains(body, "kdg_build_info{") {
		t.Errorf("/metrics: %d\n%s", status, body)
	}
	if status, _ := get(t, base+"/debug/pprof/"); status != 200 {
		t.Errorf("profiles on loopback: %d", status)
	}
	if _, err := listenAdmin(admin.address().String(), testPages(func() string { return "" })); err == nil {
		t.Error("a taken address is accepted")
	}
	if err := admin.close(); err != nil {
		t.Error(err)
	}
}

// TestReadyWithAWord: what is degraded stands below the word that probes look for.
func TestReadyWithAWord(t *testing.T) {
	pages := testPages(func() string { return "" })
	pages.degraded = func() []string { return []string{"DIS has refused every write to orders", "and every read"} }
	admin, err := listenAdmin("127.0.0.1:0", pages)
	if err != nil {
		t.Fatal(err)
	}
	status, body := get(t, "http://"+admin.address().String()+"/readyz")
	if status != 200 || body != "ready\nDIS has refused every write to orders\nand every read\n" {
		t.Errorf("%d %q", status, body)
	}
	if err := admin.close(); err != nil {
		t.Error(err)
	}
}

// TestNoProfilesForOtherMachines: on an address that they can reach there are none, for
// this machine neither.
func TestNoProfilesForOtherMachines(t *testing.T) {
	for address, want := range map[string]int{"127.0.0.1:0": 200, ":0": 404} {
		admin, err := listenAdmin(address, testPages(func() string { return "" }))
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(admin.address().String())
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/symbol"} {
			if status, _ := get(t, "http://127.0.0.1:"+port+page); status != want {
				t.Errorf("%s on %s: %d, want %d", page, address, status, want)
			}
		}
		if err := admin.close(); err != nil {
			t.Error(err)
		}
	}
}

func TestProfilesOnlyOnLoopback(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1": true, "::1": true, "0.0.0.0": false, "::": false, "192.0.2.1": false} {
		if got := isLoopback(&net.TCPAddr{IP: net.ParseIP(address)}); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
