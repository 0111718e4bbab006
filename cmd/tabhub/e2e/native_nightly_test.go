//go:build nightly

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"

	"tabhub/spec/rawjson"
	"tabhub/tabtransport/tabtest/chromium"
)

// row is one call of a page's tool.
type row struct {
	tool, args string // args is "{}" if it is empty
	// want is what the browser itself answers with: a text, or JSON if the page gave no text.
	want string
	// hub is what the hub takes for the answer, if that is not want.
	hub string
	// throws is the text of the tool's exception, which the browser hides from its callers.
	throws string
	// person is what the person in front of the tab does once the call has begun.
	person string
	// there says when it has begun.
	there string
	// frame is the frame of another site that has the tool, as the page reaches it.
	frame string
	// moves: the call takes the page to another document, whose data are the answer.
	moves bool
}

// comparisons are what is done in one page each: the rows one after the other, from a document
// of testdata/native to wherever they lead.
var comparisons = []struct {
	page string
	rows []row
}{
	{"pizza.html", []row{
		{tool: "set_pizza_size", args: `{"size":"Large"}`, want: `Set pizza size to Large.`},
		{tool: "last_topping", want: `null`},
		{tool: "add_topping", args: `{"topping":"🌶️"}`, want: `Added 5 🌶️ topping(s)`},
		{tool: "add_topping", args: `{"topping":"🍄","count":2}`, want: `Added 2 🍄 topping(s)`},
		{tool: "last_topping", want: `🍄`},
		{tool: "topping_count", want: `2`},
		{tool: "has_cheese", want: `false`},
		{tool: "pizza_toppings", want: `["🌶️","🍄"]`},
		{tool: "pizza_state", want: `{"size":"Large","toppings":["🌶️","🍄"],"layers":{"sauce":true,"cheese":false}}`},
		{tool: "share_pizza", want: `{"size":"Large","toppings":["🌶️","🍄"],"layers":{"sauce":true,"cheese":false}}`},
		{tool: "reset_pizza", want: `undefined`},
		{tool: "eat_pizza", throws: "there is no pizza left"},
	}},
	{"reservation.html", []row{
		{
			tool: "reserve_table", args: `{"guest":"Zoë","notes":"a quiet one"}`, want: `{"guest":"Zoë","notes":"by the window","confirmed":true}`,
			there: `document.forms[0].guest.value === "Zoë"`, person: `document.forms[0].notes.value = "by the window", document.querySelector("button").click()`,
		},
	}},
	{"doors.html", []row{
		{tool: "open_door_1", want: `[{"@context":"https://schema.org","@type":"Message","text":"You stand in a forest 🌲"}]`, moves: true},
		{tool: "leave_forest", want: `[]`, moves: true},
		{tool: "open_door_2", want: `[]`, moves: true},
	}},
	{"doors.html?again", []row{
		{tool: "open_door_3", want: `[{"@type":"Message","text":"It is dark"},{"@type":"Message","text":"An owl blinks"}]`, moves: true},
		{tool: "cast_light", want: `The owl blinks at the sudden light!`},
	}},
	{"coffee.html", []row{
		{tool: "order_history", want: `{"content":[{"type":"text","text":"2 orders"}],"structuredContent":{"orders":[{"id":"A-1","product":"Dark Roast"},{"id":"A-2","product":"Precision Burr"}]}}`},
		{tool: "reorder_product", args: `{"id":"A-2"}`, want: `{"content":[{"type":"text","text":"Added A-2 to the cart"}],"isError":false}`},
		{tool: "cancel_order", args: `{"id":"A-1"}`, want: `{"content":[{"type":"text","text":"Order A-1 has been shipped"}],"isError":true}`},
		// The tool returns before the browser has the next document.
		{tool: "search_catalog", want: `undefined`, hub: `[{"@context":"https://schema.org","@type":"Message","text":"You stand in a forest 🌲"}]`, moves: true},
	}},
	{"dashboard.html", []row{
		{tool: "run_query", args: `{"rows":2}`, want: `[{"id":0,"region":"EMEA","revenue":0},{"id":1,"region":"EMEA","revenue":1.5}]`},
		{tool: "export_report", args: `{"chars":3000000}`, want: strings.Repeat("x", 3_000_000)},
		{tool: "draw_chart", want: `{"content":[{"type":"text","text":"Revenue"},{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}]}`},
		{tool: "play_alert", want: `{"content":[{"type":"audio","mimeType":"audio/wav","data":"UklGRg=="}]}`},
	}},
	{"shop.html", []row{
		{tool: "find_product", want: `{"content":[{"type":"resource_link","uri":"https://shop.example/p/1","name":"Shoes","mimeType":"text/html"},{"type":"resource","resource":{"uri":"https://shop.example/p/1.txt","mimeType":"text/plain","text":"Shoes, red"}}]}`},
		{tool: "cart_note", want: `{"content":[{"type":"text","text":"for the user","annotations":{"audience":["user"],"priority":0.5}}]}`},
		{tool: "empty_cart", want: `{"content":[]}`},
		{tool: "cart_content", want: `{"content":"2 shoes","count":2}`},
		{tool: "cart_total", want: `{"content":[{"type":"text","text":"99 €"}],"structuredContent":{"total":99,"currency":"EUR"},"isError":false}`},
		{tool: "check_out", want: `undefined`},
	}},
	{"values.html", []row{
		{tool: "empty_text", want: `Operation succeeded`},
		{tool: "number_text", want: `5`},
		{tool: "null_text", want: `null`},
		{tool: "quoted_text", want: `"quoted"`},
		{tool: "spaced_text", want: "  a \n\n b  "},
		{tool: "odd_text", want: "e\u0301 \u200d👩‍👩‍👧 \u2028 \ufeff \u202e x"},
		{tool: "not_a_number", want: `NaN`},
		{tool: "big_number", want: `1e+21`},
		{tool: "big_integer", want: `12345678901234567890`},
		{tool: "a_date", want: `"1970-01-01T00:00:00.000Z"`},
		{tool: "a_map", want: `{}`},
		{tool: "a_function", want: `undefined`},
		{tool: "a_circle", throws: "invocation failed"},
		{tool: "own_json", want: `{"made":"by toJSON"}`},
		{tool: "odd_keys", want: `{"__proto__":{"a":1},"constructor":2,"":3,"a b":[[[[]]]]}`},
		{tool: "nested_list", want: `[[],{},[null,null,null]]`},
	}},
	{"around.html?other=OTHER", []row{
		{tool: "near_place", want: `{"place":"a frame of the site"}`},
		{tool: "far_place", want: `{"place":"another site's frame"}`, frame: "frames[1]"},
	}},
}

