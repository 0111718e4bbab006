package extension_test

import (
	"testing"

	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/tabtest/chromium"
)

// A result can be read, whatever a tool returns; what it holds does nothing.
func TestToolResult(t *testing.T) {
	t.Parallel()
	b := newHub(t).browse(chromium.Options{})
	p := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	p.Eval(tabtest.Module(t, "toolresult.ts", "toolresult"))
	p.Eval(`void (
		window.view = (result) => {
			const shown = toolresult.resultView(result);
			document.body.replaceChildren(shown);
			return [shown.innerText.replace(/\s+/g, " ").trim(), shown.querySelectorAll("img").length, shown.querySelectorAll("a, script, svg").length].join("|");
		}
	)`)
	const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	for name, test := range map[string]struct{ result, want string }{
		"text":         {`{content: [{type: "text", text: "<b>plain</b>"}, {type: "text", text: "more"}]}`, "<b>plain</b> more|0|0"},
		"failed":       {`{content: [{type: "text", text: "no"}], isError: true}`, "The tool says that it failed: no|0|0"},
		"an image":     {`{content: [{type: "image", mimeType: "image/png", data: "` + pixel + `"}]}`, "|1|0"},
		"a drawing":    {`{content: [{type: "image", mimeType: "image/svg+xml", data: "PHN2Zy8+"}]}`, "An image (image/svg+xml), which is not shown here.|0|0"},
		"a false type": {`{content: [{type: "image", mimeType: "image/png,<svg>", data: "x"}]}`, "An image (image/png,<svg>), which is not shown here.|0|0"},
		"audio":        {`{content: [{type: "audio", mimeType: "audio/wav", data: "x"}]}`, "Audio (audio/wav), which is not played here.|0|0"},
		"a link":       {`{content: [{type: "resource_link", name: "n", uri: "javascript:alert(1)"}]}`, "Resource n: javascript:alert(1)|0|0"},
		"a resource":   {`{content: [{type: "resource", resource: {uri: "x:y", text: "inside"}}]}`, "Resource x:y inside|0|0"},
		"structured":   {`{content: [{type: "text", text: 'one'}], structuredContent: {n: 1, s: "<b>", none: null}}`, `one n 1 s <b> none null As JSON|0|0`},
		"said twice":   {`{content: [{type: "text", text: '{"n":1}'}], structuredContent: {n: 1}}`, `n 1 As JSON|0|0`},
		"a table":      {`{structuredContent: {all: [{id: 1, tags: ["x", "y"]}, {id: 2, at: {x: 3}}]}}`, `all id tags at 1 x y 2 x 3 As JSON|0|0`},
		"mixed":        {`{structuredContent: {all: [{id: 1}, "two", []]}}`, `all id 1 two [] As JSON|0|0`},
		"prototypes":   {`{structuredContent: JSON.parse('{"__proto__": {"a": 1}, "all": [{"constructor": 1}, {"b": 2}]}')}`, `__proto__ a 1 all constructor b 1 2 As JSON|0|0`},
		"unknown":      {`{content: [{type: "odd", a: 1}, null, 5]}`, `{ "type": "odd", "a": 1 } {} {}|0|0`},
		"nothing":      {`null`, "The tool has returned nothing.|0|0"},
		"odd":          {`{content: "x", isError: "yes"}`, "The tool has returned nothing.|0|0"},
	} {
		var got string
		if p.Into("view("+test.result+")", &got); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	if got := p.Eval(`view({content: Array(80).fill({type: "text", text: "x".repeat(150000)})}).match(/[0-9,]+ more[a-z ]*/g).slice(-2)`); got != `["50,000 more characters are not shown","30 more are not shown"]` {
		t.Errorf("much: %s", got)
	}
	for name, test := range map[string]struct{ structured, want string }{
		"a long list": {`Array(120).fill({n: 1})`, `[50,true]`},
		"a deep one":  {`JSON.parse('{"a":'.repeat(500) + "1" + "}".repeat(500))`, `[0,true]`},
		"a wide one":  {`Object.fromEntries([...Array(5000).keys()].map((i) => ["k" + i, i]))`, `[0,true]`},
		"all of them": {`Array(50).fill(Array(50).fill(Array(50).fill({n: [1, 2]})))`, `[650,true]`},
	} {
		if got := p.Eval(`(view({structuredContent: ` + test.structured + `}), [document.querySelectorAll("tbody tr").length, document.querySelectorAll(".result *").length < 6000])`); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	p.Eval(`view({content: [{type: "image", mimeType: "image/png", data: "` + pixel + `"}]})`)
	p.WaitFor(`document.querySelector("img").complete`)
	if got := p.Eval(`document.querySelector("img").naturalWidth`); got != "1" {
		t.Errorf("the image is %s pixels wide", got)
	}
}
