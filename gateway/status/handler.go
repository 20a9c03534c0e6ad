package status

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"path"
)

//go:embed page.html page.css page.js
var files embed.FS

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"count": count, "perSecond": perSecond, "bytesPerSecond": bytesPerSecond, "ago": ago, "lasted": lasted, "stamp": stamp,
}).ParseFS(files, "page.html"))

// policy lets the page load its own style and script and nothing else, and lets no
// other page show it in a frame.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Register adds the page and the files that belong to it to the admin address.
func (s *Status) Register(mux *http.ServeMux) {
	mux.Handle("GET /{$}", guarded(s.servePage))
	mux.Handle("GET /status.json", guarded(s.serveJSON))
	for file, kind := range map[string]string{"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8"} {
		mux.Handle("GET /status"+path.Ext(file), guarded(func(w http.ResponseWriter, r *http.Request) {
			content, err := files.ReadFile(file)
			write(w, kind, content, err)
		}))
	}
}

// guarded sets what every answer tells the browser.
func guarded(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		serve(w, r)
	})
}

func (s *Status) servePage(w http.ResponseWriter, _ *http.Request) {
	content, err := s.html(s.Snapshot())
	write(w, "text/html; charset=utf-8", content, err)
}

// html is the page of a snapshot, made once for all who look.
func (s *Status) html(of *Snapshot) ([]byte, error) {
	s.page.Lock()
	defer s.page.Unlock()
	if s.page.of != of {
		var content bytes.Buffer
		err := page.Execute(&content, of)
		s.page.of, s.page.content, s.page.err = of, content.Bytes(), err
	}
	return s.page.content, s.page.err
}

func (s *Status) serveJSON(w http.ResponseWriter, _ *http.Request) {
	content, err := json.MarshalIndent(s.Snapshot(), "", "  ")
	write(w, "application/json", append(content, '\n'), err)
}

// write answers with what was made, or with why it could not be.
func write(w http.ResponseWriter, kind string, content []byte, err error) {
	if err != nil {
		http.Error(w, fmt.Sprintf("making the status page: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(content) // fails only for a reader that is gone
}
