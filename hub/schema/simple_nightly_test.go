//go:build nightly

package schema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Two implementations agree about schemas as most are, and arguments that are made to meet their edges.
func TestSimpleSchemasAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var c comparison
	for range 1500 {
		schema := `{"type":"object",` + randomSchema(r, 3)[1:]
		schema = strings.Replace(schema, ",}", "}", 1)
		var values []json.RawMessage
		for range 20 {
			values = append(values, json.RawMessage(randomValue(r, 3)))
		}
		c.agree(t, schema, values...)
	}
	if c.valid < 1000 || c.invalid < 1000 || c.refused > 500 {
		t.Errorf("%d valid, %d invalid, %d refused: too few to say anything", c.valid, c.invalid, c.refused)
	}
}

func randomSchema(r *rand.Rand, depth int) string {
	sub := func() string {
		if depth == 0 || r.IntN(8) == 0 {
			return pick(r, "true", "{}", `{"type":"string"}`, `{"type":["integer","null"]}`, `{"type":"number"}`)
		}
		return randomSchema(r, depth-1)
	}
	keyword := []func() string{
		func() string { return `"properties":{"a":` + sub() + `,"b":` + sub() + `}` },
		func() string { return `"properties":{"a":` + sub() + `}` },
		func() string { return `"required":` + pick(r, `["a"]`, `["a","b"]`, `["c"]`, `[]`) },
		func() string { return `"additionalProperties":` + pick(r, "false", sub()) },
		func() string { return `"items":` + sub() },
		func() string { return fmt.Sprintf(`"minItems":%d,"maxItems":%d`, r.IntN(2), r.IntN(3)) },
		func() string { return fmt.Sprintf(`"minLength":%d,"maxLength":%d`, r.IntN(2), r.IntN(3)) },
		func() string { return `"minimum":` + randomNumber(r) + `,"exclusiveMaximum":` + randomNumber(r) },
		func() string { return `"maximum":` + randomNumber(r) },
		func() string { return `"enum":[` + randomScalar(r) + `,` + randomScalar(r) + `,{"a":1}]` },
		func() string { return `"const":` + randomScalar(r) },
		func() string { return `"anyOf":[` + sub() + `,` + sub() + `]` },
		func() string { return `"allOf":[` + sub() + `]` },
		func() string { return `"description":"x","x-order":[1,2]` },
	}
	seen := map[string]bool{}
	var all []string
	for range 1 + r.IntN(3) {
		k := keyword[r.IntN(len(keyword))]()
		if name, _, _ := strings.Cut(k, ":"); !seen[name] {
			seen[name] = true
			all = append(all, k)
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}
