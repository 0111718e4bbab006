package item

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tabhub/describe"
	"tabhub/hub/offer/schema"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// FuzzResult: whatever JSON a page answers with, a client of the official SDKs takes what the hub
// makes of it, or gets an error, and finds in it each text of the page's.
func FuzzResult(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(randomResult(rand.New(rand.NewPCG(seed, 1))))
	}
	items, validate := fuzzedItems(f), validators(f)
	f.Fuzz(func(t *testing.T, result string) {
		if rawjson.Valid([]byte(result), spec.MaxDepth) != nil {
			return
		}
		checkResult(t, items, validate, result)
	})
}

// fuzzedItems are a tool without an outputSchema and one with it.
func fuzzedItems(t testing.TB) (items []*Item) {
	for _, schemas := range []string{``, `,"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`} {
		it, err := Parse(spec.KindTool, json.RawMessage(`{"name":"n"`+schemas+`}`), new(schema.Cache), func(Claim) (Provenance, error) {
			return Provenance{Domain: "e.com", Origin: "https://e.com", Verified: true}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	return items
}

// checkResult checks what is made of a result of a tool, a resource and a prompt.
func checkResult(t *testing.T, items []*Item, validate func(string, []byte) error, result string) {
	t.Helper()
	resp := spec.Response{Result: json.RawMessage(result)}
	check := func(def string, got json.RawMessage) {
		t.Helper()
		if rawjson.Valid(got, spec.MaxDepth+8) != nil || len(rawjson.WellFormed(got)) != len(got) || &rawjson.WellFormed(got)[0] != &got[0] {
			t.Fatalf("%s: %s\nbecomes %s, which is no JSON in Unicode", def, result, got)
		}
		if err := validate(def, got); err != nil {
			t.Fatalf("%s: %s\nbecomes %s: %v", def, result, got, err)
		}
		if lost := lostText(result, string(got)); lost != "" {
			t.Fatalf("%s: %s\nbecomes %s, where %q is lost", def, result, got, lost)
		}
	}
	for _, failed := range []bool{false, true} {
		resp.Failed = failed
		for _, it := range items {
			got, _ := it.ToolResult(resp, "")
			check("tool", got)
			if err := outputFits(it, got); err != nil {
				t.Fatalf("%s\nbecomes %s: %v", result, got, err)
			}
		}
	}
	resp.Failed = false
	if got, _, err := items[0].ResourceResult(resp, "p:1", "tabhub://e.com/p:1"); err == nil {
		check("resource", got)
	} else if lost := lostText(result, answerIn(err)); lost != "" {
		t.Fatalf("a resource's result %s\nis the error %v, where %q is lost", result, err, lost)
	}
	if got, _, err := items[0].PromptResult(resp); err == nil {
		check("prompt", got)
	} else if lost := lostText(result, answerIn(err)); lost != "" {
		t.Fatalf("a prompt's result %s\nis the error %v, where %q is lost", result, err, lost)
	}
}

// answerIn is the page's answer that an error says.
func answerIn(err error) string {
	_, answer, _ := strings.Cut(err.Error(), ": ")
	return answer
}

// lostText returns a text of result, in a place where texts are the page's own, that said does
// not hold in any form, as it is or in JSON in a string.
func lostText(result, said string) string {
	var all, kept []string
	collect(json.RawMessage(result), "", &all)
	words(json.RawMessage(said), &kept)
	heap := said + "\n" + strings.Join(kept, "\n")
	for _, s := range all {
		quoted := string(rawjson.AppendString(nil, s))
		clean := describe.CleanLines(s, math.MaxInt) // as errors have it
		if !strings.Contains(heap, s) && !strings.Contains(heap, clean) && !strings.Contains(heap, quoted[1:len(quoted)-1]) {
			return s
		}
	}
	return ""
}

// protocolMembers hold no text of the page's, or one that only fits as it has to.
var protocolMembers = []string{"_meta", "icons", "annotations", "type", "role", "uri", "mimeType", "size", "data", "blob", "source", "resultType", "inputRequests", "isError", "ttlMs", "cacheScope"}

// collect appends the texts of 12 bytes or more that v holds.
func collect(v json.RawMessage, key string, all *[]string) {
	if v = rawjson.Get(v); len(v) == 0 || slices.Contains(protocolMembers, key) {
		return
	}
	switch v[0] {
	case '"':
		if s, _ := rawjson.String(rawjson.WellFormed(v)); len(s) >= 12 {
			*all = append(*all, s)
		}
	case '[':
		for e := range rawjson.Elements(v) {
			collect(e, "", all)
		}
	case '{':
		last := map[string]json.RawMessage{} // of a name that is given twice the last one counts
		for key, e := range rawjson.Members(v) {
			last[key] = e
		}
		for key, e := range last {
			collect(e, key, all)
		}
	}
}

// words appends all strings of v, and those of the JSON in them.
func words(v json.RawMessage, all *[]string) {
	if rawjson.Valid(v, spec.MaxDepth+8) != nil {
		return
	}
	v = rawjson.Get(v)
	if s, ok := rawjson.String(v); ok {
		*all = append(*all, s)
		if strings.ContainsAny(s, `"`) {
			words(json.RawMessage(s), all)
			if _, after, ok := strings.Cut(s, "\n"); ok { // after a note of the hub
				words(json.RawMessage(after), all)
			}
		}
	}
	for e := range rawjson.Elements(v) {
		words(e, all)
	}
	for key, e := range rawjson.Members(v) {
		*all = append(*all, key)
		words(e, all)
	}
}

// results are what the SDKs for TypeScript take, of each revision, and what is as strict of
// Python's.
const results = `{"$defs":{
	"meta": {"type":"object","properties":{"_meta":{"type":"object"}}},
	"asks": {"required":["resultType"],"properties":{"resultType":{"const":"input_required"}},
		"anyOf":[{"required":["requestState"]},{"required":["inputRequests"],"properties":{"inputRequests":{"type":"object"}}}]},
	"annotations": {"type":"object","properties":{"priority":{"type":"number","minimum":0,"maximum":1},"lastModified":{"format":"time"},
		"audience":{"type":"array","items":{"enum":["user","assistant"]}}}},
	"image": {"required":["mimeType"],"anyOf":[
		{"properties":{"mimeType":{"const":"image/png"},"data":{"pattern":"^iVBORw0KGgo"},"blob":{"pattern":"^iVBORw0KGgo"}}},
		{"properties":{"mimeType":{"const":"image/jpeg"},"data":{"pattern":"^/9j/"},"blob":{"pattern":"^/9j/"}}},
		{"properties":{"mimeType":{"const":"image/gif"},"data":{"pattern":"^R0lGOD"},"blob":{"pattern":"^R0lGOD"}}},
		{"properties":{"mimeType":{"const":"image/webp"},"data":{"pattern":"^UklGR"},"blob":{"pattern":"^UklGR"}}}]},
	"contents": {"allOf":[{"$ref":"#/$defs/meta"}],"required":["uri"],"properties":{"uri":{"type":"string","format":"URI"},"mimeType":{"type":"string"}},
		"anyOf":[{"required":["text"],"properties":{"text":{"type":"string"}}},{"required":["blob"],"properties":{"blob":{"type":"string","format":"base64"}},
			"anyOf":[{"$ref":"#/$defs/image"},{"not":{"required":["mimeType"],"properties":{"mimeType":{"enum":["image/png","image/jpeg","image/gif","image/webp"]}}}}]}]},
	"block": {"allOf":[{"$ref":"#/$defs/meta"}],"required":["type"],"properties":{"annotations":{"$ref":"#/$defs/annotations"}},"oneOf":[
		{"required":["text"],"properties":{"type":{"const":"text"},"text":{"type":"string"}}},
		{"required":["data","mimeType"],"properties":{"type":{"enum":["image","audio"]},"data":{"type":"string","minLength":1,"format":"base64"},"mimeType":{"type":"string"}},
			"anyOf":[{"properties":{"type":{"const":"audio"}}},{"$ref":"#/$defs/image"}]},
		{"required":["resource"],"properties":{"type":{"const":"resource"},"resource":{"$ref":"#/$defs/contents"}}},
		{"required":["uri","name"],"properties":{"type":{"const":"resource_link"},"uri":{"type":"string","format":"URI"},"name":{"type":"string"},
			"size":{"type":"integer","minimum":0},"title":{"type":"string"},"description":{"type":"string"},"mimeType":{"type":"string"}}}]},
	"tool": {"allOf":[{"$ref":"#/$defs/meta"}],"if":{"properties":{"resultType":{"const":"input_required"}},"required":["resultType"]},"then":{"$ref":"#/$defs/asks"},"else":{
		"required":["content"],"properties":{"content":{"type":"array","items":{"$ref":"#/$defs/block"}},"structuredContent":{"type":"object"},"isError":{"type":"boolean"},"resultType":{"const":"complete"}},
		"dependentSchemas":{"structuredContent":{"properties":{"content":{"minItems":1}}}}}},
	"resource": {"allOf":[{"$ref":"#/$defs/meta"}],"anyOf":[{"$ref":"#/$defs/asks"},{
		"required":["contents"],"properties":{"contents":{"type":"array","items":{"$ref":"#/$defs/contents"}},"ttlMs":{"type":"integer","minimum":0},"cacheScope":{"enum":["public","private"]}},
		"dependentRequired":{"ttlMs":["cacheScope"],"cacheScope":["ttlMs"]}}]},
	"prompt": {"allOf":[{"$ref":"#/$defs/meta"}],"anyOf":[{"$ref":"#/$defs/asks"},{
		"required":["messages"],"properties":{"description":{"type":"string"},"messages":{"type":"array","items":{"type":"object","required":["role","content"],
			"properties":{"role":{"enum":["user","assistant"]},"content":{"$ref":"#/$defs/block"}}}}}}]}
}}`

// validators returns a function that checks a result against a definition of results.
func validators(t testing.TB) func(def string, result []byte) error {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(results))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for name, is := range map[string]func(s string) bool{
		"time": func(s string) bool { return isTime.is(rawjson.AppendString(nil, s)) },
		"URI": func(s string) bool {
			u, err := url.Parse(s)
			return err == nil && u.Scheme != "" && utf8.ValidString(s)
		},
		"base64": func(s string) bool { _, err := base64.StdEncoding.DecodeString(s); return err == nil },
	} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			if s, ok := v.(string); !ok || !is(s) {
				return fmt.Errorf("%v is no %s", v, name)
			}
			return nil
		}})
	}
	if err := c.AddResource("mcp.json", doc); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for _, def := range []string{"tool", "resource", "prompt"} {
		schemas[def] = c.MustCompile("mcp.json#/$defs/" + def)
	}
	return func(def string, result []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(result))
		if err != nil {
			return err
		}
		return schemas[def].Validate(v)
	}
}

