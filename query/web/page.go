package web

import (
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// assets are the files of the page: its HTML template, style and scripts. The page needs nothing
// else, so its browser sends requests to this server only.
//
//go:embed page
var assets embed.FS

// pageRoutes returns the routes that only the page uses. The description leaves them out.
func pageRoutes() []route {
	return []route{
		{method: http.MethodGet, path: "/{$}", open: true, serve: (*handler).page},
		{method: http.MethodGet, path: "/page/{file}", open: true, serve: (*handler).asset},
		{method: http.MethodGet, path: "/start", serve: (*handler).start},
		{method: http.MethodGet, path: "/events", serve: (*handler).events},
	}
}

// pageData is the data of the page's template. The page requests everything else once it is shown,
// so that the first paint does not wait for the database.
type pageData struct {
	Writable      bool // statements that write may be run, with a token
	TokenForReads bool
}

// page answers with the page.
func (h *handler) page(w http.ResponseWriter, _ *http.Request) {
	t, err := template.ParseFS(assets, "page/page.html")
	if err != nil {
		fail(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = t.Execute(w, pageData{h.Token != "", h.TokenForReads}) // an error means that the client has gone
}

// asset answers with a file of the page other than its template.
func (h *handler) asset(w http.ResponseWriter, r *http.Request) {
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	kind := kinds[path.Ext(r.PathValue("file"))]
	content, err := fs.ReadFile(assets, "page/"+r.PathValue("file"))
	if kind == "" || err != nil {
		fail(w, http.StatusNotFound, errNoRoute)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(content) // an error means that the client has gone
}

// harden sets the headers of every answer, which forbid a browser to store answers, to run other
// scripts than the page's own, to show the page within a page of a foreign site, and to send its
// address to other sites.
func harden(header http.Header) {
	header.Set("Content-Security-Policy", strings.Join([]string{
		"default-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'", "object-src 'none'",
	}, "; "))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
}
