package httpd

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/trust/auth"
	"tabhub/spec"
)

// What a page was given must not open the hub for longer than was said.
func TestLoginsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newLogins(time.Hour, 10, nil)
		credential, revoke := context.WithCancel(t.Context())
		start := time.Now()
		long, expires, _ := g.add(auth.Identity{User: "ann"}, "")
		if want := start.Add(time.Hour); !expires.Equal(want) {
			t.Errorf("it expires at %v, want %v", expires, want)
		}
		short, expires, _ := g.add(auth.Identity{User: "ann", Expires: start.Add(time.Minute)}, "")
		if want := start.Add(time.Minute); !expires.Equal(want) {
			t.Errorf("it expires at %v, after the credential that it was made from", expires)
		}
		bound, _, _ := g.add(auth.Identity{User: "ann", Revoked: credential}, "")
		check := func(when string, want map[string]bool) {
			t.Helper()
			for secret, good := range want {
				if id, ok := g.get(secret); ok != good || ok && id.User != "ann" {
					t.Errorf("%s: %+v, %t; want %t", when, id, ok, good)
				}
			}
		}
		check("at first", map[string]bool{long: true, short: true, bound: true, "": false, "guess": false, long + "x": false})
		time.Sleep(time.Minute)
		check("when the credential of one has expired", map[string]bool{long: true, short: false, bound: true})
		revoke()
		check("when the credential of one is revoked", map[string]bool{long: true, bound: false})
		time.Sleep(59*time.Minute - time.Nanosecond)
		check("just before the end", map[string]bool{long: true})
		time.Sleep(time.Nanosecond)
		check("at the end", map[string]bool{long: false})
		if g.add(auth.Identity{User: "bob"}, ""); len(g.all) != 1 {
			t.Errorf("%d are kept, want the one that is good", len(g.all))
		}
	})
}

// One user's sign-ins must neither fill the memory nor sign others out.
func TestLoginsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newLogins(time.Hour, 3, nil)
		other, _, _ := g.add(auth.Identity{User: "bob"}, "")
		var secrets []string
		for range 10 {
			time.Sleep(time.Second)
			s, _, _ := g.add(auth.Identity{User: "ann"}, "")
			secrets = append(secrets, s)
		}
		for i, s := range secrets {
			if _, ok := g.get(s); ok != (i >= 7) {
				t.Errorf("number %d of 10 is good: %t", i, ok)
			}
		}
		if _, ok := g.get(other); !ok {
			t.Error("another user's is gone")
		}
	})
}

// What is under way for a page must end when it signs out, or is forgotten for others.
func TestLoginsEndWhatIsUnderWay(t *testing.T) {
	g := newLogins(time.Hour, 2, nil)
	taken, _, _ := g.add(auth.Identity{User: "ann"}, "")
	one, _ := g.get(taken)
	forgotten, _, _ := g.add(auth.Identity{User: "bob"}, "")
	two, _ := g.get(forgotten)
	if one.Revoked.Err() != nil || two.Revoked.Err() != nil {
		t.Error("ended at once")
	}
	if id, ok := g.take(taken); !ok || id.Ended() {
		t.Error("what a code stood for ends with the code")
	}
	g.add(auth.Identity{User: "bob"}, "")
	g.add(auth.Identity{User: "bob"}, "")
	if one.Revoked.Err() == nil || two.Revoked.Err() == nil {
		t.Errorf("goes on: %v, %v", one.Revoked.Err(), two.Revoked.Err())
	}
}

// hints is an auth.Directory in this process.
type hints map[string]spec.UserID

func (h hints) Hint(id string, user spec.UserID, _ time.Time) error {
	if user == "lost" {
		return errors.New("no node can be told")
	}
	h[id] = user
	return nil
}

func (h hints) Forget(id string) { delete(h, id) }

// The directory has no more of a user's than the user has, however often one signs in.
func TestLoginsKeepNoMoreHintsThanLogins(t *testing.T) {
	dir := hints{}
	g := newLogins(time.Hour, 3, dir)
	for range 20 {
		secret, _, err := g.add(auth.Identity{User: "ann"}, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(dir) == 2 {
			g.take(secret)
		}
	}
	if len(dir) != len(g.all) || len(dir) > 3 {
		t.Errorf("%d hints of %d logins", len(dir), len(g.all))
	}
}

// A page that signs in may come to another machine than its user's hub is on. When the hub goes
// elsewhere its pages are signed out here, and those of others are not.
func TestLoginsOfAUserWhoMoves(t *testing.T) {
	dir := hints{}
	g := newLogins(time.Hour, 3, dir)
	anns, _, err := g.add(auth.Identity{User: "ann"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if key, ok := auth.HintOf(anns); !ok || dir[key] != "ann" {
		t.Errorf("the directory has %v", dir)
	}
	bobs, _, _ := g.add(auth.Identity{User: "bob"}, "")
	before, _ := g.get(anns)
	g.forgetAll("ann")
	if _, ok := g.get(anns); ok || before.Revoked.Err() == nil {
		t.Error("she is signed in still")
	}
	if _, ok := g.get(bobs); !ok {
		t.Error("another is signed out")
	}
	if _, _, err := g.add(auth.Identity{User: "lost"}, ""); err == nil {
		t.Error("a secret is given out that leads nowhere")
	}
}
