//go:build nightly

package extension_test

import (
	"fmt"
	"strconv"
	"testing"
)

// A schema that wants to harm its reader is text, and no more of it than fits.
func TestHostileSchema(t *testing.T) {
	t.Parallel()
	p := schemaPage(t)
	const evil = `<img src=x onerror="window.harmed = true"><script>window.harmed = true</script>`
	p.Eval(`void form({properties: {` + strconv.Quote(evil) + `: {description: ` + strconv.Quote(evil) + `, enum: [` + strconv.Quote(evil) + `], format: ` + strconv.Quote(evil) + `}}})`)
	if got := p.Eval(`[document.body.querySelectorAll("img, script, a").length, window.harmed ?? false, document.body.innerText.includes("onerror=")]`); got != "[0,false,true]" {
		t.Errorf("elements, harm, as text: %s", got)
	}
	if got := p.Eval(`(() => {
		const many = {properties: Object.fromEntries(Array.from({length: 5000}, (_, i) => ["p" + i, {type: "string", description: "d".repeat(5000)}]))};
		let deep = {type: "string"};
		for (let i = 0; i < 10000; i++) deep = {type: "object", properties: {p: deep}};
		form(deep);
		return [form(many).element.querySelectorAll(".field").length, parameters(many).length, parameters(many)[0].description.length, parameters(deep).length];
	})()`); got != "[1,200,501,4]" {
		t.Errorf("fields, parameters, a description's characters, depth: %s", got)
	}
	// Of all these parameters the schema has one description, as large as it may be: the page must not hang.
	for what, part := range map[string]string{
		"a choice and its default": `{enum: [...Array(500).keys()], default: Array(12_000).fill([1])}`,
		"types":                    `{type: Array(7_000).fill("string")}`,
	} {
		text := p.Eval(fmt.Sprintf(`form({$defs: {a: %s}, properties: Object.fromEntries([...Array(100).keys()].map((i) => ["p" + i, {$ref: "#/$defs/a"}]))}), document.body.textContent.length`, part))
		if n, err := strconv.Atoi(text); err != nil || n > 500_000 {
			t.Errorf("%s: a text of %s", what, text)
		}
	}
}
