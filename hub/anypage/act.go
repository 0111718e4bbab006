package anypage

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"tabhub/describe"
	"tabhub/hub/call"
	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/offer/pack"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Act is what a client does on a page by itself: Steps, or JavaScript that does steps.
type Act struct {
	Name   string // of the hub's tool, and its action
	Steps  []spec.Step
	Script string
	// Frame is a reference in the frame where it is done, or of that frame; "": where the references of Steps are, or
	// else in the page of the tab.
	Frame string
	Args  json.RawMessage // what the client has asked for
}

// Done is what has come of an Act.
type Done struct {
	Value json.RawMessage `json:"value,omitempty"`
	Did   []string        `json:"did"`
	URL   string          `json:"url,omitempty"` // where it has led, if that is another page
	Title string          `json:"title,omitempty"`
	Error string          `json:"error,omitempty"` // why the browser could not show that page
}

// Act acts on a page. With an error, from is the site whose words are in it, if there are any. The error is that of
// call.Does, or a *core.Failure with the code of a step.
func (p *Pages) Act(ctx context.Context, by *consent.Caller, to spec.TabAddr, a Act) (done *Done, from *item.Source, err error) {
	class := policy.Read
	if a.Script != "" || slices.ContainsFunc(a.Steps, func(s spec.Step) bool { return pack.Acts(&s) }) {
		class = policy.Act
	}
	if err := call.CanLook(p.calls, by, to, class == policy.Read); err != nil {
		return nil, nil, err
	}
	for i := range a.Steps {
		if u := a.Steps[i].Upload; u != nil {
			if err := p.uploads.read(u.Files); err != nil {
				return nil, nil, err
			}
		}
	}
	at := place{p.viewer(by), to}
	run := &spec.Run{Script: a.Script}
	own := &call.Own{Request: run, Name: a.Name, Class: class, Args: a.Args, Script: a.Script}
	words, err := p.place(ctx, by, to, &a, run, own)
	if err != nil {
		return nil, nil, err
	}
	if len(words) > 0 && len(a.Args) > 0 {
		own.Args = named(a.Args, words)
		by.Note(func(e *record.Entry) { e.Args = own.Args })
	}
	steps := a.Steps
	if class == policy.Act && a.Script == "" && steps[0].Dialog == nil {
		if d, ok := p.take(at); ok {
			steps = append([]spec.Step{{Dialog: &d.step}}, steps...)
			defer func() {
				if !own.Sent {
					p.keep(at, d)
				}
			}()
		}
	}
	run.Steps, own.Steps = steps, pack.OwnWords(steps, words)
	resp, source, err := call.Does(ctx, p.calls, by, to, own)
	if remote, ok := errors.AsType[*spec.Error](err); ok && class == policy.Act && perhapsDone(remote) {
		err = core.Fail(spec.FailToolError, "%s; it may have been done: look at the page before you act again", strings.TrimSuffix(describe.Clean(remote.Message, spec.MaxDescription), "."))
	}
	if err != nil {
		return nil, nil, err
	}
	call.Returned(p.calls, by, source.Domain, string(resp.Result))
	var result spec.RunResult
	if wrong := spec.Decode(resp.Result, &result); wrong != nil {
		return nil, nil, core.Fail(spec.FailToolError, "the browser's answer makes no sense (%s); what was done is not known: look at the page before you act again", wrong.Message)
	}
	by.Note(func(e *record.Entry) { e.Result = recorded(steps, &result) })
	if result.Failed != nil {
		return nil, source, failed(steps, own.Steps, &result)
	}
	done = &Done{Did: pack.OwnReport(steps, &result, false)}
	if v := result.Value; len(v) > 0 && string(v) != "null" && rawjson.Valid(v, spec.MaxDepth) == nil {
		done.Value = describe.CleanJSON(rawjson.WellFormed(v))
	}
	if page := result.Page; page != nil {
		done.URL, done.Title, done.Error = describe.Clean(page.URL, spec.MaxURI), describe.Clean(page.Title, spec.MaxTitle), describe.Clean(page.Error, spec.MaxTitle)
	}
	return done, source, nil
}

// perhapsDone reports whether a browser that answers a run with an error may have done some of it.
func perhapsDone(e *spec.Error) bool {
	switch e.Code {
	case spec.CodeInvalidParams, spec.CodeMethodNotFound, spec.CodeRefused, spec.CodeUnsupported:
		return false
	}
	return !call.NotDelivered(e)
}

