package anypage

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"tabhub/describe"
	"tabhub/hub/call"
	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// snapshot is the action by which clients read pages, for rules.
const snapshot = "browser_page snapshot"

// Look returns what a tab shows, as texts of the sites that have them. args are what the client has asked for. The
// error is that of call.Does.
func (p *Pages) Look(ctx context.Context, by *consent.Caller, to spec.TabAddr, req spec.Look, args json.RawMessage) ([]Part, error) {
	return p.look(ctx, by, to, req, args, true)
}

// Changes returns what has changed in a tab since the last look of the session: after an act, whose record it leaves
// alone.
func (p *Pages) Changes(ctx context.Context, by *consent.Caller, to spec.TabAddr, args json.RawMessage) ([]Part, error) {
	return p.look(ctx, by.Noted(new(record.Entry)), to, spec.Look{Changes: true}, args, false)
}

func (p *Pages) look(ctx context.Context, by *consent.Caller, to spec.TabAddr, req spec.Look, args json.RawMessage, titled bool) ([]Part, error) {
	if err := call.CanLook(p.calls, by, to, true); err != nil {
		return nil, err
	}
	req.Viewer = p.viewer(by)
	own := &call.Own{Request: &req, Name: snapshot, Class: policy.Read, Args: args}
	if req.Scope != "" {
		refs, err := p.resolve(ctx, by, to, []string{req.Scope})
		if err != nil {
			return nil, err
		}
		own.Origin = refs.Origin
		if f := refs.Refs[0].Frame; f != nil {
			own.Origin = f.Origin
		}
	}
	resp, from, err := call.Does(ctx, p.calls, by, to, own)
	if err != nil {
		return nil, err
	}
	var result spec.LookResult
	if err := decode(resp, &result); err != nil {
		return nil, err
	}
	if len(result.Frames) == 0 {
		return nil, core.Fail(spec.FailToolError, "the browser's answer about the page makes no sense")
	}
	v := view{p: p, by: by, to: to, site: from.Domain, may: map[string]bool{}}
	if titled {
		top := &result.Frames[0]
		v.add(v.site, fmt.Sprintf("Page %s %s tab %s", text(top.Title), describe.Clean(top.URL, spec.MaxURI), to.Public()))
	}
	if !titled && !result.Changes {
		v.add(v.site, "(the page now)")
	}
	parts := v.parts(&req, &result, titled)
	for _, part := range parts {
		call.Returned(p.calls, by, part.Site, part.Text)
	}
	return parts, nil
}

// view makes the texts of a look for one client.
type view struct {
	p    *Pages
	by   *consent.Caller
	to   spec.TabAddr
	site spec.Domain // that the client was allowed to read
	may  map[string]bool
	all  []Part
	text strings.Builder // of the last of all
}

// reads reports whether the client may read a frame without a question.
func (v *view) reads(f *spec.LookFrame) bool {
	may, known := v.may[f.Origin]
	if !known {
		site := siteOf(f.Origin)
		may = site != "" && site == v.site || call.MayRead(v.p.calls, v.by, v.to, snapshot, f.Origin)
		v.may[f.Origin] = may
	}
	return may
}

// parts returns the lines of the result as texts of their sites. titled says that they are not expected to be changes.
func (v *view) parts(req *spec.Look, result *spec.LookResult, titled bool) []Part {
	switch {
	case result.Changes && len(result.Lines) == 0:
		v.add(v.site, "(nothing has changed since your last snapshot)")
	case result.Changes && titled:
		v.add(v.site, "(changed since your last snapshot:)")
	case req.Find != "" && len(result.Lines) == 0:
		v.add(v.site, "(nothing has these words in its role, name or text)")
	}
	hidden := map[int]bool{}
	left, most := max(0, result.Left), maxLook(req.MaxTokens)
	for n, line := range result.Lines {
		i := line.Frame
		if i < 0 || i >= len(result.Frames) {
			continue
		}
		if most -= len(line.Text) + 1; most < 0 {
			left += len(result.Lines) - n
			break
		}
		content := strings.TrimLeft(line.Text, " ")
		indent := line.Text[:len(line.Text)-len(content)]
		f := &result.Frames[i]
		if i == 0 || v.reads(f) {
			site := v.site
			if i > 0 {
				site = cmp.Or(siteOf(f.Origin), v.site)
			}
			v.add(site, indent+describe.Clean(content, maxLine))
			continue
		}
		if !hidden[i] {
			hidden[i] = true
			ref := describe.Clean(f.Ref, 16)
			v.add(v.site, fmt.Sprintf("%s(the frame %s of %s is not shown: a snapshot with scope %s asks the owner)", indent, ref, where(f.Origin), ref))
		}
	}
	if left > 0 {
		v.add(v.site, fmt.Sprintf("(%d lines left out: scope, find or a higher maxTokens shows them)", left))
	}
	v.end()
	return v.all
}

// maxLook is how many bytes the lines of a look have at most. The browser counts tokens, of which none has as many
// bytes on average; this holds whatever the browser counts.
func maxLook(tokens int) int { return max(16<<10, 8*cmp.Or(tokens, spec.DefaultLookTokens)) }

// maxLine is how long a line may be, in bytes.
const maxLine = 1024

// add adds a line of a site.
func (v *view) add(site spec.Domain, line string) {
	if n := len(v.all); n > 0 && v.all[n-1].Site == site {
		v.text.WriteByte('\n')
	} else {
		v.end()
		v.all = append(v.all, Part{Site: site})
	}
	v.text.WriteString(line)
}

// end ends the last part.
func (v *view) end() {
	if n := len(v.all); n > 0 {
		v.all[n-1].Text = v.text.String()
	}
	v.text.Reset()
}

// text quotes a text of a page.
func text(s string) string {
	out, _ := json.Marshal(describe.Clean(s, spec.MaxTitle))
	return string(out)
}

// Picture takes a picture of a tab, an element or the full page.
func (p *Pages) Picture(ctx context.Context, by *consent.Caller, to spec.TabAddr, req spec.Screenshot, args json.RawMessage) (*spec.ScreenshotResult, *item.Source, error) {
	own := &call.Own{Request: &req, Name: "browser_page screenshot", Class: policy.Read, Args: args}
	if req != (spec.Screenshot{}) {
		if err := call.CanLook(p.calls, by, to, true); err != nil {
			return nil, nil, err
		}
	}
	if req.Ref != "" {
		refs, err := p.resolve(ctx, by, to, []string{req.Ref})
		if err != nil {
			return nil, nil, err
		}
		if refs.FrameID != 0 && !call.MayRead(p.calls, by, to, own.Name, refs.Origin) {
			return nil, nil, core.Fail(spec.FailDenied, "the element is in a frame of %s, which the owner has not let you read: a snapshot with scope %s asks", where(refs.Origin), req.Ref)
		}
	}
	resp, from, err := call.Does(ctx, p.calls, by, to, own)
	if err != nil {
		return nil, nil, err
	}
	var result spec.ScreenshotResult
	if spec.Decode(resp.Result, &result) != nil {
		return nil, nil, core.Fail(spec.FailToolError, "the browser's answer is no picture")
	}
	call.Returned(p.calls, by, from.Domain, strings.Join(result.Lines, "\n"))
	return &result, from, nil
}
