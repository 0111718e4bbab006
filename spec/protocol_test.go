package spec_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tabhub/spec"
)

// The protocol document must show every message, and the published schema must
// accept each of its frames. That the hub behaves as the document says is tested
// where the hub's server is.
func TestProtocolDocumentFitsTheSchema(t *testing.T) {
	doc, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile("schema/tabhub.v1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, block := range regexp.MustCompile("(?ms)^```transcript\n(.*?)^```").FindAllStringSubmatch(string(doc), -1) {
		for line := range strings.Lines(block[1]) {
			direction, frame, _ := strings.Cut(strings.TrimSpace(line), " ")
			if direction != ">" && direction != "<" {
				continue
			}
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(frame))
			if err != nil {
				t.Errorf("%s\n%v", frame, err)
				continue
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s\n%v", frame, err)
			}
			if method, ok := v.(map[string]any)["method"].(string); ok {
				shown[method] = true
			}
		}
	}
	for _, m := range spec.MessageTypes() {
		if !shown[m.Method] {
			t.Errorf("PROTOCOL.md has no example of %s", m.Method)
		}
		if !strings.Contains(string(doc), "`"+m.Method+"`") {
			t.Errorf("PROTOCOL.md does not describe %s", m.Method)
		}
	}
}

// The schema must reject the messages that the hub rejects.
func TestSchemaRefusesWhatTheHubRefuses(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("schema/tabhub.v1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, frame := range []string{
		`{"jsonrpc":"2.0","method":"browser/hello","id":1}`,
		`{"jsonrpc":"2.0","method":"browser/hello","id":1,"params":{}}`,
		`{"jsonrpc":"2.0","method":"browser/hello","id":1,"params":{"protocolVersion":"tabhub.v1","tabKey":"ü"}}`,
		`{"jsonrpc":"2.0","method":"browser/hello","id":null,"params":{"protocolVersion":"tabhub.v1"}}`,
		`{"jsonrpc":"2.0","method":"browser/registerTools","params":{}}`,
		`{"jsonrpc":"2.0","method":"browser/registerTools","params":{"tools":{}}}`,
		`{"jsonrpc":"2.0","method":"browser/tabState","params":{"active":"yes"}}`,
		`{"jsonrpc":"2.0","method":"browser/progress","params":{"progress":1}}`,
		`{"jsonrpc":"2.0","method":"browser/progress","params":{"requestId":"r","progress":1,"continues":1}}`,
		`{"jsonrpc":"2.0","method":"browser/teleport"}`,
		`{"method":"browser/tabClosed"}`,
		`{"jsonrpc":"2.0","id":"x"}`,
		`{"jsonrpc":"2.0","id":"x","result":{},"error":{"code":1,"message":"m"}}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(frame), &v); err != nil {
			t.Fatal(err)
		}
		if schema.Validate(v) == nil {
			t.Errorf("the schema accepts %s", frame)
		}
	}
}
