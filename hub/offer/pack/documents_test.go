package pack

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// What a document hides from its owner, or means otherwise to a browser than to the hub, must not come
// in. Each line of documents.json is a place in shop.json, what is put there, and how the error begins
// or what is in it.
func TestRefusedDocuments(t *testing.T) {
	for _, line := range vectors[[][3]any](t, "documents.json") {
		var doc any
		if err := json.Unmarshal(read(t, "shop.json"), &doc); err != nil {
			t.Fatal(err)
		}
		set(doc, strings.Split(line[0].(string), "."), line[1])
		text, _ := json.Marshal(doc)
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), line[2].(string)) {
			t.Errorf("%s = %v: %v, want %s", line[0], line[1], err, line[2])
		}
	}
}

// set puts a value at a place.
func set(doc any, path []string, value any) {
	for ; len(path) > 1; path = path[1:] {
		if i, err := strconv.Atoi(path[0]); err == nil {
			doc = doc.([]any)[i]
			continue
		}
		o := doc.(map[string]any)
		if o[path[0]] == nil {
			o[path[0]] = map[string]any{}
		}
		doc = o[path[0]]
	}
	if i, err := strconv.Atoi(path[0]); err == nil {
		doc.([]any)[i] = value
	} else {
		doc.(map[string]any)[path[0]] = value
	}
}

// JSON of one text that readers take for two things.
func TestRefusedText(t *testing.T) {
	shop := string(read(t, "shop.json"))
	for _, test := range []struct{ from, to, why string }{
		{`"path": "/api/search"`, `"path": "/api/search", "path": "/account/delete"`, "tools[0].steps[0].request.path: is there twice"},
		{`"path": "/api/search"`, `"path": "/api/search", "p\u0061th": "/account/delete"`, "request.path: is there twice"},
		{`"count": {"arg": "count"}`, `"count": 1, "count": {"arg": "count"}`, "json.count: is there twice"},
		{`"Tools of a shop"`, `"Tools \ud800 of a shop"`, "half of a surrogate pair"},
		{`"Tools of a shop"`, `"Tools"} {"a": 1`, "line 4, byte 21 of it: invalid JSON: unexpected data"},
		{`{"arg": "count"}`, `1e999`, "out of range"},
		{`{"arg": "count"}`, strings.Repeat("[", 100) + strings.Repeat("]", 100), "nested too deeply"},
		{`"Tools of a shop"`, `"` + strings.Repeat("a", 300<<10) + `"`, "title: is longer than 256 bytes"},
		{shop, ``, "invalid JSON"},
		{shop, `[]`, "it is no pack"},
		{shop, `{"name": "a"}`, "it is no pack"},
		{shop, strings.Repeat(" ", 2<<20), "it is larger than"},
	} {
		text := strings.Replace(shop, test.from, test.to, 1)
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%.80s: %v, want %s", test.to, err, test.why)
		}
	}
}

// A tool with many steps hides one among them, and holds the tab.
func TestBoundsOfSteps(t *testing.T) {
	for _, test := range []struct {
		n    int
		step string
		why  string
	}{
		{17, `{"click": {"target": {"role": "button"}}}`, "more than 16 of them act"},
		{65, `{"wait": {"gone": {"role": "button"}}, "timeout": 1}`, "more than 64"},
		{6, `{"wait": {"gone": {"role": "button"}}, "timeout": 60}`, "more than 300 seconds together"},
	} {
		steps := strings.Repeat(","+test.step, test.n)[1:]
		text := `{"tabhubPack": 1, "name": "a", "match": ["https://a.example/*"], "tools": [{"name": "b", "description": "c", "steps": [` + steps + `]}]}`
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%d of %s: %v", test.n, test.step, err)
		}
	}
}

// Whatever a file holds, the hub stays up; and what the owner has accepted is what is read later.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"shop.json", "flows.json", "script.json"} {
		f.Add(read(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(p.Text())
		if err != nil || string(again.Text()) != string(p.Text()) || again.Hash != p.Hash {
			t.Fatalf("%v: read again, the document is another:\n%s\n%s", err, p.Text(), again.Text())
		}
		if !reflect.DeepEqual(p.Words(), again.Words()) {
			t.Fatalf("%q\n%q", p.Words(), again.Words())
		}
		for _, line := range p.Words() {
			if strings.ContainsAny(line, "\n\r\x1b\u202e") {
				t.Fatalf("the words hold %q", line)
			}
		}
		for _, tool := range p.AllTools() {
			tool.Words(json.RawMessage(`{"query":"a","id":[1]}`))
		}
		if d := Diff(p, again); len(d) != 1 || ActsMore(p, again) {
			t.Fatalf("it differs from itself: %v", d)
		}
	})
}
