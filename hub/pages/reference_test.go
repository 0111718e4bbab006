package pages

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var updateReference = flag.Bool("update", false, "write the reference of the page API anew")

// A page's author reads in the reference what the types say, and nothing else.
func TestReference(t *testing.T) {
	const file = "../../spec/docs/PAGEAPI.md"
	types, err := os.ReadFile("assets/tab.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	want := reference(string(types))
	if *updateReference {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%v: %s is not that of tab.d.ts: go test ./hub/pages -run TestReference -update", err, file)
	}
}

// reference makes a document of declarations: a section for each interface, a row for each member.
func reference(types string) string {
	var b strings.Builder
	b.WriteString(`# The page API

What a page gets from ` + "`/tab.js`" + `, the companion extension or a browser with WebMCP. [Give your page a tool](PAGES.md) shows how to use it. A test makes this reference from the types in [tab.d.ts](../../hub/pages/assets/tab.d.ts), which the hub serves as ` + "`/tab.d.ts`" + `: ` + "`import \"./tab.js\"`" + ` finds them beside your copy of the script; otherwise name them in ` + "`tsconfig.json`" + ` or with ` + "`/// <reference path=\"tab.d.ts\" />`" + `. Where TypeScript's own library or another one declares the API, that declaration counts.
`)
	space := regexp.MustCompile(`\s+`)
	var doc, member []string
	depth, namespace := 0, ""
	row := func(name, text string) {
		name = strings.TrimSuffix(space.ReplaceAllString(name, " "), ";")
		b.WriteString("| `" + strings.ReplaceAll(name, "|", `\|`) + "` | " + strings.ReplaceAll(text, "|", `\|`) + " |\n")
	}
	for line := range strings.Lines(types) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "//"), line == "":
			continue
		case strings.HasPrefix(line, "/**"), strings.HasPrefix(line, "*"):
			if text := strings.TrimSpace(strings.TrimSuffix(strings.TrimLeft(line, "/* "), "*/")); text != "" && depth < 3 {
				doc = append(doc, text)
			}
			continue
		}
		opens := strings.Count(line, "{") - strings.Count(line, "}")
		switch {
		case strings.HasPrefix(line, "declare namespace "):
			namespace = strings.Fields(line)[2]
		case depth == 1 && opens > 0: // an interface, or a type that ends in one
			title := strings.TrimSuffix(strings.TrimSuffix(line, "{"), "& ")
			title = strings.TrimSpace(strings.TrimPrefix(title, "interface "))
			title = regexp.MustCompile(`<Input = [^>]*>+`).ReplaceAllString(strings.TrimPrefix(title, "type "), "")
			name, rest, _ := strings.Cut(title, " ")
			b.WriteString("\n## " + namespace + "." + name + "\n\n")
			if rest = strings.Trim(rest, "=& "); rest != "" {
				doc = append(doc, "`"+rest+"`")
			}
			if len(doc) > 0 {
				b.WriteString(strings.Join(doc, " ") + "\n\n")
			}
			b.WriteString("| | |\n| --- | --- |\n")
			doc = nil
		case depth >= 2:
			member = append(member, line)
			if depth+opens == 2 {
				row(strings.Join(member, " "), strings.Join(doc, " "))
				doc, member = nil, nil
			} else if depth+opens < 2 { // the interface's own brace
				doc, member = nil, nil
			}
		}
		depth += opens
	}
	return b.String()
}
