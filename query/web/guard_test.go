package web_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query/web"
)

// A request from a page with a foreign origin is refused, with any route, method and content, even
// with the token. Following a link to a route that tells nothing of the database is allowed.
func TestForeign(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	h := web.Options{Token: token}.Handler(g)
	before := figures(t, g)
	for _, c := range []struct {
		name   string
		header map[string]string
		open   int // status of an open route
		other  int // of the others; 0: not 403
	}{
		{"no browser", nil, 200, 0},
		{"own origin", map[string]string{"Origin": "http://localhost:7331", "Sec-Fetch-Site": "same-origin"}, 200, 0},
		{"own origin in capitals", map[string]string{"Origin": "http://LOCALHOST:7331"}, 200, 0},
		{"the address bar", map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, 200, 0},
		{"another site", map[string]string{"Origin": "https://evil.example"}, 403, 403},
		{"another port", map[string]string{"Origin": "http://localhost:7332"}, 403, 403},
		{"a name that begins alike", map[string]string{"Origin": "http://localhost:7331.evil.example"}, 403, 403},
		{"a user", map[string]string{"Origin": "http://localhost:7331@evil.example"}, 403, 403},
		{"a file or a sandbox", map[string]string{"Origin": "null"}, 403, 403},
		{"an empty origin", map[string]string{"Origin": ""}, 403, 403},
		{"a script of another site", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403, 403},
		{"an image of another site", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403, 403},
		{"another port, without an origin", map[string]string{"Sec-Fetch-Site": "same-site"}, 403, 403},
		{"a link", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200, 403},
	} {
		ask := func(method, path, kind string) int {
			r := httptest.NewRequest(method, path, strings.NewReader(`{"statement": "INSERT NODE 1"}`))
			if method == http.MethodGet {
				r = httptest.NewRequest(method, path, nil)
			}
			r.RemoteAddr, r.Host = "127.0.0.1:99", "localhost:7331"
			for name, value := range c.header {
				r.Header.Set(name, value)
			}
			if kind != "" {
				r.Header.Set("Content-Type", kind)
			}
			if c.other == http.StatusForbidden {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			for name := range w.Header() {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s: %s", c.name, name)
				}
			}
			return w.Code
		}
		if status := ask("GET", "/openapi.json", ""); status != c.open {
			t.Errorf("%s: an open route answers with %d, want %d", c.name, status, c.open)
		}
		for _, to := range [][3]string{
			{"GET", "/stats"}, {"GET", "/metrics"}, {"GET", "/nothing"}, {"POST", "/query", "application/json"}, {"POST", "/query", "text/plain"},
			{"POST", "/query", ""}, {"PUT", "/query", "application/json"}, {"OPTIONS", "/query"}, {"DELETE", "/stats"},
		} {
			if status := ask(to[0], to[1], to[2]); (status == 403) != (c.other == 403) {
				t.Errorf("%s: %s: status %d, want %d", c.name, to, status, c.other)
			}
		}
	}
	if after := figures(t, g); after != before {
		t.Errorf("a refused request has written: %s, was %s", after, before)
	}
}

// A wrong token is refused as none is: with the same status, the same header and the same text.
func TestToken(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	_, url := serve(t, web.Options{Token: token}.Handler(g))
	_, strict := serve(t, web.Options{Token: token, TokenForReads: true}.Handler(g))
	_, none := serve(t, web.Handler(g))
	const read, write = `{"statement": "CHECK"}`, `{"statement": "MERGE NODE 1"}`
	before := figures(t, g)
	texts := map[string]bool{}
	for _, c := range []struct {
		url, authorization, body string
		status                   int
	}{
		{none, "", read, 200},
		{none, "Bearer x", read, 200},
		{none, "Bearer " + token, write, 403},
		{none, "Bearer ", write, 403},
		{url, "", read, 200},
		{url, "Basic eDp5", read, 200},
		{url, "", write, 401},
		{url, "Basic eDp5", write, 401},
		{url, "Bearer", write, 401},
		{url, "Bearer ", write, 401},
		{url, token, write, 401},
		{url, "Bearer " + token[:31], write, 401},
		{url, "Bearer " + token + "0", write, 401},
		{url, "Bearer " + strings.ToUpper(token), write, 401},
		{url, "Bearer x", read, 401},
		{strict, "", read, 401},
		{strict, "Bearer x", read, 401},
		{strict, "bearer " + token, read, 200},
	} {
		status, header, text := send(t, c.url, c.authorization, c.body)
		if status != c.status {
			t.Errorf("%s, %q: status %d, want %d: %s", c.body, c.authorization, status, c.status, text)
		}
		if status == http.StatusUnauthorized {
			texts[header.Get("WWW-Authenticate")+text] = true
		}
	}
	if len(texts) != 1 || figures(t, g) != before {
		t.Errorf("refusals %v, figures %s, were %s", texts, figures(t, g), before)
	}
	for _, path := range []string{"/stats", "/metrics", "/nothing"} {
		if status := get(t, strict+path); status != http.StatusUnauthorized {
			t.Errorf("%s: status %d", path, status)
		}
	}
	if status := get(t, strict+"/openapi.json"); status != http.StatusOK {
		t.Errorf("the description: status %d", status)
	}
	if status, _, text := send(t, url, "Bearer "+token, write); status != http.StatusOK {
		t.Errorf("with the token: status %d, %s", status, text)
	}
}

// send posts a query with a header Authorization.
func send(t testing.TB, url, authorization, body string) (status int, header http.Header, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/query", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(b)
}

