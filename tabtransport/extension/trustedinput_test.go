package extension_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/tabtest/chromium"
)

// browseTrusted is browse with the build that acts with trusted input.
func (h *hub) browseTrusted() *chromium.Browser {
	h.t.Helper()
	dir := h.t.TempDir()
	if _, err := extension.WriteTrustedInput(dir, h.pairings.Ring, h.url()); err != nil {
		h.t.Fatal(err)
	}
	b := h.browse(chromium.Options{Extension: dir})
	if !slices.Contains(h.hello.Capabilities, spec.CapTrustedInput) {
		h.t.Errorf("hello does not say it: %v", h.hello.Capabilities)
	}
	return b
}

// picky is a page that takes only a person's input.
const picky = `<!doctype html><title>Picky</title><style>body { margin: 0 } div { padding: 20px; width: 100px }</style>
	<button onclick="did(event, 'order')">Order</button>
	<button ondblclick="did(event, 'open')">Open</button>
	<button oncontextmenu="did(event, 'menu')">More</button>
	<button onmouseover="did(event, 'help')">Help</button>
	<a href="/elsewhere" target=_blank onclick="did(event, 'tab')">New tab</a>
	<label for=agree onclick="did(event, 'label')">I agree</label><input type=checkbox id=agree>
	<div draggable=true role=button tabindex=0>Card</div>
	<div role=group aria-label=Done ondragover="event.preventDefault()" ondrop="did(event, 'drop')" style="background: #ccc">here</div>
	<button onpointerdown="document.querySelector('#over').hidden = false" onclick="did(event, 'covered')" style="position: fixed; right: 0; top: 0">Slips away</button>
	<input aria-label=Name oninput="if (!event.isTrusted || event.data === null) { this.value = ''; did(event, 'set') } else done.at(-1) === 'typed' || did(event, 'typed')" onkeydown="event.key === 'Enter' && did(event, 'enter')">
	<button onclick="confirm('Sure?') ? did(event, 'sure') : did(event, 'not sure')">Delete</button>
	<button onclick="{ const field = Object.assign(document.createElement('input'), {type: 'file'}); field.onchange = () => done.push(field.files[0].name + ', ' + field.files[0].size); field.click() }">Attach</button>
	<div id=over hidden style="position: fixed; inset: 0; padding: 0; width: auto" onclick="did(event, 'over')"></div>
	<script>
		done = [];
		did = (event, what) => done.push(event.isTrusted ? what : "not " + what);
	</script>`

// target is a step's target, of a role and a name.
func target(role, name string) string {
	return `{"role": "` + role + `", "name": "` + name + `"}`
}