// outputFits returns an error if a result of a tool with an outputSchema does not fit it.
func outputFits(it *Item, result json.RawMessage) error {
	structured := rawjson.Get(result, "structuredContent")
	if it.output == nil || asksBack(result) {
		return nil
	}
	if structured == nil {
		if string(rawjson.Get(result, "isError")) != "true" {
			return errors.New("structuredContent is missing")
		}
		return nil
	}
	return it.checkOutput(structured)
}

// randomResult returns a result as pages may answer it: of MCP, but for what is wrong with it.
func randomResult(r *rand.Rand) string {
	var value func(depth int) string
	var member func(depth int) (string, string)
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	texts := func() string {
		return pick(`""`, `"short"`, `"a longer text of the page, number `+fmt.Sprint(r.IntN(1e6))+`"`, `"cut \ud83d here, and \udc00 there"`, `"whole \ud83d\ude00 and \/"`,
			`"{\"n\": 3}"`, `"{\"n\":\"three of them\"}"`, `"`+png+`"`, `"data:image/png;base64,`+png+`"`, `"R0lGODlhAQABAAAAACw"`, `"_-_-"`, `"PHN2Zz48L3N2Zz4="`, `"<svg/>"`, `"https://e.com/a"`, `"x:y"`, `"p:1"`, `"/notes/1"`, `"http://a b"`)
	}
	member = func(depth int) (string, string) {
		key := pick("content", "contents", "messages", "structuredContent", "isError", "_meta", "type", "text", "data", "mimeType", "uri", "blob", "resource", "role", "annotations", "name",
			"title", "description", "size", "icons", "json", "html", "n", "resultType", "inputRequests", "source", "ttlMs", "cacheScope", "other\ufffd")
		if r.IntN(5) == 0 {
			return key, value(depth)
		}
		list := func() string {
			var all []string
			for range r.IntN(4) {
				all = append(all, value(depth))
			}
			return "[" + strings.Join(all, ",") + "]"
		}
		switch key {
		case "content", "contents", "messages":
			return key, list()
		case "isError":
			return key, pick("true", "false", `"true"`, `"it went wrong today"`, "null", "1")
		case "type":
			return key, pick(`"text"`, `"image"`, `"audio"`, `"resource"`, `"resource_link"`, `"json"`, `"html"`, "5")
		case "mimeType":
			return key, pick(`"image/png"`, `"image/svg+xml"`, `"audio/wav"`, `"text/plain"`, `"application/pdf"`, "5")
		case "role":
			return key, pick(`"user"`, `"assistant"`, `"system"`, "null")
		case "annotations":
			return key, pick(`{"priority":7}`, `{"priority":0.5,"audience":["user"]}`, `{"audience":"user"}`, `{"lastModified":"2025-01-12T15:00:58+24:00"}`, `"a"`)
		case "resultType":
			return key, pick(`"complete"`, `"input_required"`, `"partial"`, "5")
		case "ttlMs":
			return key, pick("5", "-1", "1.5", `"x"`)
		case "cacheScope":
			return key, pick(`"public"`, `"all"`)
		case "structuredContent", "resource", "source", "json", "_meta":
			return key, value(depth)
		}
		return key, texts()
	}
	value = func(depth int) string {
		n := r.IntN(10)
		if depth == 0 {
			n = r.IntN(4)
		}
		switch n {
		case 0:
			return pick("null", "true", "7", "1e400", "-0.5", "[]", "{}")
		case 1, 2, 3:
			return texts()
		case 4:
			return "[" + value(depth-1) + "," + value(depth-1) + "]"
		}
		var all []string
		for range 1 + r.IntN(5) {
			key, v := member(depth - 1)
			quoted := strings.ReplaceAll(string(rawjson.AppendString(nil, key)), "\ufffd", `\ud800`)
			all = append(all, quoted+":"+v)
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	object := func(first string, depth int) string {
		all := []string{first}
		for range r.IntN(4) {
			key, v := member(depth)
			all = append(all, strings.ReplaceAll(string(rawjson.AppendString(nil, key)), "\ufffd", `\ud800`)+":"+v)
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return "{" + strings.Join(all, ",") + "}"
	}
	block := func() string {
		switch pick("text", "image", "resource", "link", "any") {
		case "text":
			return object(`"type":"text","text":`+texts(), 1)
		case "image":
			return object(`"type":`+pick(`"image"`, `"audio"`)+`,"data":`+texts(), 1)
		case "resource":
			return object(`"type":"resource","resource":`+object(`"uri":`+texts(), 1), 1)
		case "link":
			return object(`"type":"resource_link","uri":`+texts(), 1)
		}
		return value(2)
	}
	switch r.IntN(4) {
	case 0:
		return object(`"content":[`+block()+`,`+block()+`]`, 2)
	case 1:
		return object(`"contents":[`+object(`"uri":`+texts(), 1)+`]`, 2)
	case 2:
		return object(`"messages":[`+object(`"role":"user","content":`+block(), 1)+`]`, 2)
	}
	return value(4)
}