func get(t testing.TB, url string) (status int) {
	t.Helper()
	status, _ = fetch(t, url)
	return status
}

// fetch returns the status and the body of an answer.
func fetch(t testing.TB, url string) (status int, text string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// A page whose origin is allowed may ask before it sends, read answers and errors, and write with
// the token. Others are refused, also with a name that looks alike, and so is a name that a foreign
// site has given this machine.
func TestOrigins(t *testing.T) {
	t.Parallel()
	const app = "https://app.example"
	g := dbtest.Friends(t)
	h := web.Options{Token: token, TokenForReads: true, Origins: []string{app, "http://localhost:3000"}}.Handler(g)
	ask := func(method, path, host, origin string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(`{"source": "ann"}`))
		if method != http.MethodPost {
			r = httptest.NewRequest(method, path, nil)
		}
		r.RemoteAddr, r.Host = "127.0.0.1:99", host
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "cors")
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	const authorization = "Bearer " + token
	asking := []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type"}
	sending := []string{"Content-Type", "application/json", "Authorization", authorization}
	before := figures(t, g)
	for _, c := range []struct {
		name, method, path, host, origin string
		header                           []string
		status                           int
		shared                           bool // the page may read the answer
	}{
		{"a preflight request", "OPTIONS", "/choose", "localhost:7331", app, asking, 204, true},
		{"of another page", "OPTIONS", "/choose", "127.0.0.1:7331", "http://localhost:3000", asking, 204, true},
		{"for another method", "OPTIONS", "/choose", "localhost:7331", app, []string{"Access-Control-Request-Method", "DELETE"}, 405, true},
		{"for another path", "OPTIONS", "/nothing", "localhost:7331", app, asking, 404, true},
		{"for reading", "OPTIONS", "/stats", "localhost:7331", app, []string{"Access-Control-Request-Method", "GET"}, 204, true},
		{"no preflight request", "OPTIONS", "/choose", "localhost:7331", app, nil, 401, true},
		{"a request", "POST", "/predict", "localhost:7331", app, sending, 200, true},
		{"without the token", "POST", "/predict", "localhost:7331", app, sending[:2], 401, true},
		{"with another token", "POST", "/predict", "localhost:7331", app, []string{"Content-Type", "application/json", "Authorization", "Bearer x"}, 401, true},
		{"as a form", "POST", "/predict", "localhost:7331", app, []string{"Content-Type", "text/plain", "Authorization", authorization}, 415, true},
		{"an image", "GET", "/stats", "localhost:7331", "", []string{"Authorization", authorization}, 403, false},
		{"by another name", "POST", "/predict", "evil.example:7331", app, sending, 403, true},
		{"a preflight by another name", "OPTIONS", "/choose", "evil.example:7331", app, asking, 403, true},
		{"another site", "POST", "/predict", "localhost:7331", "https://evil.example", sending, 403, false},
		{"a preflight of another site", "OPTIONS", "/choose", "localhost:7331", "https://evil.example", asking, 403, false},
		{"without encryption", "OPTIONS", "/choose", "localhost:7331", "http://app.example", asking, 403, false},
		{"another port", "OPTIONS", "/choose", "localhost:7331", app + ":444", asking, 403, false},
		{"a name that ends alike", "OPTIONS", "/choose", "localhost:7331", "https://evil-app.example", asking, 403, false},
		{"a name that begins alike", "OPTIONS", "/choose", "localhost:7331", app + ".evil.example", asking, 403, false},
		{"a sandbox", "OPTIONS", "/choose", "localhost:7331", "null", asking, 403, false},
		{"any", "OPTIONS", "/choose", "localhost:7331", "*", asking, 403, false},
		{"two origins", "POST", "/predict", "localhost:7331", app, append([]string{"Origin", "https://evil.example"}, sending...), 403, false},
	} {
		w := ask(c.method, c.path, c.host, c.origin, c.header...)
		want := ""
		if c.shared {
			want = c.origin
		}
		if got := w.Header().Get("Access-Control-Allow-Origin"); w.Code != c.status || got != want || w.Header().Get("Vary") != "Origin" {
			t.Errorf("%s: status %d, want %d, for %q, want %q: %s", c.name, w.Code, c.status, got, want, w.Body)
		}
		if w.Header().Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: credentials are allowed", c.name)
		}
		if methods := w.Header().Get("Access-Control-Allow-Methods"); (methods == "") != (c.status != 204) {
			t.Errorf("%s: methods %q", c.name, methods)
		}
	}
	w := ask("OPTIONS", "/choose", "localhost", app, asking...)
	if methods, headers := w.Header().Get("Access-Control-Allow-Methods"), w.Header().Get("Access-Control-Allow-Headers"); methods != "POST" || headers != "Authorization, Content-Type" {
		t.Errorf("methods %q, headers %q", methods, headers)
	}
	if after := figures(t, g); after != before {
		t.Errorf("%s, was %s", after, before)
	}
}

// An origin is a scheme, a host and perhaps a port, and never a wildcard.
func TestCheckOrigin(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"https://app.example": true, "http://localhost:3000": true, "HTTPS://App.Example": true, "http://[::1]:80": true,
		"*": false, "": false, "null": false, "app.example": false, "https://": false, "https://app.example/": false, "https://app.example/x": false,
		"https://*.example": false, "https://user@app.example": false, "https://app.example?x": false, "https://app.example#x": false,
		"file:///x": false, "https://a b": false, "https://app.example https://b.example": false,
	} {
		if err := web.CheckOrigin(text); (err == nil) != ok || err != nil && !errors.Is(err, db.ErrInput) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
