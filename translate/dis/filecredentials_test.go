package dis

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// keyFile is a credentials file whose modification times are under control: a
// test may change a file faster than a file system's clock ticks.
type keyFile struct {
	t    *testing.T
	path string
	tick time.Time
}

func newKeyFile(t *testing.T, content string) *keyFile {
	f := &keyFile{t: t, path: filepath.Join(t.TempDir(), "keys.yaml"), tick: time.Now().Add(time.Hour)}
	f.write(content)
	return f
}

// write changes the file at a time in the future, so that its age says nothing.
func (f *keyFile) write(content string) {
	f.t.Helper()
	f.tick = f.tick.Add(time.Millisecond)
	f.writeAt(content, f.tick)
}

func (f *keyFile) writeAt(content string, at time.Time) {
	f.t.Helper()
	if err := os.WriteFile(f.path, []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Chtimes(f.path, at, at); err != nil {
		f.t.Fatal(err)
	}
}

func keysText(access string) string {
	return fmt.Sprintf("access_key: %s\nsecret_key: secret-of-%s\n", access, access)
}

// openKeys opens the file with a log.
func (f *keyFile) openKeys() (Credentials, *bytes.Buffer) {
	f.t.Helper()
	log := new(bytes.Buffer)
	credentials, err := FileCredentials(f.path, zerolog.New(log))
	if err != nil {
		f.t.Fatal(err)
	}
	return credentials, log
}

func wantAccess(t *testing.T, credentials Credentials, access string) {
	t.Helper()
	keys, err := credentials.Get(t.Context())
	if want := (Keys{AccessKey: access, SecretKey: "secret-of-" + access}); err != nil || keys != want {
		t.Errorf("got %#v %q, %v, want %s", keys, keys.SecretKey, err, access)
	}
}

func TestChangedFileIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := newKeyFile(t, keysText("one"))
		credentials, log := file.openKeys()
		wantAccess(t, credentials, "one")
		file.write(keysText("two"))
		wantAccess(t, credentials, "one") // looked at less than a second ago
		time.Sleep(fileCheckEvery)
		wantAccess(t, credentials, "one") // changed, and may still change
		time.Sleep(fileCheckEvery)
		wantAccess(t, credentials, "two")
		if strings.Count(log.String(), "\n") != 1 || strings.Contains(log.String(), "secret-of") {
			t.Errorf("log:\n%s", log)
		}
	})
}

// A file that has been the same for a while needs no second look.
func TestOldChangeIsReadAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := newKeyFile(t, keysText("one"))
		credentials, _ := file.openKeys()
		file.writeAt(keysText("two"), time.Now())
		time.Sleep(fileCheckEvery)
		wantAccess(t, credentials, "two")
	})
}

// The beginning of a secret is a well-formed file too; only time tells.
func TestHalfWrittenFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := newKeyFile(t, keysText("one"))
		credentials, log := file.openKeys()
		whole := keysText("two")
		for end := range whole {
			file.write(whole[:end])
			time.Sleep(fileCheckEvery)
			wantAccess(t, credentials, "one")
		}
		file.write(whole)
		time.Sleep(fileCheckEvery)
		wantAccess(t, credentials, "one")
		time.Sleep(fileCheckEvery)
		wantAccess(t, credentials, "two")
		if strings.Contains(log.String(), "error") {
			t.Errorf("log:\n%s", log)
		}
	})
}

func TestBadFileKeepsTheLastGoodKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := newKeyFile(t, keysText("one"))
		credentials, log := file.openKeys()
		lines := 0
		after := func(change func(), access string, newLines int) {
			t.Helper()
			change()
			for range 5 {
				time.Sleep(fileCheckEvery)
				wantAccessSoon(t, credentials, access)
			}
			if lines += newLines; strings.Count(log.String(), "\n") != lines {
				t.Errorf("%d log lines wanted:\n%s", lines, log)
			}
		}
		after(func() { file.write("access_key: two\n") }, "one", 1)
		after(func() { file.write("something else\n") }, "one", 0) // still bad: logged once
		after(func() { mustDo(t, os.Remove(file.path)) }, "one", 0)
		after(func() { file.write(keysText("two")) }, "two", 1) // that it was read
		after(func() { mustDo(t, os.Remove(file.path)) }, "two", 1)
		after(func() { file.write(keysText("three")) }, "three", 1)
		if strings.Contains(log.String(), "secret-of") {
			t.Errorf("log:\n%s", log)
		}
	})
}

