package item

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tabhub/hub/offer/schema"
	"tabhub/spec"
)

// png is a whole image, of one pixel.
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// A client that cannot read a block throws the whole result away, though the call has run, and an
// API that does not take one refuses the conversation: what the page said goes as text.
func TestBlocks(t *testing.T) {
	const (
		gif  = "R0lGODlhAQABAAAAACw="
		drew = "<svg xmlns='http://www.w3.org/2000/svg'/>"
	)
	svgData := base64.StdEncoding.EncodeToString([]byte(drew))
	image := func(mimeType, data string) string {
		return fmt.Sprintf(`{"type":"image","data":%q,"mimeType":%q}`, data, mimeType)
	}
	says := func(s string) string { return string(textBlock(s)) }
	drawing := `{"type":"resource","resource":{"uri":"tabhub:attachment/1","mimeType":"image/svg+xml","text":"` + drew + `"}}`
	for _, c := range []struct{ block, want string }{
		{`{"type":"text","text":"a"}`, `{"type":"text","text":"a"}`},
		{`{"type":"text","text":"a","payload":[1.0]}`, `{"type":"text","text":"a","payload":[1.0]}`},
		{`{"type":"text","text":7}`, says("7")},
		{`{"type":"text","text":null}`, says("null")},
		{`{"type":"text","text":{"a": 1}}`, says(`{"a": 1}`)},
		{`{"type":"text"}`, says(`{"type":"text"}`)},
		{`{"text":"a"}`, says("a")},
		{`{"type":"markdown","text":"# a"}`, says("# a")},
		{`{"type":"json","json":{"order":7}}`, says(`{"order":7}`)},
		{`{"type":"html","html":"<p>"}`, says("<p>")},
		{`{"type":"html","html":"<p>","css":"b"}`, says(`{"type":"html","html":"<p>","css":"b"}`)},
		{`{"type":5,"text":"a"}`, says(`{"type":5,"text":"a"}`)},
		{`"a\u2028"`, says("a\u2028")},
		{`null`, says("null")},
		{`[1,"a"]`, says(`[1,"a"]`)},
		{`{"type":"text","text":"a","annotations":{"priority":7,"audience":["user"]}}`, `{"type":"text","text":"a","annotations":{"audience":["user"]}}`},
		{`{"type":"text","text":"a","annotations":"user","_meta":5}`, says("a")},
		{`{"type":"text","text":"a","annotations":{"lastModified":"2025-01-12T15:00:58+24:00"}}`, `{"type":"text","text":"a","annotations":{}}`},

		{image("image/png", png), image("image/png", png)},
		{image("image/png", gif), image("image/gif", gif)},
		{image("IMAGE/JPG", "/9j/4AA="), image("image/jpeg", "/9j/4AA=")},
		{image("image/webp", "UklGRgAAAABXRUJQ"), image("image/webp", "UklGRgAAAABXRUJQ")},
		{`{"type":"image","data":"` + png + `"}`, `{"type":"image","data":"` + png + `","mimeType":"image/png"}`},
		{image("image/png", "data:image/png;base64,"+png), image("image/png", png)},
		{image("image/png", "data:image/gif;base64,"+gif), image("image/gif", gif)},
		{image("image/png", strings.TrimRight(png, "=")), image("image/png", png)},
		{image("image/jpeg", "_9j_4AA"), image("image/jpeg", "/9j/4AA=")},
		{image("image/png", png[:20]+"\n "+png[20:]), image("image/png", png)},
		{`{"type":"image","data":"` + strings.ReplaceAll(png, "/", `\/`) + `","mimeType":"image/png"}`, image("image/png", png)},
		{`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + png + `"}}`, `{"type":"image","mimeType":"image/png","data":"` + png + `"}`},
		{image("image/svg+xml", svgData), drawing},
		{image("image/png", svgData), drawing},
		{image("image/svg+xml", "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"), drawing},
		{image("image/png", ""), says("The page returned data of type image/png, 0 bytes.")},
		{image("image/png", "data:,"), says("The page returned data of type image/png, 0 bytes.")},
		{image("image/png", "not base64!"), says("Data of type image/png that is no base64: not base64!")},
		{image("image/bmp", "Qk06AAAA"), `{"type":"text","text":"The page returned data of type image/bmp, 6 bytes, which models cannot read.","_meta":{"tabhub/data":{"mimeType":"image/bmp","data":"Qk06AAAA"}}}`},
		{image("image/png", "AAAA"), `{"type":"text","text":"The page returned data of type image/png, 3 bytes, which models cannot read.","_meta":{"tabhub/data":{"mimeType":"image/png","data":"AAAA"}}}`},
		{`{"type":"image","alt":"a chart","data":"","annotations":{"priority":7},"mimeType":5}`, `{"type":"text","alt":"a chart","annotations":{},"text":"The page returned data of type image, 0 bytes."}`},
		{`{"type":"image","data":[1,2]}`, says(`{"type":"image","data":[1,2]}`)},
		{`{"type":"image","mimeType":"image/png"}`, says(`{"type":"image","mimeType":"image/png"}`)},
		{`{"type":"audio","data":"AAAA","mimeType":"audio/wav"}`, `{"type":"audio","data":"AAAA","mimeType":"audio/wav"}`},
		{`{"type":"audio","data":"UklGRgAAAABXQVZF"}`, `{"type":"audio","data":"UklGRgAAAABXQVZF","mimeType":"audio/wav"}`},
		{`{"type":"audio","data":"` + png + `","mimeType":"audio/wav"}`, `{"type":"image","data":"` + png + `","mimeType":"image/png"}`},

		{`{"type":"resource","resource":{"uri":"x:y","text":"a"}}`, `{"type":"resource","resource":{"uri":"x:y","text":"a"}}`},
		{`{"type":"resource","resource":{"text":"a"}}`, `{"type":"resource","resource":{"text":"a","uri":"tabhub:attachment/1"}}`},
		{`{"type":"resource","resource":{"uri":"/notes/1","text":5,"mimeType":7}}`, `{"type":"resource","resource":{"uri":"tabhub:attachment/1","text":"5"}}`},
		{`{"type":"resource","resource":{"uri":"x:y","blob":"AAA"}}`, `{"type":"resource","resource":{"uri":"x:y","blob":"AAA="}}`},
		{`{"type":"resource","resource":{"uri":"x:y","blob":"no blob"}}`, `{"type":"resource","resource":{"uri":"x:y","text":"no blob"}}`},
		{`{"type":"resource","resource":{"uri":"x:y","mimeType":"image/png","blob":"` + gif + `"}}`, `{"type":"resource","resource":{"uri":"x:y","mimeType":"image/gif","blob":"` + gif + `"}}`},
		{`{"type":"resource","resource":{"uri":"x:y","mimeType":"image/png","blob":"` + svgData + `"}}`, `{"type":"resource","resource":{"uri":"x:y","mimeType":"image/svg+xml","text":"` + drew + `"}}`},
		{`{"type":"resource","resource":{"uri":"x:y","mimeType":"image/png","blob":"AAAA"}}`, `{"type":"resource","resource":{"uri":"x:y","mimeType":"application/octet-stream","blob":"AAAA"}}`},
		{`{"type":"resource","resource":{"uri":"x:y","note":"a"}}`, `{"type":"resource","resource":{"uri":"x:y","note":"a","text":"{\"uri\":\"x:y\",\"note\":\"a\"}"}}`},
		{`{"type":"resource","resource":"a"}`, says("a")},
		{`{"type":"resource_link","uri":"x:y","name":"n"}`, `{"type":"resource_link","uri":"x:y","name":"n"}`},
		{`{"type":"resource_link","uri":"x:y","size":"big","title":null,"description":5}`, `{"type":"resource_link","uri":"x:y","description":"5","name":"x:y"}`},
		{`{"type":"resource_link","name":"n"}`, says(`{"type":"resource_link","name":"n"}`)},
		{`{"type":"resource_link","uri":"/n","name":"n"}`, says(`{"type":"resource_link","uri":"/n","name":"n"}`)},
	} {
		m := mender{Item: new(Item)}
		if got := string(m.block(json.RawMessage(c.block))); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.block, got, c.want)
		}
	}
}

