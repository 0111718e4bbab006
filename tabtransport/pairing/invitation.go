package pairing

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabhub/spec"
)

// InvitationLife is how long an Invitation can be accepted.
const InvitationLife = 5 * time.Minute

// maxInvitations bounds the invitations of a user that can be accepted at one time; a
// further one replaces the oldest.
const maxInvitations = 16

// Invitation is what introduces a browser to the hub. It is a secret.
type Invitation struct {
	Pairing spec.PairingID // what comes of it
	Secret  Key            // of the one handshake that accepts it
	Until   time.Time
}

// Text is what a browser is given of the invitation, in the fragment of an address.
func (i Invitation) Text() string {
	return fmt.Sprintf("%s.%s.%d", i.Pairing, i.Secret, i.Until.Unix())
}

// Code is what both sides show to the owner, as a sign that they mean the same invitation.
func (i Invitation) Code() string {
	mac := i.Secret.mac("code", string(i.Pairing))
	n := (int(mac[0])<<16 | int(mac[1])<<8 | int(mac[2])) % 1_000_000
	return fmt.Sprintf("%03d %03d", n/1000, n%1000)
}

// invitation is an Invitation that can be accepted.
type invitation struct {
	Invitation
	user     spec.UserID
	expires  time.Time     // of the pairing that comes of it; zero: never
	accepted chan struct{} // closed when it is
}

// Invite makes an invitation, which can be accepted once. The pairing that comes of it is
// the user's, and ends at expires, if that is not zero. The invitation is of this process
// alone. The error is why it could not be accepted.
func (r *Ring) Invite(user spec.UserID, expires time.Time) (Invitation, error) {
	now := time.Now()
	made := &invitation{
		Invitation: Invitation{
			Pairing: spec.PairingID("browser." + strings.ToLower(rand.Text())),
			Secret:  NewKey()[:16],
			Until:   now.Add(InvitationLife),
		},
		user: user, expires: expires, accepted: make(chan struct{}),
	}
	r.mu.Lock()
	s := r.setLocked(user)
	r.mu.Unlock()
	if s == nil {
		return Invitation{}, errUnloaded
	}
	if err := r.hint(made.Pairing, user, made.Until); err != nil {
		return Invitation{}, err
	}
	r.mu.Lock()
	moved := r.setLocked(user) != s
	var replaced spec.PairingID
	if !moved {
		replaced = r.inviteLocked(s, made, now)
	}
	r.mu.Unlock()
	if moved {
		return Invitation{}, errUnloaded
	}
	if replaced != "" && r.dir != nil {
		r.dir.Forget(string(replaced))
	}
	return made.Invitation, nil
}

// inviteLocked adds an invitation, and returns whose place it has taken, if there were too many.
func (r *Ring) inviteLocked(s *set, made *invitation, now time.Time) (replaced spec.PairingID) {
	s.invitations = slices.DeleteFunc(s.invitations, func(i *invitation) bool {
		if now.After(i.Until) {
			delete(r.of, i.Pairing)
		}
		return now.After(i.Until)
	})
	oldest, n := 0, 0
	for at, other := range s.invitations {
		if other.user != made.user {
			continue
		}
		if n++; n == 1 {
			oldest = at
		}
	}
	if n == maxInvitations {
		replaced = s.invitations[oldest].Pairing
		delete(r.of, replaced)
		s.invitations = slices.Delete(s.invitations, oldest, oldest+1)
	}
	s.invitations = append(s.invitations, made)
	r.of[made.Pairing] = s
	return replaced
}

func (s *set) invitationLocked(id spec.PairingID) *invitation {
	for _, i := range s.invitations {
		if i.Pairing == id && time.Now().Before(i.Until) {
			return i
		}
	}
	return nil
}

// Await blocks until an invitation is accepted, and returns the pairing that came of it; at
// once if it was accepted before. The error is ErrUnknown if it was not accepted in time or
// never made, one that is tabtransport.ErrGoingAway if its user has been unloaded, or ctx's.
func (r *Ring) Await(ctx context.Context, id spec.PairingID) (Pairing, error) {
	var i *invitation
	r.mu.Lock()
	s := r.setOfLocked(id)
	if s != nil {
		i = s.invitationLocked(id)
	}
	r.mu.Unlock()
	if i == nil {
		return r.pairing(id)
	}
	late := time.NewTimer(time.Until(i.Until))
	defer late.Stop()
	select {
	case <-i.accepted:
	case <-late.C:
		return Pairing{}, ErrUnknown
	case <-ctx.Done():
		return Pairing{}, ctx.Err()
	}
	s.edit.Lock()
	moved := s.closed
	s.edit.Unlock()
	if moved {
		return Pairing{}, errUnloaded
	}
	return r.pairing(id)
}
