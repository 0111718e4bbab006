package anypage

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"tabhub/describe"
	"tabhub/hub/call"
	"tabhub/hub/core"
	"tabhub/hub/trust/consent"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// Pages are the pages of a hub's browsers, as clients look at them and act there by themselves. Its methods are safe
// for concurrent use; they block until the browser has answered.
type Pages struct {
	core    *core.Core
	calls   *call.Calls
	uploads Uploads
	key     []byte // of viewers

	mu      sync.Mutex
	dialogs map[place]answer
}

// place is a tab as a session uses it.
type place struct {
	viewer string
	tab    spec.TabAddr
}

// answer is how the next dialog is answered that an act opens, if that act is at the same site before a time.
type answer struct {
	step  spec.DialogStep
	site  spec.Domain
	until time.Time
}

// dialogFor is how long an answer to a dialog is kept for the next act.
const dialogFor = 5 * time.Minute

// maxDialogs bounds the answers to dialogs that are kept for later acts.
const maxDialogs = 256

// New returns the Pages of a hub whose owner lets clients upload some files.
func New(c *core.Core, calls *call.Calls, uploads Uploads) *Pages {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return &Pages{core: c, calls: calls, uploads: uploads, key: key, dialogs: map[place]answer{}}
}

// viewer names a session to browsers, by a name that no other session can guess.
func (p *Pages) viewer(by *consent.Caller) string {
	id := core.SessionOf(by)
	mac := hmac.New(sha256.New, p.key)
	fmt.Fprintf(mac, "%q %q %q", by.Principal.ID, id.Client, id)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:12])
}

// Part is a text of one site.
type Part struct {
	Site spec.Domain
	Text string
}

// resolve asks the browser what references stand for. The error is a *core.Failure if one of them stands for nothing
// any more. Nothing of the answer is for the client before it is allowed to read the site.
func (p *Pages) resolve(ctx context.Context, by *consent.Caller, to spec.TabAddr, refs []string) (*spec.RefsResult, error) {
	resp, err := p.core.SendOwn(ctx, to, &spec.Refs{Refs: refs}, tabtransport.Wait{Timeout: spec.ControlTimeout})
	remote, said := errors.AsType[*spec.Error](err)
	switch {
	case said && remote.Code == spec.CodeInvalidParams:
		return nil, core.Fail(spec.FailInvalidArguments, "%s; nothing was done", describe.Clean(remote.Message, spec.MaxDescription))
	case said, err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, core.Fail(spec.FailNotConnected, "the browser did not say what the references stand for; nothing was done")
	}
	var result spec.RefsResult
	if err := decode(resp, &result); err != nil {
		return nil, err
	}
	for i := range result.Refs {
		if r := &result.Refs[i]; r.Stale != "" {
			return nil, p.stale(by, to, result.Origin, r)
		}
	}
	if len(result.Refs) != len(refs) {
		return nil, core.Fail(spec.FailToolError, "the browser's answer about references makes no sense; nothing was done")
	}
	return &result, nil
}

// decode decodes what a browser has answered.
func decode(resp spec.Response, into any) error {
	if wrong := spec.Decode(resp.Result, into); wrong != nil {
		return core.Fail(spec.FailToolError, "the browser's answer makes no sense: %s", wrong.Message)
	}
	return nil
}

// stale is why nothing is done with a reference that stands for nothing any more. What there is instead is told to a
// client that may read it.
func (p *Pages) stale(by *consent.Caller, to spec.TabAddr, origin string, r *spec.RefElement) error {
	text := strings.TrimSuffix(describe.Clean(r.Stale, 300), ".") + "; nothing was done."
	if ref := describe.Clean(r.Ref, 16); !strings.HasPrefix(text, ref) {
		text = ref + ": " + text
	}
	if len(r.Near) > 0 && origin != "" && call.MayRead(p.calls, by, to, snapshot, origin) {
		var near []string
		for _, n := range r.Near {
			near = append(near, describe.Clean(n, 200))
		}
		call.Returned(p.calls, by, siteOf(origin), strings.Join(near, "\n"))
		text += " Nearest now: " + strings.Join(near, "; ") + ". Check that it is what you mean, or"
	} else if strings.Contains(r.Stale, "of another tab") {
		return core.Fail(spec.FailureCode(spec.StaleRef), "%s Pass the tabId of the snapshot that has it.", text)
	} else {
		text += " To go on,"
	}
	return &core.Failure{Code: spec.FailureCode(spec.StaleRef), Message: text + " take a new snapshot."}
}

// siteOf returns the domain of an origin that a browser vouches for.
func siteOf(origin string) spec.Domain { return naming.DomainOfURL(origin, true) }

// where names a page for a message.
func where(origin string) string {
	if site := siteOf(origin); site != "" {
		return string(site)
	}
	return "another site"
}