// What is no CallToolResult becomes one, and what the record says of it is of few words.
func TestToolResultIsReadable(t *testing.T) {
	for _, c := range []struct{ result, want, changed string }{
		{`{"content":[{"type":"text","text":"x"}],"isError":false,"structuredContent":{},"n":1.0}`, `{"content":[{"type":"text","text":"x"}],"isError":false,"structuredContent":{},"n":1.0}`, ""},
		{`{"content":[{"type":"text","text":"x"}],"isError":"true"}`, `{"content":[{"type":"text","text":"x"}],"isError":true}`, "isError that was no boolean"},
		{`{"content":[{"type":"text","text":"x"}],"isError":null}`, `{"content":[{"type":"text","text":"x"}]}`, "isError that was no boolean"},
		{`{"content":[{"type":"text","text":"x"}],"isError":"out of milk"}`, `{"content":[{"type":"text","text":"x"},{"type":"text","text":"out of milk"}],"isError":true}`, "isError that was no boolean"},
		{`{"content":[{"type":"text","text":"x"}],"structuredContent":null}`, `{"content":[{"type":"text","text":"x"}]}`, "structuredContent that was no object"},
		{`{"content":[{"type":"text","text":"x"}],"structuredContent":[1]}`, `{"content":[{"type":"text","text":"x"},{"type":"text","text":"[1]"}]}`, "structuredContent that was no object"},
		{`{"content":[{"type":"text","text":"[ 1 ]"}],"structuredContent":[1]}`, `{"content":[{"type":"text","text":"[ 1 ]"}]}`, "structuredContent that was no object"},
		{`{"structuredContent":{"n":1}}`, `{"structuredContent":{"n":1},"content":[{"type":"text","text":"{\"n\":1}"}]}`, "structuredContent without a text"},
		{`{"content":[],"structuredContent":{"n":1}}`, `{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}`, "structuredContent without a text"},
		{`{"content":"x","isError":false}`, `{"content":[{"type":"text","text":"x"}],"isError":false}`, "content that was no list, content that was no block"},
		{`{"content":{"type":"text","text":"x"}}`, `{"content":[{"type":"text","text":"x"}]}`, "content that was no list"},
		{`{"content":"x"}`, `{"content":[{"type":"text","text":"{\"content\":\"x\"}"}],"structuredContent":{"content":"x"}}`, ""},
		{`{"isError":false,"rows":[1]}`, `{"isError":false,"rows":[1],"content":[{"type":"text","text":"{\"isError\":false,\"rows\":[1]}"}]}`, "members that MCP does not know"},
		{`{"resultType":"hotels","rows":[1]}`, `{"content":[{"type":"text","text":"{\"resultType\":\"hotels\",\"rows\":[1]}"}],"structuredContent":{"resultType":"hotels","rows":[1]}}`, ""},
		{`{"content":[{"type":"text","text":"x"}],"resultType":"partial"}`, `{"content":[{"type":"text","text":"x"},{"type":"text","text":"partial"}]}`, "an unknown resultType"},
		{`{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":5}}}}`, `{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"e.com asks: 5"}}}}`, ""},
		{`{"resultType":"input_required","inputRequests":{"k":"who?"}}`, `{"inputRequests":{"k":"who?"},"content":[{"type":"text","text":"{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":\"who?\"}}"}]}`, "an unknown resultType"},
		{`{"content":[{"type":"text","text":"cut \ud83d here"}],"k\udc00":["\ud83d\ude00"]}`, `{"content":[{"type":"text","text":"cut \ufffd here"}],"k\ufffd":["\ud83d\ude00"]}`, "half surrogate pairs"},
		{`"\udc00"`, `{"content":[{"type":"text","text":"\ufffd"}]}`, "half surrogate pairs"},
		{`{"content":[],"isError":true}`, `{"content":[{"type":"text","text":"The tool failed and did not say why."}],"isError":true}`, ""},
	} {
		it := &Item{Provenance: Provenance{Domain: "e.com"}}
		got, changed := it.ToolResult(spec.Response{Result: json.RawMessage(c.result)}, "")
		if string(got) != c.want || changed != c.changed {
			t.Errorf("%s\n got %s (%s)\nwant %s (%s)", c.result, got, changed, c.want, c.changed)
		}
	}
}

