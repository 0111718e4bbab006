package anypage

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"tabhub/spec"
)

// Go and JavaScript read targets that are texts in the same way: both read these examples.
func TestTargets(t *testing.T) {
	raw, err := os.ReadFile("testdata/targets.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Text   string
		Target *spec.Target
	}
	if err := json.Unmarshal(raw, &all); err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	for _, test := range all {
		got, err := ParseTarget(test.Text)
		switch {
		case (err != nil) != (test.Target == nil):
			t.Errorf("%q: %+v, %v", test.Text, got, err)
		case err == nil && !reflect.DeepEqual(got, *test.Target):
			t.Errorf("%q: %+v, want %+v", test.Text, got, test.Target)
		}
	}
}

// Short forms are those of the steps that packs have.
func TestSteps(t *testing.T) {
	for short, want := range map[string]string{
		`{"click":"kfa3"}`:                               `{"click":{"target":{"ref":"kfa3"}}}`,
		`{"press":"Enter"}`:                              `{"press":{"key":"Enter"}}`,
		`{"open":"/cart"}`:                               `{"open":{"path":"/cart"}}`,
		`{"wait":"dialog"}`:                              `{"wait":{"for":{"role":"dialog"}}}`,
		`{"scroll":-2}`:                                  `{"scroll":{"pages":-2}}`,
		`{"scroll":"kfa3"}`:                              `{"scroll":{"target":{"ref":"kfa3"}}}`,
		`{"fill":{"kfa3":"x"}}`:                          `{"fill":{"fields":[{"target":{"ref":"kfa3"},"value":"x"}]}}`,
		`{"fill":{"target":"kfa3","value":true}}`:        `{"fill":{"fields":[{"target":{"ref":"kfa3"},"value":true}]}}`,
		`{"drag":{"target":"kfa3","to":"kfa4"}}`:         `{"drag":{"target":{"ref":"kfa3"},"to":{"ref":"kfa4"}}}`,
		`{"upload":{"target":"kfa3","files":["a.txt"]}}`: `{"upload":{"target":{"ref":"kfa3"},"files":[{"name":"a.txt","data":""}]}}`,
		`{"select":{"target":"kfa3","options":["A"]}}`:   `{"select":{"target":{"ref":"kfa3"},"options":["A"]}}`,
		`{"click":{"target":{"role":"button","in":"row \"Tea\""},"count":2}}`:                                 `{"click":{"target":{"role":"button","in":{"role":"row","name":"Tea"}},"count":2}}`,
		`{"read":{"list":"row","fields":{"name":"cell #1","ref":{"target":"button","give":"ref"}}},"as":"x"}`: `{"read":{"list":{"role":"row"},"fields":{"name":{"target":{"role":"cell","nth":1}},"ref":{"target":{"role":"button"},"give":"ref"}}},"as":"x"}`,
		`{"read":{"table":"table \"Orders\""}}`:                                                               `{"read":{"table":{"target":{"role":"table","name":"Orders"}}}}`,
	} {
		steps, err := Steps(json.RawMessage("[" + short + "]"))
		if err != nil {
			t.Errorf("%s: %v", short, err)
			continue
		}
		if got, _ := json.Marshal(steps[0]); string(got) != want {
			t.Errorf("%s: %s, want %s", short, got, want)
		}
	}
}

// What is no step is refused, with what to write instead.
func TestNoSteps(t *testing.T) {
	for steps, want := range map[string]string{
		`[]`:                               "steps: must be 1 to 64",
		`["click"]`:                        "steps[0]: must be an object with a verb",
		`[{"click":"kfa3","press":"Tab"}]`: "must have exactly one of open, click",
		`[{"tap":"kfa3"}]`:                 `there is no member "tap"`,
		`[{"request":{"path":"/x"}}]`:      "is for packs alone",
		`[{"click":{"ref":"kfa3"}}]`:       `steps[0].click: there is no member "ref"`,
		`[{"click":{"target":{"ref":"kfa3","role":"button"}}}]`: "must be a reference of a snapshot",
		`[{"open":"https://e.com/"}]`:                           "must begin with a slash",
		`[{"upload":{"target":"kfa3","files":[]}}]`:             "must be 1 to 64 names",
		`[{"scroll":{}}]`:                                       "must have a target, or pages",
		`[{"click":{"target":"kfa3","count":3}}]`:               "count 1 or 2",
		`[{"fill":{"the name":"x"}}]`:                           `the target "the name"`,
		`[{"fill":{"target":"kfa3"}}]`:                          "steps[0].fill.fields[0].value",
	} {
		if _, err := Steps(json.RawMessage(steps)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", steps, err, want)
		}
	}
}
