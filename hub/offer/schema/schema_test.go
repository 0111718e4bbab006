package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const cart = `{"type":"object","properties":{"productId":{"type":"string","description":"The product"},"quantity":{"type":"integer","minimum":1,"maximum":99},"gift":{"type":"boolean","default":false}},"required":["productId"],"additionalProperties":false}`

func mustCompile(t testing.TB, raw string) *Schema {
	t.Helper()
	var c Cache
	s, err := c.Compile(json.RawMessage(raw))
	if err != nil {
		t.Fatalf("Compile(%.200s): %v", raw, err)
	}
	return s
}

func TestCheck(t *testing.T) {
	const wrap = `{"type":"object","properties":{"x":%s}}`
	for _, c := range []struct{ schema, args, want string }{
		{cart, `{"productId":"a","quantity":3,"gift":true}`, ""},
		{cart, ` { "productId" : "a" } `, ""},
		{cart, `{"productId":"a","quantity":3.0}`, ""},
		{cart, `{"quantity":"2"}`, `/productId: is required; /quantity: must be integer, got string`},
		{cart, `{"productId":"a","quantity":0}`, `/quantity: must be at least 1, got 0`},
		{cart, `{"productId":"a","quantity":1.5}`, `/quantity: must be integer, got number`},
		{cart, `{"productId":"a","qty":1}`, `/qty: is not a known member; known are gift, productId, quantity`},
		{cart, `{"productId":null}`, `/productId: must be string, got null`},
		{cart, `[]`, `arguments: must be object, got array`},
		{cart, ``, `/productId: is required`},
		{`{"required":["a"]}`, ` {}`, `/a: is required`},
		{`true`, `{"a":1}`, ""},
		{`{}`, `{"a":1}`, ""},
		{`{"type":"object"}`, ``, ""},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":1}`, `/a: must be string, got number`},
		{`{"type":"object","required":["a~/b"]}`, `{}`, `/a~0~1b: is required`},
		{fmt.Sprintf(wrap, `{"enum":["red","green",3]}`), `{"x":"blue"}`, `/x: must be one of "red", "green", 3, got "blue"`},
		{fmt.Sprintf(wrap, `{"enum":["red",3]}`), `{"x":3.0}`, ""},
		{fmt.Sprintf(wrap, `{"enum":["é"]}`), `{"x":"\u00e9"}`, ""},
		{fmt.Sprintf(wrap, `{"const":"a"}`), `{"x":"b"}`, `/x: must be "a", got "b"`},
		{fmt.Sprintf(wrap, `{"const":{"a":[1]}}`), `{"x":{"a":[1.0]}}`, ""},
		{fmt.Sprintf(wrap, `{"type":"string","minLength":2,"maxLength":3}`), `{"x":"漢"}`, `/x: must have at least 2 characters, has 1`},
		{fmt.Sprintf(wrap, `{"type":"string","maxLength":3}`), `{"x":"\u00e9\u00e9\u00e9"}`, ""},
		{fmt.Sprintf(wrap, `{"type":"array","items":{"type":"integer"},"maxItems":2}`), `{"x":[1,"2",3]}`, `/x/1: must be integer, got string; /x: must have at most 2 items, has 3`},
		{fmt.Sprintf(wrap, `{"type":"string","pattern":"^[a-z]+$"}`), `{"x":"A"}`, `/x: must match the pattern ^[a-z]+$, got "A"`},
		{fmt.Sprintf(wrap, `{"type":"string","pattern":"^(?!a)"}`), `{"x":"anything"}`, ""}, // lookahead: the page checks
		{fmt.Sprintf(wrap, `{"pattern":"^[\\u4e00-\\u9fa5]$"}`), `{"x":"a"}`, `/x: must match the pattern ^[\u4e00-\u9fa5]$, got "a"`},
		{fmt.Sprintf(wrap, `{"type":"array","uniqueItems":true}`), `{"x":[1,2,1.0]}`, `/x: must not repeat an item, items 0 and 2 are equal`},
		{fmt.Sprintf(wrap, `{"oneOf":[{"type":"integer"},{"minimum":2}]}`), `{"x":3}`, `/x: must fit exactly one alternative, fits the 1. and the 2.`},
		{fmt.Sprintf(wrap, `{"not":{"type":"string"}}`), `{"x":"a"}`, `/x: is what its schema excludes`},
		{fmt.Sprintf(wrap, `{"contains":{"type":"string"},"maxContains":1}`), `{"x":["a","b"]}`, `/x: must have at most 1 matching item, has 2`},
		{`{"type":"object","propertyNames":{"pattern":"^[a-z]+$"}}`, `{"A":1}`, `/A: is not an allowed name: must match the pattern ^[a-z]+$, got "A"`},
		{`{"type":"object","dependentRequired":{"a":["b"]}}`, `{"a":1}`, `/b: is required together with "a"`},
		{`{"type":"object","minProperties":1}`, `{}`, `arguments: must have at least 1 member, has 0`},
		// What fits a schema of which a part is the page's to check may not fit it there.
		{fmt.Sprintf(wrap, `{"not":{"pattern":"^(?=a)"}}`), `{"x":"b"}`, ""},
		{`{"type":"object","properties":{"x":{"not":{"$ref":"#/$defs/p"}},"y":{"not":{"required":["a"]}}},"$defs":{"p":{"pattern":"^(?=a)"}}}`, `{"x":"b","y":{"a":1}}`, `/y: is what its schema excludes`},
		{fmt.Sprintf(wrap, `{"if":{"pattern":"^(?=a)"},"then":{"minLength":9},"else":{"maxLength":0}}`), `{"x":"b"}`, ""},
		{fmt.Sprintf(wrap, `{"oneOf":[{"pattern":"^(?=a)"},{"pattern":"^b"}],"allOf":[{"maxLength":5}]}`), `{"x":"b"}`, ""},
		{fmt.Sprintf(wrap, `{"contains":{"unevaluatedItems":false},"maxContains":1}`), `{"x":["a","b"]}`, ""},
		{`{"type":"object","patternProperties":{"^(?!a)":{"type":"string"}},"additionalProperties":false}`, `{"b":1}`, ""},
		{fmt.Sprintf(wrap, `{"oneOf":[{"pattern":"^(?=a)","maxLength":1},{"pattern":"^b"}]}`), `{"x":"cc"}`, `/x: fits none of 2 alternatives; nearest: /x: must have at most 1 character, has 2`},
		{fmt.Sprintf(wrap, `{"pattern":"^\\p{Letter}\\d\\.\\/\\\\$"}`), `{"x":"é1./\\"}`, ""},
		{fmt.Sprintf(wrap, `{"type":"string","format":"email"}`), `{"x":"no"}`, ""},
		{fmt.Sprintf(wrap, `{"anyOf":[{"type":"string"},{"type":"null"}]}`), `{"x":1}`, `/x: must be null or string, got number`},
		{fmt.Sprintf(wrap, `{"anyOf":[{"const":"a"},{"const":"b"}]}`), `{"x":"c"}`, `/x: must be one of "a", "b", got "c"`},
		{fmt.Sprintf(wrap, `{"oneOf":[{"properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"]},{"properties":{"kind":{"const":"square"},"a":{"type":"number"}},"required":["kind","a"]}]}`), `{"x":{"kind":"square"}}`, `/x: fits none of 2 alternatives; nearest: /x/a: is required`},
		{`{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"v":{"type":"integer"}}}}}`, `{"n":{"next":{"next":{"v":"x"}}}}`, `/n/next/next/v: must be integer, got string`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/T","definitions":{"T":{"type":"object","required":["a"]}}}`, `{}`, `/a: is required`},
		{`{"$id":"https://example.com/cart.json","$anchor":"x","properties":{"x":{"$ref":"#x"}},"type":"object","allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"required":["a"]}}}`, `{}`, `/a: is required`},
		{`{"$schema":"https://example.com/my-own","type":"object","required":["a"],"not":{"required":["b"]}}`, `{}`, `/a: is required`},
		// What is wrong checks nothing, and the rest is checked.
		{`{"properties":{"a":{"type":"int"},"b":{"type":"any","minLength":2}},"required":["a"],"minProperties":-1,"additionalProperties":7}`, `{"a":"x","c":1}`, `/a: must be integer, got string`},
		{`{"properties":{"a":{"type":"string","required":true}}}`, `{}`, `/a: is required`},
		{fmt.Sprintf(wrap, `{"minimum":1,"exclusiveMinimum":true}`), `{"x":1}`, `/x: must be more than 1, got 1`},
		{fmt.Sprintf(wrap, `{"$ref":"#/none","maxLength":1}`), `{"x":"ab"}`, `/x: must have at most 1 character, has 2`},
		{fmt.Sprintf(wrap, `{"not":5,"anyOf":[],"enum":[],"const":1e999999}`), `{"x":1}`, ""},
		{fmt.Sprintf(wrap, `{"not":{"type":"none of it"}}`), `{"x":1}`, ""},
		{`{"type":"string","properties":{"a":{"type":"string"}}}`, `{"a":1}`, `/a: must be string, got number`},
		{`{"allOf":[{"$ref":"#"}],"required":["a"]}`, `{}`, `/a: is required`},
		{`{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"if":{"$ref":"#/$defs/b"},"then":{"maxLength":1}},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, `{"x":"ab"}`, ""},
		// Integers that a float64 does not hold.
		{fmt.Sprintf(wrap, `{"type":"integer","maximum":9007199254740993}`), `{"x":9007199254740993}`, ""},
		{fmt.Sprintf(wrap, `{"type":"integer","maximum":9007199254740993}`), `{"x":9007199254740994}`, `/x: must be at most 9007199254740993, got 9007199254740994`},
		{fmt.Sprintf(wrap, `{"const":9007199254740993}`), `{"x":9007199254740992}`, `/x: must be 9007199254740993, got 9007199254740992`},
		{fmt.Sprintf(wrap, `{"type":"integer"}`), `{"x":123456789012345678901234567890}`, ""},
		{fmt.Sprintf(wrap, `{"minimum":0.1}`), `{"x":0.09999999999999999999}`, `/x: must be at least 0.1, got 0.09999999999999999999`},
		{fmt.Sprintf(wrap, `{"minimum":1}`), `{"x":1e999999999}`, `arguments: has a number that is out of any range`},
		{fmt.Sprintf(wrap, `{"multipleOf":0.01}`), `{"x":19.99}`, ""},
		{`{"type":"object","required":["a","b","c","d","e","f","g"]}`, `{}`, `/a: is required; /b: is required; /c: is required; /d: is required; /e: is required; and 2 more`},
		{`{"type":"object","required":["a"],"properties":{"a":{"type":"object","required":["b"],"properties":{"b":{}}}}}`, `{"a":{"b":null},"a":{}}`, `/a/b: is required`},
	} {
		err := mustCompile(t, c.schema).Check(json.RawMessage(c.args))
		switch v, ok := errors.AsType[*Violations](err); {
		case c.want == "" && err != nil:
			t.Errorf("%s\n%s\n got %v, want it to be valid", c.schema, c.args, err)
		case c.want != "" && (!ok || v.Error() != c.want && sortedWords(v.Error()) != sortedWords(c.want)):
			t.Errorf("%s\n%s\n got %v\nwant %s", c.schema, c.args, err, c.want)
		}
	}
}

func sortedWords(s string) string {
	parts := strings.Split(s, "; ")
	if len(parts) == 2 && parts[0] > parts[1] {
		parts[0], parts[1] = parts[1], parts[0]
	}
	return strings.Join(parts, "; ")
}

// A schema that would take too much memory or work is refused; what else is wrong with one costs
// it that part alone, see TestNotes.
func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"type":"object"`, "unexpected end"},
		{`null`, "must be an object"},
		{`"object"`, "must be an object"},
		{`false`, "no call"},
		{`{"type":"object","properties":{` + strings.Repeat(`"a":{},`, 20_000) + `"b":{}}}`, "longer than"},
		{`{"type":"object","properties":{"a":` + strings.Repeat(`{"items":`, 40) + `{}` + strings.Repeat(`}`, 40) + `}}`, "nested too deeply"},
		{`{"type":"object","oneOf":[` + strings.Repeat(`{"required":["a"]},`, 1500) + `{}]}`, "more than 1000 objects"},
	} {
		var cache Cache
		s, err := cache.Compile(json.RawMessage(c.schema))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Compile(%.200s) = %v, %v; want %q", c.schema, s, err, c.want)
		}
	}
}

