package browsertool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	_ "image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/hub"
	"tabhub/hub/browsertool"
	"tabhub/hub/instance"
	"tabhub/hub/pages"
	"tabhub/hub/policy"
	"tabhub/spec"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/wsserver"
)

// newRealRig is a rig whose hub real browsers join. It serves the demo, and /native
// with a tool that is registered with the browser.
func newRealRig(t *testing.T) (w *rig, base string) {
	t.Helper()
	chromium.Require(t)
	pairings := tabtest.NewPairings(t)
	ws := wsserver.New(wsserver.Options{Pair: pairings.Pair, Authenticate: func(_ *http.Request, hello *spec.Hello, ex *pairing.Exchange) (tabtransport.Admission, error) {
		id, err := pairings.Check(hello, ex)
		return tabtransport.Admission{Attested: id != "", Pairing: id}, err
	}})
	w = &rig{t: t}
	var err error
	w.hub, err = hub.Open(t.Context(), hub.Options{User: spec.LocalUser, Mode: policy.ModeOpen, Transport: ws.Transport(spec.LocalUser), Store: &storagetest.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/tabs", ws.Tabs())
	mux.Handle("/", pages.Handler(func(r *http.Request) string { return "http://" + r.Host }))
	mux.HandleFunc("/native", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><title>Native</title><body style="background: linear-gradient(red, blue)"><h1>Hello</h1>
			<script>document.modelContext.registerTool({name: 'double', description: 'Doubles n', execute: ({n}) => ({twice: 2 * n}),
				inputSchema: {type: 'object', properties: {n: {type: 'number'}}, required: ['n']}})</script>`)
	})
	mux.HandleFunc("/app", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><title>App</title><script>
			const offer = (name) => document.modelContext.registerTool({name, description: name, execute: () => name, inputSchema: {type: 'object'}});
			offer('home');
			setTimeout(() => { history.pushState({}, '', '/app/order'); offer('pay'); }, 3000);
		</script>`)
	})
	server := httptest.NewServer(mux)
	instances := instance.New(instance.Options{Hub: w.hub, Ring: pairings.Ring, Dir: filepath.Join(t.TempDir(), "browsers"), HubURL: "ws" + strings.TrimPrefix(server.URL, "http") + "/tabs",
		Browser: os.Getenv("TABHUB_BROWSER_PROGRAM"),
	})
	w.tools = browsertool.New(w.hub, instances)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		instances.Close()
		_ = w.hub.Close(ctx)
		_ = ws.Close(ctx)
		server.Close()
	})
	return w, server.URL
}

// What a model does that has no browser yet: it starts one, goes to a page, finds the
// page's tools, runs one, looks at the page, and closes the browser.
func TestFromNothingToAPagesTools(t *testing.T) {
	w, base := newRealRig(t)
	var started struct {
		InstanceID, BrowserID string
		ExtensionAutoLoaded   bool
	}
	w.call("browser_instance", `{"action":"new","headless":true,"closeOtherTabs":true}`).into(&started)
	if !started.ExtensionAutoLoaded || started.BrowserID == "" {
		t.Fatalf("%+v", started)
	}
	var state struct {
		TabID, URL, Title, Domain string
		ToolNames                 []string
	}
	for _, test := range []struct{ path, title, tool, args, want string }{
		{"/demo", "Corner Shop · tabhub demo", "_search_products", `{"query":"mug"}`, "mug"},
		{"/native", "Native", "_double", `{"n":21}`, "42"},
	} {
		w.call("browser_page", `{"action":"goto","url":"`+base+test.path+`","browserId":"`+started.BrowserID+`"}`).into(&state)
		w.call("browser_page", `{"action":"wait","tabId":"`+state.TabID+`"}`).into(&state)
		i := slices.IndexFunc(state.ToolNames, func(n string) bool { return strings.HasSuffix(n, test.tool) })
		if state.Title != test.title || i < 0 {
			t.Fatalf("%s: %+v", test.path, state)
		}
		got, err := w.hub.Call(t.Context(), hub.Call{By: tester, Name: state.ToolNames[i], Args: json.RawMessage(test.args)})
		if err != nil || !strings.Contains(string(got), test.want) {
			t.Errorf("%s: %s, %v", state.ToolNames[i], got, err)
		}
		shot := w.call("browser_page", `{"action":"screenshot"}`)
		if len(shot.Content) != 1 || shot.Content[0].MimeType != "image/png" {
			t.Fatalf("screenshot: %.300s", shot.raw)
		}
		wantPicture(t, shot.Content[0].Data)
	}
	var read struct{ Text string }
	w.call("browser_page", `{"action":"text"}`).into(&read)
	if read.Text != "Hello" {
		t.Errorf("text %q", read.Text)
	}
	w.call("browser_page", `{"action":"back"}`).into(&state)
	if state.URL != base+"/demo" {
		t.Errorf("back at %+v", state)
	}
	w.call("browser_page", `{"action":"forward"}`).into(&state)
	w.call("browser_page", `{"action":"forward"}`).fails(spec.FailInvalidArguments, "no page to go to")
	w.call("browser_page", `{"action":"reload"}`).into(&state)
	if state.URL != base+"/native" {
		t.Errorf("after all at %+v", state)
	}

	var opened struct{ TabID string }
	w.call("browser_tab", `{"action":"new","url":"`+base+`/native#2"}`).into(&opened)
	w.call("browser_page", `{"action":"wait","tabId":"`+opened.TabID+`"}`).into(&state)
	w.call("browser_page", `{"action":"screenshot","tabId":"`+opened.TabID+`"}`).fails(spec.FailToolError, "activate it first")
	w.call("browser_tab", `{"action":"activate","tabId":"`+opened.TabID+`"}`).into(&struct{}{})
	shot := w.call("browser_page", `{"action":"screenshot","tabId":"`+opened.TabID+`"}`)
	if len(shot.Content) != 1 || shot.Content[0].MimeType != "image/png" {
		t.Fatalf("screenshot: %.300s", shot.raw)
	}
	wantPicture(t, shot.Content[0].Data)
	w.call("browser_tab", `{"action":"close_others","tabId":"`+opened.TabID+`"}`).into(&struct{}{})
	if l := w.list(); len(l.Tabs) != 1 || l.Tabs[0].TabID != opened.TabID || l.Tabs[0].Tools != 1 {
		t.Errorf("left: %+v", l)
	}

	var list struct {
		Instances []struct {
			ID, UserAgent          string
			WindowID, LastActivity int64
			Connected              bool
		}
	}
	w.call("browser_instance", `{"action":"list"}`).into(&list)
	if len(list.Instances) != 1 || !list.Instances[0].Connected || list.Instances[0].WindowID == 0 || list.Instances[0].UserAgent == "" {
		t.Errorf("%+v", list)
	}
	w.call("browser_instance", `{"action":"close","instanceId":"`+started.InstanceID+`"}`).into(&struct{}{})
	if l := w.list(); len(l.Browsers) != 0 {
		t.Errorf("a closed browser is listed: %+v", l)
	}
}

