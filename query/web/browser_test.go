package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"kith/db"
	"kith/query/web"
)

// tab is a page of a real browser. When the test ends, it checks that the page logged no error and
// sent no request to another host.
type tab struct {
	*testing.T
	browser context.Context
	url     string

	mu     sync.Mutex // protects following fields
	faults []string
}

// shared is the browser of all tests. Each test has a window of its own, which acts as if it had
// the focus, and an origin of its own, to which what the page stores belongs.
var shared struct {
	sync.Once
	browser context.Context
	err     error
}

// TestMain closes the browser that the tests have started.
func TestMain(m *testing.M) {
	code := m.Run()
	if shared.browser != nil {
		if err := chromedp.Cancel(shared.browser); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// chromium returns the browser, and starts it for the first test.
func chromium(path string) (context.Context, error) {
	shared.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("process-per-site", true))
		allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
		shared.browser, _ = chromedp.NewContext(allocator)
		shared.err = chromedp.Do(shared.browser)
	})
	return shared.browser, shared.err
}

// open opens the page of a database in headless Chromium. Where there is no Chromium, the test is
// skipped.
func open(t *testing.T, g *db.DB, width, height int, o web.Options) *tab {
	t.Helper()
	return openHandler(t, o.Handler(g), width, height)
}

// openHandler opens the page of a handler, at the section with the statement box.
func openHandler(t *testing.T, h http.Handler, width, height int) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("there is no Chromium: apt-get install chromium")
	}
	if testing.Short() {
		t.Skip("a browser takes seconds to start")
	}
	browser, err := chromium(path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	ctx, _ := chromedp.NewContext(browser, chromedp.WithNewWindow(true))
	p := &tab{T: t, browser: ctx, url: server.URL}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Error(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, f := range p.faults {
			t.Error(f)
		}
	})
	if err := chromedp.Listen(ctx, p.note); err != nil {
		t.Fatal(err)
	}
	call(p, network.Enable, network.EnableParams{})
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.do(chromedp.EmulateViewport(int64(width), int64(height)), chromedp.Navigate(server.URL+"/#ask"), chromedp.WaitVisible(chromedp.CSS("#statement")))
	return p
}

// note records errors of the page and requests to other hosts.
func (p *tab) note(event any) {
	fault := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = e.ExceptionDetails.Text + " " + e.ExceptionDetails.Exception.Description
	case *runtime.EventConsoleAPICalled:
		fault = fmt.Sprintf("console.%s", e.Type)
	case *log.EventEntryAdded:
		expected := strings.Contains(e.Entry.URL, "/query") || strings.Contains(e.Entry.URL, "/why") || strings.Contains(e.Entry.URL, "nobody") || strings.Contains(e.Entry.URL, "prise") // statements that fail on purpose
		if e.Entry.Level == log.EntryLevelError && !expected {
			fault = e.Entry.Text + " " + e.Entry.URL
		}
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(strings.TrimPrefix(e.Request.URL, "blob:"), p.url+"/") {
			fault = "request to " + e.Request.URL
		}
	}
	if fault != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.faults = append(p.faults, fault)
	}
}

// do runs actions, and fails the test if one fails.
func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.browser, 20*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// value runs an action and returns its value.
func value[V any](p *tab, action chromedp.Action[V]) V {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.browser, 20*time.Second)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		p.Fatal(err)
	}
	return v
}

// call runs a command of the browser's protocol.
func call[P, R any](p *tab, c cdp.Command[P, R], params P) {
	p.Helper()
	value(p, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, c, params) })
}

// text returns the text that an element shows.
func (p *tab) text(selector string) string {
	p.Helper()
	return value(p, chromedp.Text(chromedp.CSS(selector)))
}

// evaluate returns the value of an expression in the page.
func evaluate[V any](p *tab, expression string) V {
	p.Helper()
	return value(p, chromedp.Evaluate[V](expression))
}

// click clicks on an element with the mouse.
func (p *tab) click(selector string) {
	p.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// keys presses keys.
func (p *tab) keys(keys string, o ...chromedp.KeyOption) {
	p.Helper()
	p.do(chromedp.KeyEvent(keys, o...))
}

// until waits until an expression in the page is true.
func (p *tab) until(condition string) {
	p.Helper()
	p.within(15*time.Second, condition)
}

// within waits until an expression in the page is true, for some time at most.
func (p *tab) within(limit time.Duration, condition string) {
	p.Helper()
	deadline := time.Now().Add(limit)
	for !evaluate[bool](p, "Boolean("+condition+")") {
		if time.Now().After(deadline) {
			p.Fatalf("%s does not become true; the page shows %q", condition, p.text("main"))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// screenshot writes a picture of the window to the folder that KITH_SCREENSHOTS names, if it is
// set.
func (p *tab) screenshot(name string) {
	p.Helper()
	folder := os.Getenv("KITH_SCREENSHOTS")
	if folder == "" {
		return
	}
	png := value(p, chromedp.CaptureScreenshot())
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644); err != nil {
		p.Error(err)
	}
}
