package pack

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/jmespath/go-jmespath"
)

// The hub puts in words what the browser evaluates: both must read a value, a path and an expression
// alike. tabtransport/extension/content/steps has the browser's test of the same file.
func TestValues(t *testing.T) {
	v := vectors[struct {
		Args, Values map[string]any
		Bodies       []struct{ Value json.RawMessage }
		Paths        []struct {
			Path    string
			Refused bool
		}
		Queries []struct {
			Query   string
			Gives   any
			Refused bool
		}
	}](t, "values.json")
	c := &checker{tool: &Tool{Pack: &Pack{}}, args: map[string]bool{"absent": true}}
	data := map[string]any{"args": v.Args}
	for name := range v.Args {
		c.args[name] = true
	}
	c.known = []string{"missing"}
	for name, value := range v.Values {
		data[name] = value
		c.known = append(c.known, name)
	}
	c.tool.Pack.match, _ = patterns("match", []string{"https://shop.example.com/*"})
	for _, b := range v.Bodies {
		if err := c.body("json", b.Value); err != nil {
			t.Errorf("%s: %v", b.Value, err)
		}
	}
	for _, p := range v.Paths {
		if err := c.path("path", p.Path); err != nil {
			t.Errorf("%s: %v", p.Path, err) // the browser refuses the arguments
		}
	}
	for _, q := range v.Queries {
		err := c.query("result", q.Query)
		if (err != nil) != q.Refused {
			t.Errorf("%s: %v", q.Query, err)
		}
		if err != nil {
			continue
		}
		if got, err := jmespath.Search(q.Query, data); err != nil || !reflect.DeepEqual(got, q.Gives) {
			t.Errorf("%s gives %v, %v; want %v", q.Query, got, err, q.Gives)
		}
	}
}
