package daemon

import (
	"errors"
	"slices"
	"sync"

	"tabhub/hub/face/admin"
	"tabhub/hub/face/httpd"
	"tabhub/spec"
	"tabhub/tabtransport/pairing"
)

// maxRefused bounds the refusals that a hub remembers, of which each is another reason.
const maxRefused = 8

// refusals are why extensions were refused lately, for `tabhub doctor`. It is safe for
// concurrent use.
type refusals struct {
	mu   sync.Mutex
	list []admin.Refusal // the latest last
}

// add counts a refusal.
func (f *refusals) add(no admin.Refusal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	same := func(other admin.Refusal) bool {
		return other.Reason == no.Reason && other.Own == no.Own
	}
	no.Times = 1
	if i := slices.IndexFunc(f.list, same); i >= 0 {
		no.Times += f.list[i].Times
		f.list = slices.Delete(f.list, i, i+1)
	} else if len(f.list) == maxRefused {
		f.list = slices.Delete(f.list, 0, 1)
	}
	f.list = append(f.list, no)
}

func (f *refusals) latest() []admin.Refusal {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

// whyRefused says to the owner of a hub why an extension was refused. The extension is
// told what to do, too, by err.
func whyRefused(err error) string {
	switch coded, ok := errors.AsType[*spec.Error](err); {
	case errors.Is(err, httpd.ErrUnpaired):
		return "it shows no pairing: it is of an older version, or not written by `tabhub extension`"
	case errors.Is(err, pairing.ErrUnknown):
		return "this hub does not know its pairing: it is another hub's, or was forgotten"
	case errors.Is(err, httpd.ErrOtherUser):
		return "it runs as another user of this machine, and has no token"
	case ok:
		return coded.Message
	}
	return err.Error()
}