// What a page's tool returns reaches an MCP client as the browser itself gives it to a caller:
// the same calls, in a browser without the extension and through the hub, have the same content.
//
// The browser answers with one text. One that is the JSON of an MCP result is the result. That
// of another object is the result's structuredContent, and its content as one block of text.
// Any other is that block, but for the data of a next document that has none. Of such a
// document the hub says besides where it is.
func TestSameAsTheBrowser(t *testing.T) {
	t.Parallel()
	files := http.FileServerFS(os.DirFS("testdata/native"))
	site, other := httptest.NewServer(files), httptest.NewServer(files)
	t.Cleanup(site.Close)
	t.Cleanup(other.Close)
	p := newPlace(t)
	c := p.stdio()
	withHub := p.browse()
	alone := chromium.Shared(t, chromium.Options{WebMCP: true})
	for _, in := range comparisons {
		t.Run(in.page, func(t *testing.T) {
			url := site.URL + "/" + strings.ReplaceAll(in.page, "OTHER", other.URL)
			native, shared := alone.Open(url), withHub.Open(url)
			defer native.Close()
			defer shared.Close()
			for _, r := range in.rows {
				if got, err := r.natively(native); (err != nil) != (r.throws != "") || !same(got, r.want) {
					t.Errorf("%s: the browser answers %s, %v, want %s", r.tool, clip(got), err, clip(r.want))
				}
				list := c.awaitTools(r.tool+" is listed", func(l tools) bool { return l.named("_"+r.tool) != "" })
				answer := c.begin("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, list.named("_"+r.tool), r.input()))
				r.act(shared)
				r.check(t, site.URL, c.wait(r.tool, answer))
			}
		})
	}
}

func (r row) input() string { return cmp.Or(r.args, "{}") }

// act does what the person in front of a tab does.
func (r row) act(p *chromium.Page) {
	if r.person == "" {
		return
	}
	p.WaitFor(r.there)
	p.Eval(r.person)
}

// natively calls the tool with the browser's API: a page's executeTool, or the interface of
// the browser's agent where no page can wait for the answer.
func (r row) natively(p *chromium.Page) (string, error) {
	if r.moves {
		return p.Invoke(r.tool, r.input())()
	}
	call := fmt.Sprintf(`document.modelContext.getTools().then((all) => document.modelContext.executeTool(all.find(({name}) => name === %q), %s))
		.then((text) => ({text}), (error) => ({error: String(error)}))`, r.tool, r.input())
	if r.frame != "" {
		call = fmt.Sprintf(`new Promise((done) => {
			onmessage = ({data}) => done(data);
			%s.postMessage(%q, "*");
		})`, r.frame, call)
	}
	p.Eval("void (window.answer = " + call + ")")
	r.act(p)
	var answer struct{ Text, Error string }
	p.Into("answer", &answer)
	if answer.Error != "" {
		return "", errors.New(answer.Error)
	}
	return answer.Text, nil
}

// check compares the hub's answer with the browser's.
func (r row) check(t *testing.T, site string, got answer) {
	t.Helper()
	if r.throws != "" {
		if got.outcome() != "TOOL_ERROR" || !strings.Contains(string(got.result), r.throws) {
			t.Errorf("%s: %s %s, want the error %q", r.tool, got.outcome(), clip(string(got.result)), r.throws)
		}
		return
	}
	result, ok := jsonValue(got.result).(map[string]any)
	if !ok {
		t.Errorf("%s: no result: %s", r.tool, got.err)
		return
	}
	if source := rawjson.Get(got.result, "_meta", "tabhub/source"); source == nil {
		t.Errorf("%s: the result does not say where it is from: %s", r.tool, clip(string(got.result)))
	}
	delete(result, "_meta")
	content, _ := result["content"].([]any)
	if r.moves {
		if len(content) == 0 || !strings.Contains(fmt.Sprint(content[len(content)-1]), "The page is now at "+site) {
			t.Errorf("%s: no word of where the page is: %s", r.tool, clip(string(got.result)))
			return
		}
		result["content"] = content[:len(content)-1]
	}
	if want := asResult(cmp.Or(r.hub, r.want)); !reflect.DeepEqual(result, want) {
		t.Errorf("%s: the hub answers %s, want %s", r.tool, clip(string(got.result)), clip(fmt.Sprint(want)))
	}
}

// asResult returns the MCP result for what the browser answers with.
func asResult(native string) map[string]any {
	if native == "[]" {
		return map[string]any{"content": []any{}}
	}
	text := []any{map[string]any{"type": "text", "text": native}}
	value, ok := jsonValue([]byte(native)).(map[string]any)
	if !ok {
		return map[string]any{"content": text}
	}
	if _, ok := value["content"].([]any); ok {
		return value
	}
	if structured, ok := value["structuredContent"].(map[string]any); ok {
		_, raw, _ := strings.Cut(strings.TrimSuffix(native, "}"), `"structuredContent":`)
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": raw}}, "structuredContent": structured}
	}
	return map[string]any{"content": text, "structuredContent": value}
}

// same tells whether two answers of the browser are one, which may write a list in two ways.
func same(a, b string) bool {
	list, ok := jsonValue([]byte(a)).([]any)
	return a == b || ok && reflect.DeepEqual(list, jsonValue([]byte(b)))
}

// jsonValue returns the value that JSON stands for, with its numbers as they are written; nil
// if it is no JSON.
func jsonValue(raw []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&value); err != nil || d.More() {
		return nil
	}
	return value
}