// A client throws the result of a call that has run away if it does not fit the schema that it
// was listed with.
func TestToolResultFitsItsSchema(t *testing.T) {
	it, err := Parse(spec.KindTool, json.RawMessage(`{"name":"n","outputSchema":{"type":"object","properties":{"total":{"type":"integer"},"unit":{"type":"string","maxLength":3}},"required":["total"]}}`),
		new(schema.Cache), func(Claim) (Provenance, error) { return Provenance{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	note := func(why string) string { return string(textBlock(Misfit + why)) }
	for _, c := range []struct{ result, want string }{
		{`{"content":[{"type":"text","text":"3"}],"structuredContent":{"total":3}}`, `{"content":[{"type":"text","text":"3"}],"structuredContent":{"total":3}}`},
		{`{"total":3}`, `{"content":[{"type":"text","text":"{\"total\":3}"}],"structuredContent":{"total":3}}`},
		{`"{\"total\":\n3}"`, `{"content":[{"type":"text","text":"{\"total\":\n3}"}],"structuredContent":{"total": 3}}`},
		{`{"content":[{"type":"text","text":"in all:"},{"type":"text","text":" {\"total\":3} "}]}`, `{"content":[{"type":"text","text":"in all:"},{"type":"text","text":" {\"total\":3} "}],"structuredContent":{"total":3}}`},
		{`"3 in the cart"`, `{"content":[` + note("structuredContent is missing") + `,{"type":"text","text":"3 in the cart"}],"isError":true}`},
		{`{"content":[{"type":"text","text":"3 in the cart"}],"structuredContent":{"total":"3"}}`,
			`{"content":[` + note("/total: must be integer, got string") + `,{"type":"text","text":"3 in the cart"},{"type":"text","text":"{\"total\":\"3\"}"}],"isError":true}`},
		{`{"content":[{"type":"text","text":"{\"total\": \"3\"}"}],"structuredContent":{"total":"3"}}`,
			`{"content":[` + note("/total: must be integer, got string") + `,{"type":"text","text":"{\"total\": \"3\"}"}],"isError":true}`},
		{`{"total":3,"unit":"boxes"}`, `{"content":[` + note("/unit: must have at most 3 characters, has 5") + `,{"type":"text","text":"{\"total\":3,\"unit\":\"boxes\"}"}],"isError":true}`},
		{`{"content":[{"type":"text","text":"no"}],"isError":true}`, `{"content":[{"type":"text","text":"no"}],"isError":true}`},
		// One SDK checks structuredContent of errors, too.
		{`{"content":[{"type":"text","text":"no"}],"isError":true,"structuredContent":{"why":"x"}}`, `{"content":[{"type":"text","text":"no"},{"type":"text","text":"{\"why\":\"x\"}"}],"isError":true}`},
		{`{"resultType":"input_required","requestState":"s"}`, `{"resultType":"input_required","requestState":"s"}`},
	} {
		if got, _ := it.ToolResult(spec.Response{Result: json.RawMessage(c.result)}, ""); string(got) != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.result, got, c.want)
		}
	}
}

// What a page answers for a resource can be read, under the URI that was asked for.
func TestResourceResult(t *testing.T) {
	for _, c := range []struct{ result, want string }{
		{`{"contents":[{"uri":"p:1","text":"a","n":1.0},{"uri":"p:2","blob":"AA=="}],"x":1}`, `{"contents":[{"uri":"t:1","text":"a","n":1.0},{"uri":"p:2","blob":"AA=="}],"x":1}`},
		{`{"contents":[{"text":5}]}`, `{"contents":[{"text":"5","uri":"t:1"}]}`},
		{`{"contents":[{"uri":5,"text":"a"}]}`, `{"contents":[{"uri":"t:1","text":"a"}]}`},
		{`{"contents":[{"uri":"http://a b/","blob":"_-8"}]}`, `{"contents":[{"uri":"t:1","blob":"/+8="}]}`},
		{`{"contents":["a",7]}`, `{"contents":[{"uri":"t:1","text":"a"},{"uri":"t:1","text":"7"}]}`},
		{`{"contents":{"text":"a"}}`, `{"contents":[{"text":"a","uri":"t:1"}]}`},
		{`{"contents":"a"}`, `{"contents":[{"uri":"t:1","text":"a"}]}`},
		{`{"contents":{}}`, `{"contents":[{"uri":"t:1","text":"{}"}]}`},
		{`{"contents":[]}`, `{"contents":[]}`},
		{`{"uri":"p:1","text":"a"}`, `{"contents":[{"uri":"t:1","text":"a"}]}`},
		{`{"note":"a"}`, `{"contents":[{"note":"a","uri":"t:1","text":"{\"note\":\"a\"}"}]}`},
		{`"a\ud800"`, `{"contents":[{"uri":"t:1","text":"a` + "\ufffd" + `"}]}`},
		{`{"contents":[],"ttlMs":"long","cacheScope":"public"}`, `{"contents":[]}`},
		{`{"contents":[],"ttlMs":5,"cacheScope":"public"}`, `{"contents":[],"ttlMs":5,"cacheScope":"public"}`},
		{`null`, `the page answered with nothing`},
		{`{"content":[{"type":"text","text":"not signed in"}],"isError":true}`, `the page answered with an error: {"content":[{"type":"text","text":"not signed in"}],"isError":true}`},
	} {
		got, _, err := new(Item).ResourceResult(spec.Response{Result: json.RawMessage(c.result)}, "p:1", "t:1")
		if err != nil {
			got = json.RawMessage(err.Error())
		}
		if string(got) != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.result, got, c.want)
		}
	}
}

