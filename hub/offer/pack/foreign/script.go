package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"tabhub/spec"
)

// ownWorld is said of code that was written for the page's own world.
const ownWorld = "the code runs in a world of its own: it sees the page's elements, cookies and storage, but no variables of the page's scripts"

// genManifest is a manifest of webmcp-gen, as its compile.mjs reads it.
type genManifest struct {
	Domain string    `json:"domain"`
	Task   string    `json:"task"`
	URL    string    `json:"url"`
	Tools  []genTool `json:"tools"`
}

type genTool struct {
	Name           string          `json:"name"`
	Description    string          `json:"description"`
	InputSchema    json.RawMessage `json:"inputSchema"`
	Implementation struct {
		Source string `json:"source"` // statements, the body of async (input) => {}
	} `json:"implementation"`
	FixtureInput json.RawMessage `json:"fixtureInput"`
}

func (im *importer) gen(data []byte) error {
	var m genManifest
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("the manifest: %w", err)
	}
	u, err := url.Parse(m.URL)
	if err != nil || u.Host == "" {
		return fmt.Errorf("the manifest's url %q is no address of a page", m.URL)
	}
	host := strings.ToLower(u.Hostname())
	if domain := strings.ToLower(m.Domain); host != domain && !strings.HasSuffix(host, "."+domain) {
		return fmt.Errorf("the manifest is for %s, but its url is at %s", m.Domain, host)
	}
	p := im.pack
	p.Name, p.Title, p.For = packName(m.Domain, m.Task), title(m.Domain+": "+m.Task), m.Domain
	p.Match, p.Start = []string{u.Scheme + "://" + host + "/*"}, startOf(u)
	im.note("the manifest names no pages: the tools are offered on all of %s", host)
	im.note(ownWorld)
	var script strings.Builder
	script.WriteString("// Made by tabhub of a manifest of webmcp-gen.\n")
	for _, t := range m.Tools {
		tool := spec.PackTool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}
		if len(t.FixtureInput) > 0 {
			tool.Examples = []spec.PackExample{{At: m.URL, Input: t.FixtureInput}}
		}
		im.scriptTool(&script, tool, "async (input) => {\n"+t.Implementation.Source+"\n}", "result && result.success === false",
			"(result.error && result.error.message) || result.error || \"the tool failed\"")
	}
	p.Script = script.String()
	return nil
}

// scriptTool writes the registration of a tool, whose code is the expression of a function of its
// arguments; failed and reason are expressions over its result.
func (im *importer) scriptTool(script *strings.Builder, t spec.PackTool, code, failed, reason string) {
	only := *im.pack
	only.Tools, only.Script = []spec.PackTool{t}, "//"
	if err := check(&only); err != nil {
		im.leaveOut(t.Name, err)
		return
	}
	definition := struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema,omitempty"`
		Annotations *spec.PackHints `json:"annotations,omitempty"`
	}{t.Name, t.Description, t.InputSchema, t.Annotations}
	fmt.Fprintf(script, `document.modelContext.registerTool({
  ...%s,
  execute: async (args) => {
    const result = await (%s
)(args ?? {});
    if (%s) throw new Error(String(%s));
    return result ?? null;
  },
});
`, quote(definition), code, failed, reason)
	im.pack.Tools = append(im.pack.Tools, t)
}

// File is one file of a folder.
type File struct {
	Name string
	Data []byte
}

func siteMeta() *regexp.Regexp { return regexp.MustCompile(`/\*\s*@meta\s*\n([\s\S]*?)\*/`) }
func notName() *regexp.Regexp  { return regexp.MustCompile(`[^A-Za-z0-9_.-]+`) }

// siteAdapter is what an @meta comment of bb-sites says.
type siteAdapter struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Domain      string         `json:"domain"`
	Args        map[string]any `json:"args"` // each an object, or its description
	ReadOnly    bool           `json:"readOnly"`
}

// ImportFolder makes one pack of the adapters of bb-sites in a folder, which are for one site.
func ImportFolder(folder string, files []File) (*spec.Pack, []string, error) {
	im := &importer{pack: &spec.Pack{Format: spec.PackFormat}}
	p := im.pack
	var script strings.Builder
	script.WriteString("// Made by tabhub of adapters of bb-sites.\n")
	var all []byte
	for _, f := range files {
		meta := siteMeta().FindSubmatchIndex(f.Data)
		if meta == nil {
			im.note("%s is left out: it has no @meta comment", path.Base(f.Name))
			continue
		}
		var a siteAdapter
		if err := json.Unmarshal(f.Data[meta[2]:meta[3]], &a); err != nil {
			return nil, nil, fmt.Errorf("%s: its @meta comment: %w", path.Base(f.Name), err)
		}
		if a.Domain == "" {
			im.note("%s is left out: it names no domain, so it would run on any page", path.Base(f.Name))
			continue
		}
		if p.For == "" {
			p.For, p.Match, p.Start = a.Domain, []string{"https://*." + a.Domain + "/*"}, "/" // also the domain itself
			platform, _, ok := strings.Cut(a.Name, "/")
			if !ok {
				platform = a.Domain
			}
			p.Name, p.Title = packName(platform), title(a.Domain)
		}
		if a.Domain != p.For {
			im.note("%s is left out: it is for %s, and the others are for %s; add it by itself", path.Base(f.Name), a.Domain, p.For)
			continue
		}
		im.adapter(&script, a, strings.TrimSpace(string(f.Data[meta[1]:])))
		all = append(all, f.Data...)
	}
	if len(p.Tools) > 0 {
		im.note(ownWorld)
		p.Script = script.String()
	}
	name := folder
	if len(files) == 1 {
		name = path.Base(files[0].Name)
	}
	p.Source = &spec.PackSource{Format: "bb-sites", File: name, SHA256: digest(all)}
	return im.done()
}

