package item

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

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
	items := fuzzedItems(f)
	f.Fuzz(func(t *testing.T, result string) {
		if rawjson.Valid([]byte(result), spec.MaxDepth) != nil {
			return
		}
		checkResult(t, items, result)
	})
}

// fuzzedItems are a tool without an outputSchema and one with it.
func fuzzedItems(t testing.TB) (items []*Item) {
	for _, schemas := range []string{``, `,"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`} {
		it, err := Parse(spec.KindTool, json.RawMessage(`{"name":"n"`+schemas+`}`), new(schema.Cache), func(string) (Provenance, error) {
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
func checkResult(t *testing.T, items []*Item, result string) {
	t.Helper()
	resp := spec.Response{Result: json.RawMessage(result)}
	check := func(kind string, got json.RawMessage, validate func(any) error) {
		t.Helper()
		if rawjson.Valid(got, spec.MaxDepth+8) != nil || len(rawjson.WellFormed(got)) != len(got) || &rawjson.WellFormed(got)[0] != &got[0] {
			t.Fatalf("%s %s\nbecomes %s, which is no JSON in Unicode", kind, result, got)
		}
		if err := validate(decoded(t, got)); err != nil {
			t.Fatalf("%s %s\nbecomes %s: %v", kind, result, got, err)
		}
		if lost := lostText(result, string(got)); lost != "" {
			t.Fatalf("%s %s\nbecomes %s, where %q is lost", kind, result, got, lost)
		}
	}
	for _, failed := range []bool{false, true} {
		resp.Failed = failed
		for _, it := range items {
			got, _ := it.ToolResult(resp, "")
			check("a tool's result", got, func(v any) error { return callToolResult(v, it) })
		}
	}
	resp.Failed = false
	if got, _, err := items[0].ResourceResult(resp, "p:1", "tabhub://e.com/p:1"); err == nil {
		check("a resource's result", got, readResourceResult)
	} else if lost := lostText(result, answerIn(err)); lost != "" {
		t.Fatalf("a resource's result %s\nis the error %v, where %q is lost", result, err, lost)
	}
	if got, _, err := items[0].PromptResult(resp); err == nil {
		check("a prompt's result", got, getPromptResult)
	} else if lost := lostText(result, answerIn(err)); lost != "" {
		t.Fatalf("a prompt's result %s\nis the error %v, where %q is lost", result, err, lost)
	}
}

// answerIn is the page's answer that an error says.
func answerIn(err error) string {
	_, answer, _ := strings.Cut(err.Error(), ": ")
	return answer
}

func decoded(t *testing.T, b []byte) (v any) {
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.UseNumber() // a number may be out of the range of any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
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

// What follows takes what the SDKs for TypeScript take, of each revision, and what is as strict
// of Python's; images as model APIs do.

type object = map[string]any

func callToolResult(v any, of *Item) error {
	r, ok := v.(object)
	if !ok {
		return fmt.Errorf("is no object")
	}
	if r["resultType"] == "input_required" {
		_, asks := r["inputRequests"].(object)
		if _, state := r["requestState"]; !asks && !state {
			return fmt.Errorf("asks for nothing")
		}
		return metaIs(r)
	}
	content, ok := r["content"].([]any)
	if !ok {
		return fmt.Errorf("content is no array")
	}
	for _, b := range content {
		if err := contentBlock(b); err != nil {
			return err
		}
	}
	structured, has := r["structuredContent"]
	if _, ok := structured.(object); has && !ok {
		return fmt.Errorf("structuredContent is no object")
	}
	isError, hasError := r["isError"].(bool)
	if _, has := r["isError"]; has && !hasError {
		return fmt.Errorf("isError is no boolean")
	}
	if rt, has := r["resultType"]; has && rt != "complete" {
		return fmt.Errorf("resultType %v", rt)
	}
	if has && len(content) == 0 {
		return fmt.Errorf("structuredContent has no text")
	}
	if of.output != nil {
		if !has && !isError {
			return fmt.Errorf("structuredContent is missing")
		}
		b, _ := json.Marshal(structured)
		if has && of.checkOutput(b) != nil {
			return fmt.Errorf("structuredContent does not fit: %w", of.checkOutput(b))
		}
	}
	return metaIs(r)
}

func readResourceResult(v any) error {
	r, ok := v.(object)
	if !ok {
		return fmt.Errorf("is no object")
	}
	if r["resultType"] == "input_required" {
		return metaIs(r)
	}
	contents, ok := r["contents"].([]any)
	if !ok {
		return fmt.Errorf("contents is no array")
	}
	for _, c := range contents {
		if err := resourceContents(c); err != nil {
			return err
		}
	}
	if ttl, has := r["ttlMs"]; has {
		n, _ := ttl.(json.Number)
		if !regexp.MustCompile(`^[0-9]+$`).MatchString(string(n)) || r["cacheScope"] != "public" && r["cacheScope"] != "private" {
			return fmt.Errorf("ttlMs %v and cacheScope %v", ttl, r["cacheScope"])
		}
	} else if r["cacheScope"] != nil {
		return fmt.Errorf("cacheScope alone")
	}
	return metaIs(r)
}

func getPromptResult(v any) error {
	r, ok := v.(object)
	if !ok {
		return fmt.Errorf("is no object")
	}
	if r["resultType"] == "input_required" {
		return metaIs(r)
	}
	messages, ok := r["messages"].([]any)
	if !ok {
		return fmt.Errorf("messages is no array")
	}
	for _, m := range messages {
		m, ok := m.(object)
		if !ok || m["role"] != "user" && m["role"] != "assistant" {
			return fmt.Errorf("message %v", m)
		}
		if err := contentBlock(m["content"]); err != nil {
			return err
		}
	}
	if err := stringsAre(r, "description"); err != nil {
		return err
	}
	return metaIs(r)
}

func contentBlock(v any) error {
	b, ok := v.(object)
	if !ok {
		return fmt.Errorf("block %v is no object", v)
	}
	if a, has := b["annotations"]; has {
		a, ok := a.(object)
		if !ok {
			return fmt.Errorf("annotations are no object")
		}
		if p, has := a["priority"]; has {
			n, ok := p.(json.Number)
			if f, err := n.Float64(); !ok || err != nil || f < 0 || f > 1 {
				return fmt.Errorf("priority %v", p)
			}
		}
		if t, has := a["lastModified"]; has && !isTime.is(quoted(t)) {
			return fmt.Errorf("lastModified %v", t)
		}
		if who, has := a["audience"]; has {
			who, ok := who.([]any)
			if !ok || slices.ContainsFunc(who, func(v any) bool { return v != "user" && v != "assistant" }) {
				return fmt.Errorf("audience %v", who)
			}
		}
	}
	if err := metaIs(b); err != nil {
		return err
	}
	switch b["type"] {
	case "text":
		return need(b, "text")
	case "image", "audio":
		if err := need(b, "data", "mimeType"); err != nil {
			return err
		}
		data, err := base64.StdEncoding.DecodeString(b["data"].(string))
		if err != nil || len(data) == 0 || b["type"] == "image" && typeOf(data) != b["mimeType"] {
			return fmt.Errorf("%v of type %v, %v", b["type"], b["mimeType"], err)
		}
		return nil
	case "resource":
		return resourceContents(b["resource"])
	case "resource_link":
		if err := need(b, "uri", "name"); err != nil {
			return err
		}
		if size, has := b["size"]; has && !isSize.is(json.RawMessage(fmt.Sprint(size))) {
			return fmt.Errorf("size %v", size)
		}
		if err := stringsAre(b, "title", "description", "mimeType"); err != nil {
			return err
		}
		return uriIs(b["uri"])
	}
	return fmt.Errorf("block of type %v", b["type"])
}

func resourceContents(v any) error {
	c, ok := v.(object)
	if !ok {
		return fmt.Errorf("contents %v are no object", v)
	}
	if err := need(c, "uri"); err != nil {
		return err
	}
	if err := uriIs(c["uri"]); err != nil {
		return err
	}
	if err := stringsAre(c, "mimeType"); err != nil {
		return err
	}
	if err := metaIs(c); err != nil {
		return err
	}
	if need(c, "text") == nil {
		return nil
	}
	if err := need(c, "blob"); err != nil {
		return err
	}
	b, err := base64.StdEncoding.DecodeString(c["blob"].(string))
	if mimeType, _ := c["mimeType"].(string); slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mimeType) && typeOf(b) != mimeType {
		return fmt.Errorf("a blob is not of its type %s", mimeType)
	}
	return err
}

func metaIs(o object) error {
	if m, has := o["_meta"]; has {
		if _, ok := m.(object); !ok {
			return fmt.Errorf("_meta is no object")
		}
	}
	return nil
}

func need(o object, names ...string) error {
	for _, name := range names {
		if _, ok := o[name].(string); !ok {
			return fmt.Errorf("%s is no string", name)
		}
	}
	return nil
}

func stringsAre(o object, names ...string) error {
	for _, name := range names {
		if _, has := o[name]; has && need(o, name) != nil {
			return need(o, name)
		}
	}
	return nil
}

func uriIs(v any) error {
	u, err := url.Parse(v.(string))
	if err != nil || u.Scheme == "" || !utf8.ValidString(v.(string)) {
		return fmt.Errorf("URI %v", v)
	}
	return nil
}

func quoted(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
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