// place finds out where an act is done, and where it leads. It returns what the references of its steps stand for.
func (p *Pages) place(ctx context.Context, by *consent.Caller, to spec.TabAddr, a *Act, run *spec.Run, own *call.Own) (words map[string]string, err error) {
	var refs []string
	leads := map[string]bool{}
	note := func(ref string) {
		if ref != "" && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	eachTarget(a.Steps, func(t *spec.Target, clicked bool) {
		note(t.Ref)
		leads[t.Ref] = leads[t.Ref] || clicked
	})
	inFrame := a.Frame != "" && len(refs) == 0
	note(a.Frame)
	if len(refs) == 0 {
		return nil, nil
	}
	if len(refs) > maxRefs {
		return nil, core.Fail(spec.FailInvalidArguments, "these steps have %d references, and a call has at most %d; make several calls; nothing was done", len(refs), maxRefs)
	}
	found, err := p.resolve(ctx, by, to, refs)
	if err != nil {
		return nil, err
	}
	frame, origin := found.FrameID, found.Origin
	if f := found.Refs[len(refs)-1].Frame; inFrame && f != nil {
		frame, origin = f.FrameID, f.Origin
	}
	run.FrameID, run.Origin, own.Origin = &frame, origin, origin
	words = map[string]string{}
	for _, r := range found.Refs {
		words[r.Ref] = describe.Clean(r.Words, 200)
		if r.Leads != "" && leads[r.Ref] && r.Leads != origin && !slices.Contains(own.Leads, r.Leads) {
			own.Leads = append(own.Leads, r.Leads)
		}
	}
	run.Reach = own.Leads
	return words, nil
}

// maxRefs is how many references a call has at most.
const maxRefs = 256

// maxRecorded is how long the words about what an act did are in the record, in bytes.
const maxRecorded = 4000

// recorded is what the record keeps of a run: what became of each step that acts, in words.
func recorded(steps []spec.Step, r *spec.RunResult) json.RawMessage {
	did, size := []string{}, 0
	for _, s := range pack.OwnReport(steps, r, true) {
		if size += len(s) + 4; size > maxRecorded {
			did = append(did, "and more")
			break
		}
		did = append(did, s)
	}
	out, _ := json.Marshal(map[string]any{"did": did})
	return out
}

// stepCodes are the codes with which a run fails.
var stepCodes = []spec.StepCode{
	spec.StepNotFound, spec.StepAmbiguous, spec.StepRefused, spec.StepTimeout, spec.StepAnswer, spec.StepLost, spec.StepStopped,
	spec.NeedsTrustedCode, spec.StepScript, spec.StaleRef,
}

// failed is why a run has failed, what was done, and what to do next.
func failed(steps []spec.Step, words []string, r *spec.RunResult) error {
	code := r.Failed.Code
	if !slices.Contains(stepCodes, code) {
		code = spec.StepCode(spec.FailToolError) // the codes of the hub say what the hub has done
	}
	outcome, acted := pack.OwnOutcome(steps, r)
	text := pack.OwnFailure(words, r) + " " + outcome
	switch {
	case code == spec.NeedsTrustedCode:
		text += " Ask the user to do this by hand, or to use the extension's build with trusted input (tabhub extension DIR --trusted-input)."
	case acted:
		text += " Look at the page before you act again (snapshot with changes)."
	case code == spec.StepNotFound || code == spec.StepAmbiguous || code == spec.StaleRef:
		text += " snapshot, or its find, shows what there is."
	}
	return &core.Failure{Code: spec.FailureCode(code), Message: text}
}

// Dialog keeps how the next dialog is answered that the session's next act in a tab opens.
func (p *Pages) Dialog(by *consent.Caller, to spec.TabAddr, d spec.DialogStep) error {
	if err := call.CanLook(p.calls, by, to, false); err != nil {
		return err
	}
	p.keep(place{p.viewer(by), to}, answer{d, p.site(to), time.Now().Add(dialogFor)})
	return nil
}

// site returns that of the page that a tab shows, "" if the hub is not told.
func (p *Pages) site(tab spec.TabAddr) spec.Domain {
	return core.View(p.core, func(s *state.State) spec.Domain {
		url, _ := s.Tab(tab).Shows()
		return siteOf(url)
	})
}

func (p *Pages) keep(at place, d answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.dialogs) >= maxDialogs {
		clear(p.dialogs) // the acts get the answers by default
	}
	p.dialogs[at] = d
}

// take returns the answer that is kept for an act, and keeps it no more: it is good for one act.
func (p *Pages) take(at place) (answer, bool) {
	p.mu.Lock()
	d, ok := p.dialogs[at]
	delete(p.dialogs, at)
	p.mu.Unlock()
	return d, ok && time.Now().Before(d.until) && d.site == p.site(at.tab)
}
