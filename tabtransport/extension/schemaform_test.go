package extension_test

import (
	"fmt"
	"testing"

	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/tabtest/chromium"
)

// schemaPage opens a page that can make forms: form(schema) puts one into the page.
func schemaPage(t *testing.T) *chromium.Page {
	t.Helper()
	b := newHub(t).browse(chromium.Options{})
	p := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	p.Eval(tabtest.Module(t, "schemaform.ts", "schemaform"))
	p.Eval(`(() => {
		window.parameters = schemaform.parameters;
		window.form = (schema) => {
			const made = schemaform.schemaForm(schema);
			document.body.replaceChildren(made.element);
			return made;
		};
		/** Fills in what a user would, and says what comes of it. */
		window.filled = (schema, typed) => {
			const made = form(schema);
			for (const [at, value] of Object.entries(typed)) {
				const control = [...document.querySelectorAll(".field")].find((f) => f.querySelector("code").textContent === at).querySelector("input, select, textarea");
				if (control.type === "checkbox") control.click();
				else if (control.tagName === "SELECT") control.selectedIndex = [...control.options].findIndex((o) => o.text === value);
				else control.value = value;
			}
			return JSON.stringify(made.value()) ?? made.errors.join("; ");
		};
	})()`)
	return p
}

// What is filled in becomes the arguments that the tool is given, of the schema's types; what
// was left empty is not among them.
func TestSchemaForm(t *testing.T) {
	t.Parallel()
	p := schemaPage(t)
	for name, test := range map[string]struct{ schema, typed, want string }{
		"nothing":            {`{"type":"object"}`, `{}`, `{}`},
		"no schema":          {`undefined`, `{}`, `{}`},
		"text":               {`{"properties":{"a":{"type":"string"}}}`, `{"a":"two\nlines"}`, `{"a":"two\nlines"}`},
		"left empty":         {`{"properties":{"a":{"type":"string"},"b":{"type":"number"},"c":{"type":"boolean"},"d":{"enum":["x"]},"e":{}}}`, `{}`, `{}`},
		"required":           {`{"properties":{"a":{"type":"string"}},"required":["a"]}`, `{}`, `a: It is required.`},
		"integer":            {`{"properties":{"a":{"type":"integer"}}}`, `{"a":"12"}`, `{"a":12}`},
		"no integer":         {`{"properties":{"a":{"type":"integer"}}}`, `{"a":"1.5"}`, `a: Please enter a valid value. The two nearest valid values are 1 and 2.`},
		"number":             {`{"properties":{"a":{"type":"number","minimum":0.5}}}`, `{"a":"1.25"}`, `{"a":1.25}`},
		"too small":          {`{"properties":{"a":{"type":"number","minimum":1}}}`, `{"a":"0"}`, `a: Value must be greater than or equal to 1.`},
		"number too large":   {`{"properties":{"a":{"type":"integer"}}}`, `{"a":"12345678901234567890"}`, `a: A number so large cannot be passed on exactly.`},
		"yes":                {`{"properties":{"a":{"type":"boolean"}}}`, `{"a":true}`, `{"a":true}`},
		"default yes, no":    {`{"properties":{"a":{"type":"boolean","default":true}}}`, `{"a":true}`, `{"a":false}`},
		"a choice":           {`{"properties":{"a":{"enum":["x",2,null]}}}`, `{"a":"2"}`, `{"a":2}`},
		"a choice of consts": {`{"properties":{"a":{"oneOf":[{"const":"x","title":"X"},{"const":"y"}]}}}`, `{"a":"y"}`, `{"a":"y"}`},
		"or nothing":         {`{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}}}`, `{"a":"7"}`, `{"a":7}`},
		"types":              {`{"properties":{"a":{"type":["integer","null"]}}}`, `{"a":"7"}`, `{"a":7}`},
		"a reference":        {`{"$defs":{"a/b":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/a~1b","description":"d"}}}`, `{"a":"7"}`, `{"a":7}`},
		"defaults":           {`{"properties":{"a":{"default":"x","type":"string"},"b":{"default":[1],"type":"array"},"c":{"default":2,"enum":[1,2]}}}`, `{}`, `{"a":"x","b":[1],"c":2}`},
		"nested":             {`{"properties":{"a":{"type":"object","properties":{"b":{}}}}}`, `{"a":"{\"b\":1}"}`, `{"a":{"b":1}}`},
		"not the type":       {`{"properties":{"a":{"type":"array"}}}`, `{"a":"{}"}`, `a: It must be a JSON array, such as ["first", "second"].`},
		"any":                {`{"properties":{"a":{}}}`, `{"a":"\"x\""}`, `{"a":"x"}`},
		"a name of objects":  {`JSON.parse('{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}')`, `JSON.parse('{"__proto__":"x","constructor":"y"}')`, `{"__proto__":"x","constructor":"y"}`},
		"a loop":             {`{"$ref":"#","properties":{"a":{"$ref":"#/properties/a"}}}`, `{"a":"1"}`, `{"a":1}`},
		"odd parts":          {`{"type":7,"properties":{"a":5,"b":null,"c":{"type":{},"enum":3,"description":{},"minimum":"1","format":"__proto__","default":{}}},"required":"a"}`, `{"a":"1"}`, `{"a":1,"c":{}}`},
		"a pattern":          {`{"properties":{"a":{"type":"string","pattern":"^(a+)+$"}}}`, `{"a":"` + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" + `"}`, `{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}`},
	} {
		var got string
		if p.Into(fmt.Sprintf("filled(%s, %s)", test.schema, test.typed), &got); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// All can be written as JSON as well, and read back into the fields.
func TestSchemaFormAsJSON(t *testing.T) {
	t.Parallel()
	p := schemaPage(t)
	p.Eval(`void (window.made = form({properties: {a: {type: "string"}, b: {type: "integer"}}}))`)
	p.Click(".parts .field textarea")
	p.Type("x")
	p.Click("label > input[type=checkbox]")
	p.WaitFor(`document.querySelector(".schemaform > .field textarea").value === '{\n  "a": "x"\n}'`)
	p.Eval(`void (document.querySelector(".schemaform > .field textarea").value = "[]")`)
	if got := p.Eval(`[made.value() === undefined, made.errors.join()]`); got != `[true,"Arguments: It must be a JSON object, such as {\"name\": \"value\"}."]` {
		t.Errorf("an array for the arguments: %s", got)
	}
	if got := p.Eval(`document.activeElement.ariaInvalid`); got != `"true"` {
		t.Errorf("what is wrong has not the focus: %s", got)
	}
	p.Eval(`void (document.querySelector(".schemaform > .field textarea").value = '{"a":"y","b":2,"more":[3]}')`)
	if got := p.Eval(`made.value()`); got != `{"a":"y","b":2,"more":[3]}` {
		t.Errorf("as JSON: %s", got)
	}
	p.Click("label > input[type=checkbox]")
	if got := p.Eval(`made.value()`); got != `{"a":"y","b":2}` {
		t.Errorf("in the fields: %s", got)
	}
}
