package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tabhub/spec"
)

// maxPatterns is how many patterns a pack may have.
const maxPatterns = 20

// todayEngine is the level of webmcp-today's engine that Import knows.
const todayEngine = 1

// todayPackage is a package of webmcp-today. What its registry adds around it is of no use here.
type todayPackage struct {
	Domain      string      `json:"domain"`
	URLPatterns []string    `json:"urlPatterns"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	MinEngine   int         `json:"minEngine"`
	Tools       []todayTool `json:"tools"`
	API         struct {
		BaseURL   string                     `json:"baseUrl"`
		Endpoints map[string]json.RawMessage `json:"endpoints"`
		Auth      map[string]json.RawMessage `json:"auth"`
		Documents map[string]string          `json:"documents"`
	} `json:"api"`
}

type todayTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations *struct {
		ReadOnly    bool `json:"readOnlyHint"`
		Destructive bool `json:"destructiveHint"`
	} `json:"annotations"`
	Execution struct {
		Mode     string `json:"mode"`
		Endpoint string `json:"endpoint"`
	} `json:"execution"`
}

// todayEndpoint is a request. Its format is strict, and an unknown member may mean anything.
type todayEndpoint struct {
	Method  string            `json:"method"`
	BaseURL string            `json:"baseUrl"`
	Path    string            `json:"path"`
	Query   map[string]string `json:"query"`
	Form    map[string]string `json:"form"`
	Body    json.RawMessage   `json:"body"`
	GraphQL *struct {
		Document  string          `json:"document"`
		Variables json.RawMessage `json:"variables"`
	} `json:"graphql"`
	Returns     string   `json:"returns"`
	ErrorPath   []string `json:"errorPath"`
	StripPrefix string   `json:"stripPrefix"`
	Auth        []string `json:"auth"`
}

// todayAuth is a token that another endpoint gives.
type todayAuth struct {
	Source struct {
		Endpoint string   `json:"endpoint"`
		Extract  []string `json:"extract"`
		Pattern  string   `json:"pattern"`
	} `json:"source"`
	SendAs struct {
		In   string `json:"in"`
		Name string `json:"name"`
	} `json:"sendAs"`
	TTLSeconds int `json:"ttlSeconds"` // a token is always asked for anew
}

func (im *importer) today(data []byte) error {
	var w todayPackage
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("the package: %w", err)
	}
	if w.MinEngine > todayEngine {
		return fmt.Errorf("the package asks for level %d of webmcp-today's engine; this version reads level %d", w.MinEngine, todayEngine)
	}
	base, err := url.Parse(w.API.BaseURL)
	if err != nil || base.Host == "" {
		return fmt.Errorf("the package's baseUrl %q is no address", w.API.BaseURL)
	}
	p := im.pack
	p.Name, p.Title, p.Description, p.For = packName(w.Domain), title(w.Title), w.Description, w.Domain
	im.todayPages(&w, base)
	if len(p.Match) == 0 {
		return fmt.Errorf("its tools ask %s, and it offers them on pages of other hosts: the steps of a pack reach only the host of their page", base.Host)
	}
	on := slices.Clone(p.Match)
	for _, t := range w.Tools {
		tool, reach, err := im.todayTool(&w, t)
		if err == nil {
			only := *p
			if reach = slices.DeleteFunc(reach, func(r string) bool { return covers(on, r) }); len(reach) > 0 {
				tool.On = on // the pack reaches further than its pages
			}
			only.Match, only.Tools = union(on, reach), []spec.PackTool{tool}
			err = check(&only)
		}
		if err != nil {
			im.leaveOut(t.Name, err)
			continue
		}
		p.Match, p.Tools = union(p.Match, reach), append(p.Tools, tool)
	}
	if len(p.Match) > maxPatterns {
		im.note("the tools ask %d paths, more than a pack has patterns, so the pack reaches all of %s", len(p.Match)-len(on), base.Host)
		p.Match = union(on, []string{"https://" + base.Host + "/*"})
	}
	if len(p.Match) > len(on) { // now each tool must say on which pages it is
		for i := range p.Tools {
			p.Tools[i].On = on
		}
	}
	return nil
}

func todayPattern() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\*|https)://(\*\.)?([^/*:]+)(/.*)$`)
}

// todayPages makes Match and Start of the package's patterns, whose paths have no query. Steps
// reach only the host of their page, so that only pages of the base URL's host are of use.
func (im *importer) todayPages(w *todayPackage, base *url.URL) {
	p := im.pack
	for _, pattern := range w.URLPatterns {
		m := todayPattern().FindStringSubmatch(strings.ToLower(pattern[:hostEnd(pattern)]) + pattern[hostEnd(pattern):])
		if m == nil || m[2] != base.Host && (m[1] == "" || !strings.HasSuffix(base.Host, "."+m[2])) {
			im.note("the pattern %s is left out: the tools ask %s, and the steps of a pack reach only the host of their page", pattern, base.Host)
			continue
		}
		if m[1] != "" {
			im.note("the pattern %s becomes %s alone, which is what the tools ask", pattern, base.Host)
		}
		page := "https://" + base.Host + m[3]
		p.Match = union(p.Match, []string{page})
		if !strings.HasSuffix(page, "*") {
			p.Match = union(p.Match, []string{page + "?*"}) // a pack's pattern is about the query, too
		}
		if start := strings.TrimSuffix(m[3], "*"); p.Start == "" && !strings.Contains(start, "*") && strings.HasSuffix(start, "/") {
			p.Start = start
		}
	}
}

