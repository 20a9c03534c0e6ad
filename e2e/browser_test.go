package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium that ChromeDriver steers, spoken to as WebDriver is
// specified: JSON over HTTP.
type browser struct {
	t       testing.TB
	session string // base URL of its commands
}

// chromiumFlags make a browser that asks nobody anything of its own accord, and that
// finds no host but this one.
var chromiumFlags = []string{
	"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1280,1000",
	"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
}

// startBrowser runs a browser until the test ends.
func startBrowser(t testing.TB) *browser {
	t.Helper()
	chromium, driver := requireProgram(t, "chromium"), requireProgram(t, "chromedriver")
	p := start(t, nil, driver, "--port=0")
	port := waitFor(t, p.stdout, "port of ChromeDriver", startTimeout, func(all []string) (string, bool) {
		found := regexp.MustCompile(`started successfully on port (\d+)`).FindStringSubmatch(strings.Join(all, "\n"))
		if found == nil {
			return "", false
		}
		return found[1], true
	})
	b := &browser{t: t, session: "http://127.0.0.1:" + port + "/session"}
	var session struct{ SessionID string }
	b.command(http.MethodPost, "", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName": "chrome",
		"goog:chromeOptions": map[string]any{
			"binary": chromium, "args": append(slices.Clone(chromiumFlags), "--user-data-dir="+t.TempDir()),
		},
		"goog:loggingPrefs": map[string]any{"performance": "ALL", "browser": "ALL"},
	}}}, &session)
	b.session += "/" + session.SessionID
	t.Cleanup(func() { b.command(http.MethodDelete, "", nil, nil) })
	return b
}

// command is one of WebDriver's; its result is decoded into result unless that is nil.
func (b *browser) command(method, path string, body, result any) {
	b.t.Helper()
	// The end of the test quits the browser too, when the test's context is over.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, b.session+path, content)
	if err != nil {
		b.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatalf("ChromeDriver %s: %v", path, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		b.t.Fatalf("ChromeDriver %s: %s %v\n%s", path, answer.Status, err, tail(string(text), 2000))
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(text, &struct{ Value any }{result}); err != nil {
		b.t.Fatalf("ChromeDriver %s: %v\n%s", path, err, text)
	}
}

func (b *browser) open(url string) {
	b.t.Helper()
	b.command(http.MethodPost, "/url", map[string]any{"url": url}, nil)
}

// run runs a script in the page and decodes what it returns.
func (b *browser) run(result any, script string, args ...any) {
	b.t.Helper()
	if args == nil {
		args = []any{}
	}
	b.command(http.MethodPost, "/execute/sync", map[string]any{"script": script, "args": args}, result)
}

// text is what a reader sees of the first element that fits, "" where there is none.
func (b *browser) text(selector string) (seen string) {
	b.t.Helper()
	b.run(&seen, `return document.querySelector(arguments[0])?.innerText ?? ""`, selector)
	return seen
}

// rows are the cells of a table's body as a reader sees them.
func (b *browser) rows(section string) (cells [][]string) {
	b.t.Helper()
	b.run(&cells, `return [...document.querySelectorAll(arguments[0] + " tbody tr")].map(row => [...row.cells].map(cell => cell.innerText))`, section)
	return cells
}

// row is the row of a table that has the text in one of its cells.
func (b *browser) row(section, text string) []string {
	b.t.Helper()
	for _, cells := range b.rows(section) {
		if slices.Contains(cells, text) {
			return cells
		}
	}
	return nil
}

// log takes the entries of a log that are new since the last time.
func (b *browser) log(kind string) (messages []string) {
	b.t.Helper()
	var entries []struct{ Level, Message string }
	b.command(http.MethodPost, "/se/log", map[string]any{"type": kind}, &entries)
	for _, e := range entries {
		messages = append(messages, e.Message)
	}
	return messages
}

// requested are the addresses that a page has asked for since the last time.
func (b *browser) requested(page string) (urls []string) {
	b.t.Helper()
	for _, message := range b.log("performance") {
		var event struct {
			Message struct {
				Method string
				Params struct {
					DocumentURL string
					Request     struct{ URL string }
				}
			}
		}
		if err := json.Unmarshal([]byte(message), &event); err != nil {
			b.t.Fatal(fmt.Errorf("performance log: %w", err))
		}
		if event.Message.Method == "Network.requestWillBeSent" && event.Message.Params.DocumentURL == page {
			urls = append(urls, event.Message.Params.Request.URL)
		}
	}
	return urls
}
