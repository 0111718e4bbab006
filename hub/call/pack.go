package call

import (
	"errors"
	"strings"

	"tabhub/describe"
	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/offer/pack"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// packTool returns the tool of a pack that an item is; nil for what is the page's own. What is sent are its
// steps, whatever the owner accepts meanwhile. The error says that its version is not active any more.
func (cs *Calls) packTool(it *item.Item) (*pack.Tool, error) {
	if it.Pack.Name == "" {
		return nil, nil
	}
	if of := cs.core.Options.Packs.Pack(it.Pack); of != nil {
		if t := of.Tool(it.Source); t != nil {
			return t, nil
		}
		return &pack.Tool{PackTool: spec.PackTool{Name: it.Source}, Pack: of}, nil // which a script has registered
	}
	return nil, packGone(it.Pack.Name)
}

func packGone(name string) error {
	return core.Fail(spec.FailToolError, "the pack %s was removed, or another version of it was accepted; nothing was sent. List the tools again", name)
}

// PacksChanged ends the questions about tools of packs whose version is not active any more, and what the owner
// has answered to them for once.
func PacksChanged(cs *Calls) {
	cs.gate.desk.Withdraw(func(a *policy.Action) error {
		it, known := a.Item.(*item.Item)
		switch {
		case a.Pack == "":
			return nil
		case known:
			_, err := cs.packTool(it)
			return err
		case cs.core.Options.Packs.PackAdded(a.Pack).IsZero(): // of an earlier process; another version has another pin
			return packGone(a.Pack)
		}
		return nil
	})
}

// ran reads the answer to the call of a pack's tool, as that of a page's.
func (r *run) ran(resp spec.Response, err error) (spec.Response, error) {
	if r.tool == nil || err != nil {
		return resp, err
	}
	var result spec.RunResult
	if err := spec.Decode(resp.Result, &result); err != nil {
		return spec.Response{}, core.Fail(spec.FailToolError, "the browser's answer cannot be read (%s). %s", err.Message, r.tool.LossWords(nil))
	}
	answer := spec.Response{Page: result.Page}
	answer.Result, answer.Failed = r.tool.Result(&result)
	return answer, nil
}

// tabClosed is why a call ends that was sent to a tab which is gone, as err says.
func (r *run) tabClosed(err error) error {
	if r.tool == nil {
		return errTabClosed
	}
	if remote, ok := errors.AsType[*spec.Error](err); ok && strings.Contains(remote.Message, "may have taken effect") {
		return &core.Failure{Code: spec.FailTabClosed, Message: describe.Clean(remote.Message, spec.MaxDescription)}
	}
	return core.Fail(spec.FailTabClosed, "the tab went away after the call was sent. %s", r.tool.LossWords(nil))
}

// withProgress adds to a failure of a pack's tool that was sent how far its steps were said to have come.
func (r *run) withProgress(err error) error {
	f, ok := errors.AsType[*core.Failure](err)
	if !ok || r.tool == nil || !r.sent || len(r.tool.Steps) == 0 {
		return err
	}
	return heard(f, r.said)
}

// heard adds to a failure of a run of steps how far these were said to have come. What the page calls its elements
// is no word of the hub, and stays out.
func heard(f *core.Failure, said string) error {
	step, _, ofStep := strings.Cut(said, ": ")
	if !ofStep || !strings.HasPrefix(step, "step ") {
		return f
	}
	return &core.Failure{Code: f.Code, Message: strings.TrimSuffix(f.Message, ".") + ". The last that was heard of it: " + step + " was done."}
}