// Acts go to the page as a person's input does, and to nothing but what they are for.
func TestTrustedInput(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browseTrusted()
	url := site(t, map[string]string{"/": picky, "/elsewhere": "<title>Elsewhere</title>"})
	p := b.Open(url)
	tab := front(b)
	run := func(steps string) string {
		t.Helper()
		return h.runAs(t.Context(), tab, &spec.Run{FrameID: new(int64), Origin: url}, steps, tabtransport.Wait{Timeout: chromium.Timeout})
	}
	for _, c := range []struct{ what, step, want, done string }{
		{"a click", `{"click": {"target": ` + target("button", "Order") + `}}`, `null [click yes]`, `["order"]`},
		{"a double click", `{"click": {"target": ` + target("button", "Open") + `, "count": 2}}`, `null [click yes]`, `["open"]`},
		{"the right button", `{"click": {"target": ` + target("button", "More") + `, "button": "right"}}`, `null [click yes]`, `["menu"]`},
		{"the mouse over it", `{"hover": {"target": ` + target("button", "Help") + `}}`, `null [hover yes]`, `["help"]`},
		{"a label", `{"click": {"target": {"selector": "label"}}}`, `null [click yes]`, `["label"]`},
		{"a drag", `{"drag": {"target": ` + target("button", "Card") + `, "to": ` + target("group", "Done") + `}}`, `null [drag yes]`, `["drop"]`},
		{"a field that takes keys", `{"fill": {"fields": [{"target": ` + target("textbox", "Name") + `, "value": "Ann O'Neil. 7"}]}}`, `null [fill yes]`, `["not set","typed"]`},
		{"a key", `{"press": {"target": ` + target("textbox", "Name") + `, "key": "Enter"}}`, `null [press yes]`, `["enter"]`},
		{"what the page asks", `{"click": {"target": ` + target("button", "Delete") + `}}`, `null [click yes]`, `["not sure"]`},
		{"what it asks, answered", `{"dialog": {"accept": true}}, {"click": {"target": ` + target("button", "Delete") + `}}`, `null [dialog yes, click yes]`, `["sure"]`},
		{"what a person has copied", `{"press": {"target": ` + target("textbox", "Name") + `, "key": "Control+V"}}`, `0 STEP_REFUSED Control+V would give the page what the person has copied; fill puts a text into a field [press no]`, `[]`},
		{"files that the page asks for", `{"upload": {"target": ` + target("button", "Attach") + `, "files": [{"name": "a.txt", "data": "aGk="}]}}`, `null [upload yes]`, `["a.txt, 2"]`},
		{"files that nobody brings", `{"click": {"target": ` + target("button", "Attach") + `}}`, `0 STEP_STOPPED the page asked for files, and nobody was shown a choice of them; upload puts them there [click perhaps]`, `[]`},
		{"something that comes over it", `{"click": {"target": ` + target("button", "Slips away") + `}}`, `0 STEP_REFUSED button "Slips away" is covered by div without a name by now: it got none of it [click no]`, `[]`},
	} {
		if got := run(c.step); got != c.want {
			t.Errorf("%s: %s; want %s", c.what, got, c.want)
		}
		if got := p.Eval("document.querySelector('#over').hidden = true, done.splice(0)"); got != c.done {
			t.Errorf("%s: the page has %s, want %s", c.what, got, c.done)
		}
	}
	if got := p.Eval("document.querySelector('[aria-label=Name]').value"); got != `"Ann O'Neil. 7"` {
		t.Errorf("the field has %s", got)
	}
	if got := p.Eval("document.querySelector('#agree').checked"); got != "true" {
		t.Error("the label was not clicked as a person clicks it")
	}
	if got := run(`{"click": {"target": ` + target("link", "New tab") + `}}`); got != `null [click yes]` {
		t.Errorf("a link to a new tab: %s", got)
	}
	b.AttachURL(url + "/elsewhere")
}

