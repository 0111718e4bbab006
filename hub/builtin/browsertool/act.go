package browsertool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tabhub/describe"
	"tabhub/hub/anypage"
	"tabhub/hub/builtin"
	"tabhub/hub/offer/item"
	"tabhub/hub/offer/pack"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// field is a field of fill.
type field struct {
	Ref   string          `json:"ref"`
	Value json.RawMessage `json:"value"`
}

var scriptActions = actions{"": {takes: []string{"tabId", "browserId", "frame", "steps", "code"}, run: script}}

// act is an action of browser_page that does a step.
func act(step func(*call) (*spec.Step, error), needs []string, takes ...string) action {
	return action{needs: needs, takes: append(takes, "tabId", "browserId", "changes"), run: func(c *call) (any, error) {
		s, err := step(c)
		if err != nil {
			return nil, err
		}
		return c.act(anypage.Act{Name: PageTool + " " + c.args.Action, Steps: []spec.Step{*s}})
	}}
}

// act does a, and returns what has come of it.
func (c *call) act(a anypage.Act) (any, error) {
	_, addr, err := c.meant()
	if err != nil {
		return nil, err
	}
	a.Args = c.object
	done, from, err := c.pages.Act(c.ctx, c.by, addr, a)
	if c.from = from; err != nil {
		return nil, c.said(err, addr)
	}
	if !c.args.Changes {
		return done, nil
	}
	text, err := json.Marshal(done)
	if err != nil {
		return nil, err
	}
	parts, err := c.pages.Changes(c.ctx, c.by, addr, c.object)
	if err != nil {
		parts = []anypage.Part{{Text: "What has changed is not known: " + failureOf(err).Message}}
	}
	return c.texts(append([]anypage.Part{{Site: from.Domain, Text: string(text)}}, parts...), addr), nil
}

// target returns the element that is to be acted on: by its reference, or as browser_script names elements.
func (c *call) target() (t spec.Target, err error) {
	if c.args.Ref == "" {
		return t, nil
	}
	return targetOf(c.args.Ref)
}

func targetOf(text string) (spec.Target, error) {
	t, err := anypage.ParseTarget(text)
	if err != nil {
		err = invalid("%v", err)
	}
	return t, err
}

func click(c *call) (*spec.Step, error) {
	t, err := c.target()
	return &spec.Step{Click: &spec.ActStep{Target: t, Count: c.args.Count, Button: strings.TrimPrefix(c.args.Button, "left")}}, err
}

func fill(c *call) (*spec.Step, error) {
	all := c.args.Fields
	switch one := c.args.Ref != "" || c.args.Value != nil; {
	case one && len(all) > 0, !one && len(all) == 0, one && (c.args.Ref == "" || c.args.Value == nil):
		return nil, invalid("action fill needs ref and value, or fields")
	case one:
		all = []field{{c.args.Ref, c.args.Value}}
	}
	s := &spec.FillStep{}
	for _, f := range all {
		t, err := targetOf(f.Ref)
		if err != nil {
			return nil, err
		}
		s.Fields = append(s.Fields, spec.FillField{Target: t, Value: f.Value})
	}
	return &spec.Step{Fill: s}, nil
}

func selects(c *call) (*spec.Step, error) {
	labels := c.args.Values
	if c.args.Value != nil {
		label, ok := rawjson.String(c.args.Value)
		if !ok {
			label = string(c.args.Value)
		}
		labels = append([]string{label}, labels...)
	}
	if len(labels) == 0 {
		return nil, invalid("action select needs value, the label of an option, or values")
	}
	t, err := c.target()
	return &spec.Step{Select: &spec.SelectStep{Target: t, Options: labels}}, err
}

func press(c *call) (*spec.Step, error) {
	t, err := c.target()
	return &spec.Step{Press: &spec.PressStep{Target: t, Key: c.args.Key}}, err
}

func hover(c *call) (*spec.Step, error) {
	t, err := c.target()
	return &spec.Step{Hover: &spec.ActStep{Target: t}}, err
}

func scroll(c *call) (*spec.Step, error) {
	s := &spec.ScrollStep{Pages: c.args.Pages}
	t, err := c.target()
	if c.args.Ref != "" {
		s.Target = &t
	} else if s.Pages == 0 {
		s.Pages = 1
	}
	return &spec.Step{Scroll: s}, err
}

func drag(c *call) (*spec.Step, error) {
	t, err := c.target()
	if err != nil {
		return nil, err
	}
	to, err := targetOf(c.args.To)
	return &spec.Step{Drag: &spec.DragStep{Target: t, To: to}}, err
}

