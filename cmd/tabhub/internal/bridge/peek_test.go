package bridge

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestPeek(t *testing.T) {
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
		m := peek([]byte(c.line))
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

func FuzzPeek(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"a\\b","params":[{"x":"\""}]}`))
	f.Add([]byte(`[{"id":1},2,"\\"]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m := peek(line)
		elements(line, func([]byte) {})
		if !json.Valid(line) {
			return
		}
		dec := json.NewDecoder(bytes.NewReader(line))
		if tok, _ := dec.Token(); tok != json.Delim('{') {
			return
		}
		for dec.More() {
			key, _ := dec.Token()
			var raw json.RawMessage
			dec.Decode(&raw)
			if key == "id" && isID(raw) && bytes.Contains(line, []byte(`"id"`)) {
				if m.id == nil && m.method == nil && !m.response {
					t.Fatalf("%q: the id %s was not found", line, raw)
				}
				return
			}
		}
	})
}
