package admin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"tabhub/hub/core"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/offer/pack"
	"tabhub/hub/offer/pack/foreign"
	"tabhub/hub/packs"
	"tabhub/hub/state"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// PackReport is a pack: an element of GET /api/packs.
type PackReport struct {
	Name    string       `json:"name"`
	Active  *PackVersion `json:"active,omitempty"`  // browsers offer its tools; nil: the owner has not accepted it yet
	Waiting *PackVersion `json:"waiting,omitempty"` // waits for its owner to accept it
	// Changes say how Waiting differs from Active, if there are both.
	Changes []spec.AskChange `json:"changes,omitempty"`
	// Allowed are the owner's rules that allow clients what it does.
	Allowed []policy.Rule `json:"allowed"`
	// Withdraws says that Allowed are removed when Waiting is accepted, as it may do more.
	Withdraws bool `json:"withdraws,omitempty"`
	// Absent are the connected browsers that do not offer its tools.
	Absent []PackAbsence `json:"absent,omitempty"`
}

// PackVersion is a version of a pack.
type PackVersion struct {
	Hash     string           `json:"hash"`
	Added    time.Time        `json:"added"` // when it was accepted or, while it waits, when it came
	By       string           `json:"by"`
	From     string           `json:"from,omitempty"` // the file that it was read from, or the address where it was recorded
	Title    string           `json:"title,omitempty"`
	Match    []string         `json:"match"`
	Script   bool             `json:"script,omitempty"`
	Tools    []PackToolReport `json:"tools"`
	Words    []string         `json:"words"`              // what it may do, for its owner: see pack.Pack
	Document json.RawMessage  `json:"document,omitempty"` // only for the parameter name
}

// PackToolReport is a tool of a pack.
type PackToolReport struct {
	Name     string             `json:"name"`
	Class    policy.Class       `json:"class"`
	Examples []spec.PackExample `json:"examples,omitempty"`
}

// PackAbsence says why a browser does not offer the tools of a pack.
type PackAbsence struct {
	Browser string `json:"browser"`
	Why     string `json:"why"`
}

// PackFile is the body of PUT /api/packs.
type PackFile struct {
	File string `json:"file" validate:"required,max=4096"` // its path, or its name: that says which format it may have
	Text string `json:"text" validate:"required"`
}

// PackAdded answers PUT /api/packs.
type PackAdded struct {
	Pack PackReport `json:"pack"`
	// Unmapped says what of a file of another format has no place in the pack.
	Unmapped []string `json:"unmapped"`
}

// PackVersionName is the body of POST /api/packs/accept and /api/packs/reject: the version that the owner
// has seen.
type PackVersionName struct {
	Name string `json:"name" validate:"required,max=64"`
	Hash string `json:"hash" validate:"required,max=64"`
}

// PackRecording answers POST /api/packs/record.
type PackRecording struct {
	Browser string `json:"browser"` // in which the person is asked
}

// maxPackBody bounds the body of PUT /api/packs: a script of a pack may have 1 MiB, and JSON writes some
// characters as six.
const maxPackBody = 6 << 20

// ReadPack reads a pack from a file, of tabhub's format or of another one. It returns what has no place
// in the pack, too, in words.
func ReadPack(file string, text []byte) (*pack.Pack, []string, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && bytes.Contains(text, []byte(`"tabhubPack"`)) {
		p, err := pack.Parse(text)
		return p, nil, err
	}
	doc, unmapped, err := foreign.Import(file, text)
	if err != nil {
		return nil, nil, err
	}
	p, err := pack.New(doc)
	return p, unmapped, err
}

// getPacks lists the packs by their names, or the one that the parameter name names, with its documents.
func getPacks(r *endpoint.Request) error {
	name := r.URL.Query().Get("name")
	report, absent := []PackReport{}, absences(r)
	for _, s := range r.Tenant.Hub.Packs.List() {
		if name == "" || s.Name == name {
			p := reportPack(r, s, name != "")
			if s.Active != nil {
				p.Absent = absent(s.Active.Ref())
			}
			report = append(report, p)
		}
	}
	if name != "" && len(report) == 0 {
		return packError(packs.ErrNoPack)
	}
	return r.Answer(report)
}

func reportPack(r *endpoint.Request, s packs.State, whole bool) PackReport {
	version := func(v *packs.Version) *PackVersion {
		if v == nil {
			return nil
		}
		is := PackVersion{
			Hash: v.Hash, Added: v.Added, By: v.By, From: v.From,
			Title: v.Title, Match: v.Match, Script: v.Pack.Script != "", Tools: []PackToolReport{}, Words: v.Words(),
		}
		for _, t := range v.AllTools() {
			is.Tools = append(is.Tools, PackToolReport{t.Name, t.Class, t.Examples})
		}
		if whole {
			is.Document = v.Text()
		}
		return &is
	}
	report := PackReport{Name: s.Name, Active: version(s.Active), Waiting: version(s.Waiting), Allowed: []policy.Rule{}}
	for _, rule := range r.Tenant.Hub.Rules.Policy().Document().Rules {
		if rule.Allows(s.Name) {
			report.Allowed = append(report.Allowed, rule)
		}
	}
	if s.Active != nil && s.Waiting != nil {
		report.Changes = pack.Diff(s.Active.Pack, s.Waiting.Pack)
		report.Withdraws = len(report.Allowed) > 0 && pack.ActsMore(s.Active.Pack, s.Waiting.Pack)
	}
	return report
}

// askPacks is how long a browser may take to say which packs it does not offer.
const askPacks = 2 * time.Second