func (im *importer) adapter(script *strings.Builder, a siteAdapter, body string) {
	properties, required := map[string]any{}, []string{}
	for name, arg := range a.Args {
		property := map[string]any{"type": "string"}
		switch arg := arg.(type) {
		case string:
			property["description"] = arg
		case map[string]any:
			if d, ok := arg["description"].(string); ok {
				property["description"] = d
			}
			if typ, _ := arg["type"].(string); slices.Contains([]string{"number", "integer", "boolean"}, typ) {
				property["type"] = typ
			}
			if arg["required"] == true {
				required = append(required, name)
			}
		}
		properties[name] = property
	}
	slices.Sort(required)
	schema := quote(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
	command := a.Name[strings.LastIndex(a.Name, "/")+1:]
	t := spec.PackTool{Name: notName().ReplaceAllString(command, "_"), Description: a.Description, InputSchema: json.RawMessage(schema)}
	if a.ReadOnly {
		t.Annotations = &spec.PackHints{ReadOnly: true}
	}
	im.scriptTool(script, t, body, "result && typeof result === \"object\" && result.error",
		"result.hint ? result.error + \": \" + result.hint : result.error")
}

func userHeader() *regexp.Regexp {
	return regexp.MustCompile(`// ==UserScript==([\s\S]*?)// ==/UserScript==`)
}
func userKey() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*//\s*@([\w:-]+)[ \t]*(.*?)\s*$`) }

// userScript makes the script of a pack of a user script.
func (im *importer) userScript(name, text string) error {
	header := map[string][]string{}
	for _, m := range userKey().FindAllStringSubmatch(userHeader().FindStringSubmatch(text)[1], -1) {
		header[m[1]] = append(header[m[1]], m[2])
	}
	first := func(key string) string { return append(header[key], "")[0] }
	for _, grant := range header["grant"] {
		if grant != "none" {
			return fmt.Errorf("the script asks for @grant %s, which tabhub does not give: a script gets the page and nothing else", grant)
		}
	}
	for _, key := range []string{"require", "resource"} {
		if len(header[key]) > 0 {
			return fmt.Errorf("the script loads %s by @%s: nothing is fetched when a pack runs; put that code into the script", first(key), key)
		}
	}
	switch {
	case len(header["match"]) == 0:
		return errors.New("the script has no @match, so it does not say on which pages it runs")
	case strings.Contains(text, "WebMCPScript.install"):
		return errors.New("the script registers its tools by WebMCPScript.install, which tabhub does not have: call document.modelContext.registerTool instead")
	case !strings.Contains(text, "modelContext"):
		return errors.New("the script registers no tools: it does not use document.modelContext")
	}
	p := im.pack
	p.Title, p.Description, p.License = title(first("name")), first("description"), title(first("license"))
	p.Name = packName(p.Title)
	if p.Name == "" {
		p.Name = packName(strings.TrimSuffix(path.Base(name), ".user.js"))
	}
	for _, m := range header["match"] {
		if rest, ok := strings.CutPrefix(m, "*://"); ok {
			im.note("@match %s also means http; the pack is for https alone", m)
			m = "https://" + rest
		}
		if !slices.Contains(p.Match, m) {
			p.Match = append(p.Match, m)
		}
	}
	for key, why := range map[string]string{
		"include": "only @match counts", "exclude": "the script runs there, too", "exclude-match": "the script runs there, too",
		"noframes": "the script runs in frames that @match covers, too", "webmcp-entry": "packs have no deep links",
		"updateURL": "a pack never updates itself", "downloadURL": "a pack never updates itself",
	} {
		if len(header[key]) > 0 {
			im.note("@%s is left out: %s", key, why)
		}
	}
	if at := first("run-at"); at == "document-start" || at == "document-body" {
		im.note("@run-at %s is left out: the script runs when the page has loaded", at)
	}
	slices.Sort(im.notes)
	p.Script = text
	return nil
}

// startOf returns the path of a page, with its query.
func startOf(u *url.URL) string {
	s := u.EscapedPath()
	if s == "" {
		s = "/"
	}
	if u.RawQuery != "" {
		s += "?" + u.RawQuery
	}
	return s
}