// What a page answers for a prompt can be read: messages of the two roles that there are, with one
// block each.
func TestPromptResult(t *testing.T) {
	user := func(s string) string { return `{"role":"user","content":` + string(textBlock(s)) + `}` }
	for _, c := range []struct{ result, want string }{
		{`{"messages":[{"role":"assistant","content":{"type":"text","text":"a"},"n":1.0}],"description":"d"}`, `{"messages":[{"role":"assistant","content":{"type":"text","text":"a"},"n":1.0}],"description":"d"}`},
		{`{"messages":[{"role":"user","content":"a"}]}`, `{"messages":[` + user("a") + `]}`},
		{`{"messages":[{"role":"assistant","content":["a",{"type":"text","text":"b"}]}]}`, `{"messages":[{"role":"assistant","content":{"type":"text","text":"a"}},{"role":"assistant","content":{"type":"text","text":"b"}}]}`},
		{`{"messages":[{"role":"system","content":{"type":"text","text":"a"}}]}`, `{"messages":[` + user("The page gives what follows the role system.") + `,` + user("a") + `]}`},
		{`{"messages":[{"content":{"type":"html","html":"<p>"}}]}`, `{"messages":[{"content":{"type":"text","text":"<p>"},"role":"user"}]}`},
		{`{"messages":["a",{"text":"b"}],"description":5}`, `{"messages":[` + user("a") + `,` + user(`{"text":"b"}`) + `],"description":"5"}`},
		{`{"messages":{"role":"user","content":"a"}}`, `{"messages":[` + user("a") + `]}`},
		{`{"role":"user","content":"a"}`, `{"messages":[` + user("a") + `]}`},
		{`[{"role":"user","content":"a"}]`, `{"messages":[` + user("a") + `]}`},
		{`"a"`, `{"messages":[` + user("a") + `]}`},
		{`{"messages":[]}`, `{"messages":[]}`},
		{`null`, `the page answered with nothing`},
		{`{"isError":true,"content":[]}`, `the page answered with an error: {"isError":true,"content":[]}`},
	} {
		got, _, err := new(Item).PromptResult(spec.Response{Result: json.RawMessage(c.result)})
		if err != nil {
			got = json.RawMessage(err.Error())
		}
		if string(got) != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.result, got, c.want)
		}
	}
}