// bomb is a schema whose n definitions each refer twice to the next.
func bomb(n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{}}}`, n)
	return b.String()
}

// A schema that multiplies with the depth of the arguments must not stop the hub;
// with arguments as one sees them it is checked.
func TestRecursionIsBounded(t *testing.T) {
	s := mustCompile(t, `{"type":"object","allOf":[{"$ref":"#/$defs/t"}],"$defs":{"t":{"properties":{"v":{"type":"integer"}},"allOf":[{"properties":{"a":{"$ref":"#/$defs/t"}}},{"properties":{"a":{"$ref":"#/$defs/t"}}}]}}}`)
	if err := s.Check(json.RawMessage(`{"a":{"a":{"v":"x"}}}`)); err == nil || err.Error() != "/a/a/v: must be integer, got string" {
		t.Errorf("shallow: %v", err)
	}
	for _, v := range []string{`1`, `"x"`} {
		deep := strings.Repeat(`{"a":`, 60) + `{"v":` + v + `}` + strings.Repeat(`}`, 60)
		if err := s.Check(json.RawMessage(deep)); err != nil {
			t.Errorf("deep, %s: %v", v, err)
		}
	}
	if err := mustCompile(t, bomb(40)).Check(json.RawMessage(`{}`)); err != nil {
		t.Errorf("references that multiply: %v", err)
	}
}

// The page of a schema decides neither how much memory the schemas take, nor for how long.
func TestCacheIsBounded(t *testing.T) {
	var c Cache
	first, err := c.Compile(json.RawMessage(cart))
	if err != nil {
		t.Fatal(err)
	}
	large := func(i int) json.RawMessage {
		var b strings.Builder
		for n := range 900 {
			fmt.Fprintf(&b, `"a%d":{"enum":["b"]},`, n)
		}
		return json.RawMessage(fmt.Sprintf(`{"title":"%d","properties":{%s"z":{}}}`, i, b.String()))
	}
	for i := range 30 {
		if _, err := c.Compile(large(i)); err != nil {
			t.Fatal(err)
		}
		if s, err := c.Compile(json.RawMessage(cart)); err != nil || s != first {
			t.Fatalf("a schema that is in use was compiled again: %v", err)
		}
		size := 0
		for _, all := range []map[string]*Schema{c.new, c.old} {
			for _, s := range all {
				size += s.size
			}
		}
		if size > maxCached {
			t.Fatalf("%d bytes are taken", size)
		}
	}
	if len(c.new)+len(c.old) >= 31 || c.new[string(large(0))] != nil || c.new[string(large(29))] == nil {
		t.Errorf("%d and %d schemas are there", len(c.new), len(c.old))
	}
}