// wantAccessSoon lets the first look at a change pass.
func wantAccessSoon(t *testing.T, credentials Credentials, access string) {
	t.Helper()
	_, _ = credentials.Get(t.Context())
	time.Sleep(fileCheckEvery)
	wantAccess(t, credentials, access)
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestKeyFiles(t *testing.T) {
	for content, want := range map[string]Keys{
		"access_key: a\nsecret_key: s":                                   {AccessKey: "a", SecretKey: "s"},
		"# keys\r\nsecret_key: 's: #1'\r\naccess_key: \" a \"\r\n":       {AccessKey: "a", SecretKey: "s: #1"},
		`{"access_key":"a","secret_key":"s","security_token":"t"}`:       {AccessKey: "a", SecretKey: "s", SecurityToken: "t"},
		"access_key: a\nsecret_key: \"0123\"\nsecurity_token: ''":        {AccessKey: "a", SecretKey: "0123"},
		"access_key: a\nsecret_key: s/+=\nsecurity_token: ":              {AccessKey: "a", SecretKey: "s/+="},
		"access_key: a\nsecret_key: s\nsecurity_token: >-\n  t1\n  t2\n": {AccessKey: "a", SecretKey: "s", SecurityToken: "t1 t2"},
	} {
		if got, err := parseKeys([]byte(content)); err != nil || got != want {
			t.Errorf("%q: got %s %q %q, %v", content, got, got.SecretKey, got.SecurityToken, err)
		}
	}
}

// What is wrong is said without a word of the file.
func TestBadKeyFiles(t *testing.T) {
	for content, want := range map[string]string{
		"":                               "access_key: must be set\nsecret_key: must be set",
		"# nothing":                      "access_key: must be set\nsecret_key: must be set",
		"access_key: topsecret":          "secret_key: must be set",
		"access_key: ' '\nsecret_key: s": "access_key: must be set",
		"access_key: topsecret\nsecret_key: 0123":                     "secret_key: put the value in quotes",
		"access_key: topsecret\nsecret_key: true":                     "secret_key: put the value in quotes",
		"access_key: topsecret\nsecret_key: [topsecret]":              "secret_key: put the value in quotes",
		"access_key: topsecret\nsecretkey: topsecret":                 "line 2: want a mapping",
		"access_key: topsecret\ntopsecret":                            "line 2: want a mapping",
		"access_key: topsecret\nsecret_key: \"topsecret":              "line 2: want a mapping",
		"access_key: topsecret\naccess_key: topsecret\nsecret_key: s": "line 2: want a mapping",
		"- topsecret": "want a mapping",
		"topsecret":   "want a mapping",
	} {
		got, err := parseKeys([]byte(content))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%q: got %s, %v, want %q", content, got, err, want)
		}
	}
}

// At the start a file must be good.
func TestUnusableFiles(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long.yaml")
	mustDo(t, os.WriteFile(long, bytes.Repeat([]byte("# filler\n"), 10_000), 0o600))
	for _, path := range []string{filepath.Join(dir, "missing.yaml"), dir, long} {
		if _, err := FileCredentials(path, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := FileToken(path, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("token %s: %v", path, err)
		}
	}
}

func TestFileToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := newKeyFile(t, " token-1\n")
		tokens, err := FileToken(file.path, zerolog.Nop())
		mustDo(t, err)
		want := func(token string) {
			t.Helper()
			if got, err := tokens.Token(t.Context()); got != token || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, token)
			}
		}
		want("token-1")
		for _, bad := range []string{"\n", "two words"} {
			file.write(bad)
			time.Sleep(fileCheckEvery)
			want("token-1")
			time.Sleep(fileCheckEvery)
			want("token-1")
		}
		file.writeAt("token-2", time.Now())
		time.Sleep(fileCheckEvery)
		want("token-2")
	})
}

// Everybody asks while the file changes; nobody waits for it or sees a mixture.
func TestConcurrentReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := newKeyFile(t, keysText("key-0"))
		credentials, _ := file.openKeys()
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 50 {
					keys, err := credentials.Get(t.Context())
					if err != nil || keys.SecretKey != "secret-of-"+keys.AccessKey {
						t.Errorf("got %s %q, %v", keys, keys.SecretKey, err)
					}
					time.Sleep(fileCheckEvery / 3)
				}
			})
		}
		for i := range 5 {
			file.write(keysText(fmt.Sprintf("key-%d", i+1)))
			time.Sleep(3 * fileCheckEvery)
		}
		group.Wait()
		wantAccess(t, credentials, "key-5")
	})
}
