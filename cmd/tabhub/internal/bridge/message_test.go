package bridge

import (
	"bytes"
	"encoding/json"
	"testing"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

func TestParseMessage(t *testing.T) {
	for _, c := range []struct {
		line, id, method string
		response         bool
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"id":2}}`, `1`, `tools/call`, false},
		{`{"method":"tools/call","params":{"id":2,"s":"a\"}{","t":["]","\\"]},"jsonrpc":"2.0","id":"a\"b"}`, `"a\"b"`, `tools/call`, false},
		{`{"jsonrpc":"2.0","id":-1.5e3,"result":{"method":"x"}}`, `-1.5e3`, ``, true},
		{`{"result":{"id":9,"method":"x"},"id":"7"}`, `"7"`, ``, true},
		{`{"jsonrpc":"2.0","id":null,"error":{}}`, ``, ``, true},
		{`{"jsonrpc":"2.0","id":{},"method":"x"}`, ``, `x`, false},
		{` { "jsonrpc" : "2.0" , "method" : "notifications/initialized" } `, ``, `notifications/initialized`, false},
		{`{"method":"tools\/call","id":1}`, `1`, `tools/call`, false},
		{`{}`, ``, ``, false},
		{`[]`, ``, ``, false},
		{``, ``, ``, false},
		{`{"id":`, ``, ``, false},
		{`{"id":"\`, `"\`, ``, false},
		{`{"id`, ``, ``, false},
		{`{"method":"`, ``, ``, false},
		{`{"a":{`, ``, ``, false},
		{`{"id":1 "method":"x"}`, `1`, ``, false},
	} {
		m := parseMessage([]byte(c.line))
		if string(m.id) != c.id || string(m.method) != c.method || m.response != c.response {
			t.Errorf("%s: id %s, method %s, response %t", c.line, m.id, m.method, m.response)
		}
	}
}

func TestElements(t *testing.T) {
	for line, want := range map[string][]string{
		`[{"id":1}, {"id":2,"a":"],["} ]`: {`{"id":1}`, `{"id":2,"a":"],["}`},
		`[]`:                              nil,
		`[[{"id":1}],2,{"id":2}]`:         {`{"id":2}`},
	} {
		var got []string
		if !elements([]byte(line), func(e []byte) { got = append(got, string(e)) }) || len(got) != len(want) {
			t.Errorf("%s: %q", line, got)
		}
	}
	if elements([]byte(`{}`), func([]byte) {}) {
		t.Error("an object passes for a batch")
	}
}

// A line of nothing but brackets takes no longer than another of its length.
func TestDeepLine(t *testing.T) {
	line := bytes.Repeat([]byte("["), 10<<20)
	s := newSession()
	s.fromClient(line)
	if len(s.pending) > 0 {
		t.Errorf("%d requests in a line without one", len(s.pending))
	}
}

// Whatever a client or a hub sends, parseMessage returns, and of what is a message it
// says what the hub will say.
func FuzzParseMessage(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a\"b","method":"tools\/call","params":{"id":2,"s":"a\"}{"}}`))
	f.Add([]byte(`{"result":{"id":9},"id":-1.5e3}`))
	f.Add([]byte(`[{"id":1,"method":"x"},5,[{"id":2}]]`))
	f.Add([]byte(`{"id`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"a\\b","params":[{"x":"\""}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m := parseMessage(line)
		n := 0
		elements(line, func(element []byte) { n += len(element) })
		if n > len(line) {
			t.Fatalf("elements of %d bytes in %d", n, len(line))
		}
		var want struct{ id, method, result, failure json.RawMessage }
		times := make(map[string]int)
		err := rawjson.Object(line, spec.MaxDepth, func(key string, value json.RawMessage) error {
			times[key]++
			switch key {
			case "id":
				want.id = value
			case "method":
				want.method = value
			case "result":
				want.result = value
			case "error":
				want.failure = value
			}
			return nil
		})
		if err != nil || bytes.Contains(line, []byte(`\u`)) || times["id"] > 1 || times["method"] > 1 {
			return
		}
		switch {
		case want.result != nil || want.failure != nil: // whose method does not matter
			if !m.response && m.method == nil {
				t.Errorf("%q is a response", line)
			}
		case want.method != nil && want.method[0] == '"':
			if s, _ := rawjson.String(want.method); s != string(m.method) {
				t.Errorf("%q: method %q, want %q", line, m.method, s)
			}
		}
		if isID(want.id) && !bytes.Equal(m.id, want.id) {
			t.Errorf("%q: id %s, want %s", line, m.id, want.id)
		}
	})
}