// hostEnd is the index in a pattern where its path begins.
func hostEnd(pattern string) int {
	i := strings.Index(pattern, "://")
	if i < 0 {
		return 0
	}
	if j := strings.IndexByte(pattern[i+3:], '/'); j >= 0 {
		return i + 3 + j
	}
	return len(pattern)
}

// todayTool makes a tool of one request. reach is where that goes, as patterns.
func (im *importer) todayTool(w *todayPackage, t todayTool) (tool spec.PackTool, reach []string, err error) {
	if t.Execution.Mode != "api" {
		return tool, nil, fmt.Errorf("its mode is %s, and only api is known", t.Execution.Mode)
	}
	raw, ok := w.API.Endpoints[t.Execution.Endpoint]
	if !ok {
		return tool, nil, fmt.Errorf("there is no endpoint %s", t.Execution.Endpoint)
	}
	var e todayEndpoint
	if err := strict(raw, &e); err != nil {
		return tool, nil, fmt.Errorf("its endpoint: %w", err)
	}
	switch {
	case e.BaseURL != "" && strings.TrimSuffix(e.BaseURL, "/") != strings.TrimSuffix(w.API.BaseURL, "/"):
		return tool, nil, fmt.Errorf("it asks %s, another origin than that of its pages", e.BaseURL)
	case e.StripPrefix != "":
		return tool, nil, fmt.Errorf("its answer begins with %q before the JSON, which no step takes off", e.StripPrefix)
	}
	base, _ := url.Parse(w.API.BaseURL)
	r := &spec.RequestStep{Method: e.Method}
	if e.Method == "GET" {
		r.Method = ""
	}
	if r.Path, err = template(strings.TrimSuffix(base.Path, "/") + e.Path); err != nil {
		return tool, nil, err
	}
	if r.Query, err = values(e.Query); err != nil {
		return tool, nil, err
	}
	if r.Form, err = values(e.Form); err != nil {
		return tool, nil, err
	}
	switch {
	case e.GraphQL != nil:
		r.JSON, err = w.graphQL(e)
	case e.Body != nil:
		r.JSON, err = body(e.Body)
	}
	if err != nil {
		return tool, nil, err
	}
	if r.Token, err = w.token(e); err != nil {
		return tool, nil, err
	}
	tool = spec.PackTool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}
	step := spec.Step{Request: r}
	failure := e.ErrorPath
	if e.GraphQL != nil && failure == nil {
		failure = []string{"errors"}
	}
	if failure != nil {
		// An answer that says of itself that it is an error must not be told as a result.
		step.As, tool.Result, tool.OutputSchema = "answer", judged(e.Returns, failure), judge
	} else {
		r.Take = e.Returns
	}
	tool.Steps = []spec.Step{step}
	acts := e.Method != "GET" || r.Token != nil
	if a := t.Annotations; a != nil {
		tool.Annotations = &spec.PackHints{ReadOnly: a.ReadOnly && !acts, Destructive: a.Destructive}
		if a.ReadOnly && acts {
			im.note("tool %s says that it only reads, and its request is one that acts: it counts as one that acts", t.Name)
		}
	}
	at := "https://" + base.Host + placeholder().ReplaceAllString(strings.TrimSuffix(base.Path, "/")+e.Path, "*")
	if reach = []string{at}; len(r.Query) > 0 {
		reach = append(reach, at+"?*")
	}
	if r.Token != nil && r.Token.Page != nil {
		reach = append(reach, "https://"+base.Host+r.Token.Page.Path)
	}
	return tool, reach, nil
}

// judge is the schema of a result that judged makes: errors that are there are no result.
var judge = json.RawMessage(`{"type":"object","properties":{"result":{"not":{"type":"null"}},"error":{"enum":[null,"",[],{}]}},"required":["result","error"]}`)

// judged is an expression that gives what an answer holds and what it says of errors.
func judged(returns string, failure []string) string {
	for i, s := range failure {
		failure[i] = quote(s)
	}
	result := "answer"
	if returns != "" {
		result = "answer | (" + returns + ")"
	}
	return "{result: " + result + ", error: answer." + strings.Join(failure, ".") + "}"
}

func (w *todayPackage) graphQL(e todayEndpoint) (json.RawMessage, error) {
	document := e.GraphQL.Document
	if name, ok := strings.CutPrefix(document, "@documents/"); ok {
		if document = w.API.Documents[name]; document == "" {
			return nil, fmt.Errorf("there is no document %s", name)
		}
	}
	if strings.Contains(document, "${") {
		return nil, errors.New(`its GraphQL document contains "${", which stands for an argument in a pack`)
	}
	out := map[string]json.RawMessage{"query": json.RawMessage(quote(document))}
	if e.GraphQL.Variables != nil {
		variables, err := body(e.GraphQL.Variables)
		if err != nil {
			return nil, err
		}
		out["variables"] = variables
	}
	return json.Marshal(out)
}