// wantPicture checks that a PNG has the window's size and shows something.
func wantPicture(t *testing.T, data []byte) {
	t.Helper()
	img, format, err := image.Decode(bytes.NewReader(data))
	if err != nil || format != "png" {
		t.Fatalf("%s: %v", format, err)
	}
	size := img.Bounds().Size()
	if size.X != 1280 || size.Y < 600 || size.Y > 800 {
		t.Errorf("the picture is %v", size)
	}
	colors := map[color.Color]bool{}
	for y := 0; y < size.Y; y += 7 {
		for x := 0; x < size.X; x += 7 {
			colors[img.At(x, y)] = true
		}
	}
	if len(colors) < 5 {
		t.Errorf("the picture has %d colours", len(colors))
	}
}

// What a model waits for in an app: the tool that comes with the next view, the cart that
// changes, the page that is all there; in a tab that nobody looks at, and over a navigation.
func TestWaitInABrowser(t *testing.T) {
	w, base := newRealRig(t)
	var started struct{ BrowserID string }
	w.call("browser_instance", `{"action":"new","headless":true,"url":"`+base+`/demo"}`).into(&started)
	open := func(path string) string {
		t.Helper()
		var opened struct{ TabID string }
		w.call("browser_tab", `{"action":"new","url":"`+base+path+`"}`).into(&opened)
		return opened.TabID
	}
	var state struct{ URL, Tool string }
	app := open("/app")
	w.call("browser_page", `{"action":"wait","tabId":"`+app+`","tool":"pay","timeoutMs":30000}`).into(&state)
	if !strings.HasSuffix(state.Tool, "_pay") || state.URL != base+"/app/order" {
		t.Errorf("%+v", state)
	}
	w.call("browser_page", `{"action":"wait","tabId":"`+app+`","for":"rest","timeoutMs":30000}`).into(&state)
	// The tab goes elsewhere while a tool of the app is waited for, which is there, too.
	waited := make(chan result, 1)
	go func() {
		waited <- w.call("browser_page", `{"action":"wait","tabId":"`+app+`","tool":"double","timeoutMs":30000}`)
	}()
	w.call("browser_page", `{"action":"goto","tabId":"`+app+`","url":"`+base+`/native"}`).into(&struct{}{})
	r := <-waited
	if r.into(&state); !strings.HasSuffix(state.Tool, "_double") {
		t.Errorf("%+v", state)
	}
	// And it is closed under a wait.
	go func() {
		waited <- w.call("browser_page", `{"action":"wait","tabId":"`+app+`","tool":"lost","timeoutMs":600000}`)
	}()
	w.call("browser_tab", `{"action":"close","tabId":"`+app+`"}`).into(&struct{}{})
	r = <-waited
	r.fails(spec.FailTabNotFound, "not open")

	w.call("browser_page", `{"action":"wait","for":"tool","tool":"add_to_cart","timeoutMs":30000}`).into(&state)
	if !strings.HasSuffix(state.Tool, "add_to_cart") {
		t.Errorf("waited for add_to_cart, got %+v", state)
	}
}
