package cluster

import (
	"bytes"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/storage/jetstream/natstest"
)

// All nodes must have the same key of pairings and the same hub id, whichever starts first, and
// NATS must not be able to read or swap them.
func TestDocuments(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t, 1)
	a, b := ready(t, c.Conn(t), "a"), ready(t, c.Conn(t), "b")
	ctx := t.Context()
	if doc, err := a.Documents().Get(ctx, "ring"); doc != nil || err != nil {
		t.Error(doc, err)
	}
	first, err := a.Documents().Create(ctx, "ring", []byte("the key"))
	if string(first) != "the key" || err != nil {
		t.Error(first, err)
	}
	if second, err := b.Documents().Create(ctx, "ring", []byte("another")); string(second) != "the key" || err != nil {
		t.Errorf("%q, %v", second, err)
	}
	if got, err := b.Documents().Get(ctx, "ring"); string(got) != "the key" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	m, err := a.cluster.last(ctx, "doc.ring")
	if err != nil || bytes.Contains(m.Data, []byte("key")) {
		t.Errorf("NATS has %q, %v", m.Data, err)
	}
	if _, err := a.cluster.put(ctx, "doc.token", m.Data, 0); err != nil {
		t.Fatal(err)
	}
	if doc, err := b.Documents().Get(ctx, "token"); err == nil || !strings.Contains(err.Error(), "document token: ") {
		t.Errorf("a document in another's place: %q, %v", doc, err)
	}

	d := a.Documents()
	sealed := d.Seal("alice", "clients", []byte("secret"))
	if bytes.Equal(sealed, d.Seal("alice", "clients", []byte("secret"))) {
		t.Error("the same is sealed the same way twice")
	}
	if doc, err := b.Documents().Open("alice", "clients", sealed); string(doc) != "secret" || err != nil {
		t.Errorf("%q, %v", doc, err)
	}
	for _, x := range []struct {
		user   spec.UserID
		name   string
		sealed []byte
	}{
		{"bob", "clients", sealed},
		{"alice", "pairings", sealed},
		{"", "clients", sealed},
		{"alice", "clients", sealed[:len(sealed)-1]},
		{"alice", "clients", nil},
	} {
		if doc, err := d.Open(x.user, x.name, x.sealed); err == nil {
			t.Errorf("%s %s: %q", x.user, x.name, doc)
		}
	}
}

// A credential must lead to its user's node, on every node and after every restart, and tell
// nobody who its user is.
func TestMarks(t *testing.T) {
	k, err := newKeys(secret, "cluster")
	if err != nil {
		t.Fatal(err)
	}
	same, _ := newKeys(secret, "cluster")
	other, _ := newKeys(secret, "other")
	seen := make(map[string]bool)
	for _, user := range []spec.UserID{"local", "a", "b", "alice@example.com", "Ünïcode 用户", spec.UserID(strings.Repeat("long", 50))} {
		mark := k.marks.Mark(user)
		if strings.Trim(mark, "abcdefghijklmnopqrstuvwxyz234567") != "" || seen[mark] || mark != same.marks.Mark(user) {
			t.Errorf("%s: %q", user, mark)
		}
		seen[mark] = true
		if got, ok := same.marks.UserOf(mark); got != user || !ok {
			t.Errorf("%s: %q, %v", user, got, ok)
		}
		if got, ok := other.marks.UserOf(mark); ok {
			t.Errorf("%s: another cluster reads %q", user, got)
		}
		for i := range mark {
			changed := []byte(mark)
			changed[i] = map[bool]byte{true: 'a', false: 'b'}[changed[i] != 'a']
			if got, ok := k.marks.UserOf(string(changed)); ok && got != user {
				t.Errorf("%s: changed to %q", user, got)
			}
		}
	}
	for _, mark := range []string{"", "a", "abcdefgh", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", strings.Repeat("a", 32), "\n", strings.ToUpper(k.marks.Mark("a")), k.marks.Mark("a") + "\n"} {
		if got, ok := k.marks.UserOf(mark); ok {
			t.Errorf("%q: %q", mark, got)
		}
	}
}

func FuzzMark(f *testing.F) {
	k, err := newKeys(secret, "cluster")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("")
	f.Add(k.marks.Mark("alice"))
	f.Fuzz(func(t *testing.T, mark string) {
		if user, ok := k.marks.UserOf(mark); ok && k.marks.Mark(user) != mark {
			t.Errorf("%q is a mark of %q besides %q", mark, user, k.marks.Mark(user))
		}
		if user := spec.UserID(mark); user != "" {
			if got, ok := k.marks.UserOf(k.marks.Mark(user)); !ok || got != user {
				t.Errorf("%q: %q, %v", user, got, ok)
			}
		}
	})
}