func upload(c *call) (*spec.Step, error) {
	t, err := c.target()
	if err != nil {
		return nil, err
	}
	s := &spec.UploadStep{Target: t}
	for _, name := range c.args.Files {
		s.Files = append(s.Files, spec.File{Name: name})
	}
	if len(s.Files) == 0 {
		return nil, invalid("action upload needs files, the names of some")
	}
	return &spec.Step{Upload: s}, nil
}

// dialog keeps how the next dialog is answered.
func dialog(c *call) (any, error) {
	_, addr, err := c.meant()
	if err != nil {
		return nil, err
	}
	d := spec.DialogStep{Accept: c.args.Accept}
	if c.args.Value != nil {
		d.Text, _ = rawjson.String(c.args.Value)
	}
	if err := c.pages.Dialog(c.by, addr, d); err != nil {
		return nil, err
	}
	return map[string]any{"success": true, "tabId": addr.Public(), "message": "The dialog that your next act in this tab opens is answered so, within 5 minutes and at this site."}, nil
}

func script(c *call) (any, error) {
	a := anypage.Act{Name: ScriptTool, Script: c.args.Code, Frame: c.args.Frame}
	if (len(c.args.Steps) > 0) == (a.Script != "") {
		return nil, invalid("browser_script needs either steps or code")
	}
	if a.Frame != "" && !pack.IsRef(a.Frame) {
		return nil, invalid("frame %.64q is no reference; a snapshot shows those of frames", a.Frame)
	}
	if a.Script == "" {
		var err error
		if a.Steps, err = anypage.Steps(c.args.Steps); err != nil {
			return nil, invalid("%v", err)
		}
	}
	return c.act(a)
}

func snapshot(c *call) (any, error) {
	_, addr, err := c.meant()
	if err != nil {
		return nil, err
	}
	a := &c.args
	if a.Scope != "" && !pack.IsRef(a.Scope) {
		return nil, invalid("scope %.64q is no reference; a snapshot without scope shows those of the page, such as kfa3", a.Scope)
	}
	req := spec.Look{Scope: a.Scope, Depth: a.Depth, Find: a.Find, Changes: a.Changes, MaxTokens: a.MaxTokens}
	parts, err := c.pages.Look(c.ctx, c.by, addr, req, c.object)
	if err != nil {
		return nil, c.said(err, addr)
	}
	return c.texts(parts, addr), nil
}

// said has a failure that names what there is on a page labelled as a page's.
func (c *call) said(err error, addr spec.TabAddr) error {
	if c.from == nil && failureOf(err).Code == spec.FailureCode(spec.StaleRef) {
		c.from = &item.Source{Tab: addr.Public()}
	}
	return err
}

func screenshot(c *call) (any, error) {
	_, addr, err := c.meant()
	if err != nil {
		return nil, err
	}
	req := spec.Screenshot{Ref: c.args.Ref, Full: c.args.Full, Numbered: c.args.Numbered}
	got, from, err := c.pages.Picture(c.ctx, c.by, addr, req, c.object)
	if err != nil {
		return nil, c.said(err, addr)
	}
	c.from = from
	data, _ := json.Marshal(got.Data)
	if !strings.HasPrefix(got.MimeType, "image/") || len(got.MimeType) > 64 || !isBase64(data) {
		return nil, failure(spec.FailToolError, "the browser's answer is no picture")
	}
	lines := got.Lines
	for i := range lines {
		lines[i] = describe.Clean(lines[i], 512)
	}
	if got.Cut {
		lines = append(lines, "(the page is longer than the picture)")
	}
	return picture{got.MimeType, data, strings.Join(lines, "\n")}, nil
}

// texts returns a result of texts of several sites, each labelled as its site's.
func (c *call) texts(parts []anypage.Part, addr spec.TabAddr) json.RawMessage {
	var content []byte
	meta := json.RawMessage(nil)
	for _, p := range parts {
		from := &item.Source{Domain: p.Site, Verified: p.Site != "" && !naming.IsClaimed(p.Site), Tab: addr.Public()}
		labelled := c.hub.Calls.Label(builtin.Text(p.Text), from)
		if meta == nil {
			meta = slices.Clone(rawjson.Get(labelled, "_meta"))
		}
		for block := range rawjson.Elements(rawjson.Get(labelled, "content")) {
			if content != nil {
				content = append(content, ',')
			}
			content = append(content, block...)
		}
	}
	return fmt.Appendf(nil, `{"_meta":%s,"content":[%s]}`, meta, content)
}
