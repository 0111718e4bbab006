package draft

import (
	"encoding/json"
	"strings"
	"testing"

	"tabhub/hub/offer/pack"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

func encode(v any) []byte { text, _ := json.Marshal(v); return text }

// shows is a recording of an order.
func shows(product, note string, gift bool) *spec.Recorded {
	text := func(s string) json.RawMessage { v, _ := json.Marshal(s); return v }
	check := json.RawMessage("false")
	if gift {
		check = json.RawMessage("true")
	}
	button := func(name string) spec.Target { return spec.Target{Role: "button", Name: name} }
	return &spec.Recorded{
		URL: "https://shop.example.com/tea?sort=name#top", Title: "Tea", Secrets: []string{"Card number"},
		Steps: []spec.Step{
			{Click: &spec.ActStep{Target: spec.Target{Role: "link", Name: product}, Navigates: true}},
			{Click: &spec.ActStep{Target: button("Add " + product + " to the cart")}},
			{Fill: &spec.FillStep{Fields: []spec.FillField{
				{Target: spec.Target{Label: "Note"}, Value: text(note)},
				{Target: spec.Target{Role: "checkbox", Name: "Gift"}, Value: check},
				{Target: spec.Target{Label: "Country"}, Value: text("Austria")},
			}}},
			{Click: &spec.ActStep{Target: button("Place order"), Navigates: true}},
		},
	}
}

// Somebody shows a thing twice, and gets a tool that does it with other words.
func TestDraft(t *testing.T) {
	first, err := Make(shows("Green tea", "Ring twice", false), nil)
	if err != nil {
		t.Fatal(err)
	}
	if first.Name != "shop-example-com" || first.Tools[0].Name != "place_order" || first.Start != "/tea?sort=name" || !strings.Contains(first.Tools[0].Description, "A person has to fill in: Card number.") {
		t.Errorf("the draft is %s", encode(first))
	}
	second, err := Make(shows("Black tea", "Leave it at the door", true), first)
	if err != nil {
		t.Fatal(err)
	}
	third, err := Make(shows("Mint", "Hurry", true), second)
	if err != nil {
		t.Fatal(err)
	}
	for i, doc := range []*spec.Pack{second, third} {
		tool := doc.Tools[0]
		p, err := pack.New(doc)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Join([]string{
			`clicks link "${link}"`,
			`clicks button "Add ${link} to the cart"`,
			`fills the field "Note" with the argument note, and checkbox "Gift" with the argument gift, and the field "Country" with "Austria"`,
			`clicks button "Place order"`,
		}, "\n")
		if got := strings.Join(p.Tool("place_order").Words(nil), "\n"); i == 1 && got != want {
			t.Errorf("the steps are\n%s", got)
		}
		input := `{"link":"Black tea","note":"Leave it at the door","gift":true}`
		if i == 1 {
			input = `{"link":"Mint","note":"Hurry","gift":true}`
		}
		if got := string(rawjson.Compact(nil, tool.Examples[0].Input)); got != input {
			t.Errorf("the example is %s", got)
		}
		if got := string(rawjson.Compact(nil, tool.InputSchema)); got != `{"type":"object","properties":{"link":{"type":"string"},"note":{"type":"string"},"gift":{"type":"boolean"}},"required":["link","note","gift"]}` {
			t.Errorf("it takes %s", got)
		}
	}
}

// A text in which the format would see an argument is no reason to lose a recording.
func TestDraftOfTextLikeAnArgument(t *testing.T) {
	doc, err := Make(shows("Green tea", "costs ${5}", false), nil)
	if err != nil || string(rawjson.Compact(nil, doc.Tools[0].Steps[2].Fill.Fields[0].Value)) != `{"arg":"note"}` {
		t.Errorf("%s, %v", encode(doc), err)
	}
}

// What the owner has written into a draft stays; what does not fit is told.
func TestDraftAgain(t *testing.T) {
	first, err := Make(shows("Green tea", "Ring twice", false), nil)
	if err != nil {
		t.Fatal(err)
	}
	first.Tools[0].Description = "Orders tea."
	first.Tools[0].Steps = append(first.Tools[0].Steps, spec.Step{Read: &spec.ReadStep{Fields: map[string]spec.ReadField{"number": {Target: &spec.Target{Selector: "#number"}}}}})
	again, err := Make(shows("Green tea", "Ring once", false), first)
	if err != nil {
		t.Fatal(err)
	}
	if tool := again.Tools[0]; tool.Description != "Orders tea." || len(tool.Steps) != 5 {
		t.Errorf("the owner's part is lost: %s", encode(tool))
	}
	other := shows("Green tea", "Ring once", false)
	other.Steps = other.Steps[:3]
	if _, err := Make(other, first); err == nil || !strings.Contains(err.Error(), `this time nothing follows step 3, clicks button "Place order"`) {
		t.Error(err)
	}
	other = shows("Green tea", "Ring once", false)
	other.Steps[1].Click.Target.Role = "link"
	if _, err := Make(other, first); err == nil || !strings.Contains(err.Error(), `step 2 is clicks link "Add Green tea to the cart", and was clicks button`) {
		t.Error(err)
	}
	other = shows("Green tea", "Ring once", false)
	other.URL = "https://other.example.com/"
	if _, err := Make(other, first); err == nil || !strings.Contains(err.Error(), "record it under another name") {
		t.Error(err)
	}
	if doc, err := Make(&spec.Recorded{URL: "http://127.0.0.1:8080/", Steps: other.Steps}, nil); err != nil || doc.Name != "recorded" {
		t.Error(doc, err)
	}
	if _, err := Make(&spec.Recorded{URL: "http://shop.example.com/", Steps: other.Steps}, nil); err == nil || !strings.Contains(err.Error(), "not encrypted") {
		t.Error(err)
	}
}