// A frame of another site gets what is for it, and what covers it on the page around it gets nothing. A person who
// ends the debugger ends what acts.
func TestTrustedInputInFrames(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browseTrusted()
	pay := site(t, map[string]string{"/": `<!doctype html><body style="margin: 0; height: 900px"><button style="position: absolute; left: 20px; top: 700px" onclick="parent.postMessage('paid ' + event.isTrusted, '*')">Pay</button>`})
	middle := site(t, map[string]string{"/": `<!doctype html><iframe src="` + pay + `" style="margin: 50px; width: 300px; height: 200px; border: 5px solid; padding: 7px"></iframe><script>onmessage = ({data}) => parent.postMessage(data, "*")</script>`})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><body style="height: 4000px"><div id=over hidden style="position: fixed; inset: 0; z-index: 1" onclick="got = 'over'"></div>
		<div style="height: 1500px"></div><div id=host></div><script>
		got = "";
		onmessage = ({data}) => got = data;
		host.attachShadow({mode: "closed"}).innerHTML = '<iframe src="` + middle + `" style="width: 500px; height: 400px; transform: scale(0.8)"></iframe>';
	</script>`}))
	tab := front(b)
	p.Front()
	w := b.Worker()
	defer w.Close()
	w.WaitFor(fmt.Sprintf("chrome.webNavigation.getAllFrames({tabId: %d}).then((all) => all.filter(({url}) => url === %q).length === 1)", tab, pay+"/"))
	var frame int64
	w.Into(fmt.Sprintf("chrome.webNavigation.getAllFrames({tabId: %d}).then((all) => all.find(({url}) => url === %q).frameId)", tab, pay+"/"), &frame)
	run := func() string {
		return h.runAs(t.Context(), tab, &spec.Run{FrameID: &frame, Origin: pay}, `{"click": {"target": `+target("button", "Pay")+`}}`, tabtransport.Wait{Timeout: chromium.Timeout})
	}
	for _, zoom := range []string{"1", "1.5"} {
		zoomTab(w, tab, zoom)
		if got := run(); got != "null [click yes]" {
			t.Errorf("zoom %s: %s", zoom, got)
		}
		p.WaitFor("got === 'paid true'")
		p.Eval("got = ''")
	}
	p.Eval("over.hidden = false")
	if got := run(); got != "0 STEP_REFUSED something covers its frame [click no]" || p.Eval("got") != `""` {
		t.Errorf("a frame that is covered: %s, the page got %s", got, p.Eval("got"))
	}
	p.Eval("over.hidden = true")
	done, goesOn := make(chan string, 1), make(chan struct{}, 64)
	go func() {
		done <- h.runAs(t.Context(), tab, &spec.Run{FrameID: &frame, Origin: pay}, `{"click": {"target": `+target("button", "Pay")+`}}, {"wait": {"for": {"role": "button", "name": "Never"}}, "timeout": 60}`, tabtransport.Wait{Timeout: chromium.Timeout, Progress: func(spec.Progress) { goesOn <- struct{}{} }})
	}()
	<-goesOn // the click is done
	w.Eval(fmt.Sprintf("tabhubTrustedInput.cancelled(%d)", tab))
	if got := <-done; got != "1 STEP_STOPPED the person in front of the browser has ended its debugger in the tab [click yes, wait no]" {
		t.Errorf("ended by the person: %s", got)
	}
	w.WaitFor(fmt.Sprintf("!tabhubTrustedInput.uses(%d)", tab))
}

// The owner sees which build it is.
func TestTrustedInputIsSaid(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browseTrusted()
	if !strings.HasSuffix(h.hello.BrowserName, " (trusted input)") {
		t.Errorf("the browser is called %s", h.hello.BrowserName)
	}
	b.Open(site(t, map[string]string{"/": green}))
	popup := h.popup(b, front(b))
	options := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	for name, p := range map[string]*chromium.Page{"popup": popup, "options": options} {
		p.Front()
		p.WaitFor("document.querySelector('#trusted').innerText.includes('cannot tell what apps do here from what you do')")
		inBothShades(t, p, name+"-trusted")
	}
}

// The stores' extension, and the one that most people have, cannot attach the debugger.
func TestTwoBuilds(t *testing.T) {
	read := func(dir string) (m struct {
		Name, Key, Description string
		Permissions            []string
		Background             map[string]string
	}) {
		text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	dir, ring := t.TempDir(), tabtest.NewPairings(t).Ring
	first, err := extension.Write(dir, ring, "ws://127.0.0.1:1/tabs")
	if err != nil {
		t.Fatal(err)
	}
	normal := read(dir)
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && strings.Contains(strings.ToLower(e.Name()), "trusted") {
			t.Errorf("the build without trusted input has %s", path)
		}
		return err
	})
	if err != nil || slices.Contains(normal.Permissions, "debugger") || normal.Name != "tabhub" {
		t.Errorf("%+v, %v", normal, err)
	}
	if l, err := extension.Read(dir); err != nil || l.TrustedInput || !l.Current {
		t.Errorf("%+v, %v", l, err)
	}
	// It takes the other one's place, and stays paired.
	second, err := extension.WriteTrustedInput(dir, ring, "ws://127.0.0.1:1/tabs")
	if err != nil || second.Pairing != first.Pairing {
		t.Fatalf("%v, %v", second.Pairing, err)
	}
	trusted := read(dir)
	if !slices.Equal(trusted.Permissions, append(slices.Clone(normal.Permissions), "debugger")) || trusted.Key != normal.Key ||
		trusted.Name != "tabhub (trusted input)" || !strings.Contains(trusted.Description, "cannot tell from yours") || len(trusted.Description) > 132 {
		t.Errorf("%+v", trusted)
	}
	if _, err := os.Stat(filepath.Join(dir, trusted.Background["service_worker"])); err != nil {
		t.Error(err)
	}
	if l, err := extension.Read(dir); err != nil || !l.TrustedInput || !l.Current {
		t.Errorf("%+v, %v", l, err)
	}
}