// absences asks the connected browsers, and returns a function that says of an active pack in which of
// them its tools are not offered.
func absences(r *endpoint.Request) func(spec.PackRef) []PackAbsence {
	h := r.Tenant.Hub
	if len(h.Packs.Active()) == 0 {
		return func(spec.PackRef) []PackAbsence { return nil }
	}
	browsers := slices.DeleteFunc(h.Browsers(nil), func(b state.BrowserInfo) bool { return !b.Connected || b.Single })
	off, failed := make([]spec.ListPacksResult, len(browsers)), make([]error, len(browsers))
	var asked sync.WaitGroup
	for i, b := range browsers {
		if b.Pairing != "" && slices.Contains(b.Capabilities, spec.CapPacks) {
			asked.Go(func() { off[i], failed[i] = listPacks(r.Context(), h.Core, b.Peer) })
		}
	}
	asked.Wait()
	return func(ref spec.PackRef) (all []PackAbsence) {
		for i, b := range browsers {
			absent := func(why string) { all = append(all, PackAbsence{nameOf(&b), why}) }
			switch {
			case b.Pairing == "":
				absent("it is not paired with the hub; `tabhub browser pair` pairs it")
			case !slices.Contains(b.Capabilities, spec.CapPacks):
				absent("its extension is of a version without packs; `tabhub extension DIR` writes the present one")
			case failed[i] != nil:
				absent("perhaps: it did not say")
			}
			for _, p := range off[i].Off {
				if p.PackRef == ref {
					absent(p.Why)
				}
			}
		}
		return all
	}
}

// listPacks asks a browser which packs it does not offer.
func listPacks(ctx context.Context, c *core.Core, browser spec.PeerID) (off spec.ListPacksResult, err error) {
	resp, err := c.SendOwn(ctx, spec.TabAddr{Peer: browser}, &spec.ListPacks{}, tabtransport.Wait{Timeout: askPacks})
	if err == nil {
		if bad := spec.Decode(resp.Result, &off); bad != nil {
			err = bad
		}
	}
	return off, err
}

// nameOf returns what the owner calls a browser.
func nameOf(b *state.BrowserInfo) string { return cmp.Or(b.Label, b.Name, b.Peer.Short()) }

// putPack adds the pack of a file, or another version of one. It waits for its owner to accept it.
func putPack(r *endpoint.Request) error {
	var in PackFile
	if err := r.Read(maxPackBody, &in); err != nil {
		return err
	}
	doc, unmapped, err := ReadPack(in.File, []byte(in.Text))
	if err != nil {
		return endpoint.BadRequest("%s: %v", in.File, err)
	}
	s, err := r.Tenant.Hub.Packs.Add(doc, packs.AddOptions{By: editor(r), From: in.File})
	if err != nil {
		return packError(err)
	}
	return r.Answer(PackAdded{reportPack(r, s, false), nonNil(unmapped)})
}

func postPackAccept(r *endpoint.Request) error { return decidePack(r, r.Tenant.Hub.Packs.Accept) }

func postPackReject(r *endpoint.Request) error { return decidePack(r, r.Tenant.Hub.Packs.Reject) }

// decidePack does with a version that waits what its owner has decided.
func decidePack(r *endpoint.Request, decide func(name, hash, by string) error) error {
	var in PackVersionName
	if err := r.Read(1<<10, &in); err != nil {
		return err
	}
	if err := decide(in.Name, in.Hash, editor(r)); err != nil {
		return packError(err)
	}
	return r.Answer(struct{}{})
}

// postPackRecord has a browser ask the person in front of it whether to record what they do. It answers
// which one asks; a recording becomes a draft.
func postPackRecord(r *endpoint.Request) error {
	var in spec.Record
	if err := r.Read(1<<10, &in); err != nil {
		return err
	}
	able := slices.DeleteFunc(r.Tenant.Hub.Browsers(nil), func(b state.BrowserInfo) bool {
		return !b.Connected || b.Single || b.Pairing == "" || !slices.Contains(b.Capabilities, spec.CapPacks)
	})
	if i := slices.IndexFunc(able, func(b state.BrowserInfo) bool { return b.Focused }); i >= 0 {
		able = able[i : i+1]
	}
	switch {
	case len(able) == 0:
		return &endpoint.Error{Status: http.StatusConflict, Text: "no browser with the extension is connected that records; `tabhub doctor` says what is missing"}
	case len(able) > 1:
		return &endpoint.Error{Status: http.StatusConflict, Text: "several browsers are connected; click into the one that is to record, and try again"}
	}
	if _, err := r.Tenant.Hub.Core.SendOwn(r.Context(), spec.TabAddr{Peer: able[0].Peer}, &in, tabtransport.Wait{Timeout: spec.ControlTimeout}); err != nil {
		return err
	}
	return r.Answer(PackRecording{nameOf(&able[0])})
}

func deletePack(r *endpoint.Request) error {
	name := r.URL.Query().Get("name")
	if err := r.Tenant.Hub.Packs.Remove(name, editor(r)); err != nil {
		return packError(err)
	}
	return r.Answer(struct{}{})
}

// packError is the error for what could not be done with a pack.
func packError(err error) error {
	switch {
	case errors.Is(err, packs.ErrNoPack):
		return &endpoint.Error{Status: http.StatusNotFound, Text: err.Error()}
	case errors.Is(err, packs.ErrNotWaiting), errors.Is(err, packs.ErrFull):
		return &endpoint.Error{Status: http.StatusConflict, Text: err.Error()}
	}
	return err
}