// hiddenField and metaTag match the regular expressions that find a token in a page as a selector does, too.
func hiddenField() *regexp.Regexp {
	return regexp.MustCompile(`^(?:<input[^>]*\s)?name="([\w.-]+)"(?:\s+|\[\^>\]\*\??\s?)value="\(\[\^"\]\+\)"$`)
}
func metaTag() *regexp.Regexp {
	return regexp.MustCompile(`^(?:<meta\s+)?name="([\w.-]+)"\s+content="\(\[\^"\]\+\)"$`)
}

// token makes a rule of where the endpoint's token is.
func (w *todayPackage) token(e todayEndpoint) (*spec.TokenRule, error) {
	if len(e.Auth) == 0 {
		return nil, nil
	}
	if len(e.Auth) > 1 {
		return nil, errors.New("it needs several tokens, and a request of a pack carries one")
	}
	var a todayAuth
	if err := strict(w.API.Auth[e.Auth[0]], &a); err != nil {
		return nil, fmt.Errorf("its token %s: %w", e.Auth[0], err)
	}
	var from todayEndpoint
	if err := strict(w.API.Endpoints[a.Source.Endpoint], &from); err != nil {
		return nil, fmt.Errorf("the endpoint of its token: %w", err)
	}
	page := &spec.TokenPage{Path: from.Path}
	switch {
	case a.Source.Extract != nil:
		return nil, errors.New("its token is in an answer of JSON; a pack takes tokens from pages, cookies and the page's storage")
	case from.BaseURL != "" || from.Method != "GET" || len(from.Query) > 0 || strings.Contains(from.Path, "{{"):
		return nil, errors.New("its token is in a page whose address depends on the call")
	case hiddenField().MatchString(a.Source.Pattern):
		page.Selector = `[name="` + hiddenField().FindStringSubmatch(a.Source.Pattern)[1] + `"]`
	case metaTag().MatchString(a.Source.Pattern):
		page.Selector, page.Attribute = `meta[name="`+metaTag().FindStringSubmatch(a.Source.Pattern)[1]+`"]`, "content"
	default:
		return nil, fmt.Errorf("its token is found by the regular expression %s; say by hand where it is, as token: {page: {path, selector, attribute}}", a.Source.Pattern)
	}
	rule := &spec.TokenRule{Page: page}
	switch a.SendAs.In {
	case "header":
		rule.Header = a.SendAs.Name
	case "form":
		rule.Field = a.SendAs.Name
	default:
		return nil, fmt.Errorf("its token goes into the %s, where logs and other sites may see it", a.SendAs.In)
	}
	return rule, nil
}

func placeholder() *regexp.Regexp { return regexp.MustCompile(`\{\{(\w+)\}\}`) }

// template makes text with ${NAME} of text with {{NAME}}.
func template(s string) (string, error) {
	if strings.Contains(s, "${") {
		return "", fmt.Errorf(`%q contains "${", which stands for an argument in a pack`, s)
	}
	return placeholder().ReplaceAllString(s, "$${$1}"), nil
}

// value makes a Value of a text: an argument alone keeps its type, and is left out if it is absent.
func value(s string) (json.RawMessage, error) {
	if m := placeholder().FindStringSubmatch(s); m != nil && m[0] == s {
		return json.Marshal(map[string]string{"arg": m[1]})
	}
	t, err := template(s)
	return json.RawMessage(quote(t)), err
}

func values(in map[string]string) (map[string]json.RawMessage, error) {
	if in == nil {
		return nil, nil
	}
	out := make(map[string]json.RawMessage, len(in))
	for name, s := range in {
		v, err := value(s)
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}

// body makes a JSON body of one in which texts are templates.
func body(raw json.RawMessage) (json.RawMessage, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	v, err := bodyValue(v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func bodyValue(v any) (out any, err error) {
	switch v := v.(type) {
	case string:
		return value(v)
	case []any:
		for i := range v {
			if v[i], err = bodyValue(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if len(v) == 1 && (v["arg"] != nil || v["from"] != nil) {
			return nil, fmt.Errorf("its body contains the object %s, which a pack reads as a value to put in", quote(v))
		}
		for k := range v {
			if v[k], err = bodyValue(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// strict decodes an object of the format, which has no members but those of v.
func strict(raw json.RawMessage, v any) error {
	if raw == nil {
		return errors.New("it is not there")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// covers says whether one of the patterns is the whole path below which the pattern is.
func covers(patterns []string, pattern string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		whole, ok := strings.CutSuffix(p, "*")
		return p == pattern || ok && !strings.Contains(whole, "*") && strings.HasPrefix(pattern, whole)
	})
}

// union returns a and those of b that are not in it.
func union(a, b []string) []string {
	a = slices.Clip(a)
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}
