package auth_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage/private"
	"tabhub/storage/storagetest"
)

// keeper is where clients are kept. Each process in turn opens them there.
type keeper interface {
	open(t *testing.T) *auth.Clients
	text(t *testing.T) string // what is kept
}

// withKeepers runs a test with each way to keep clients.
func withKeepers(t *testing.T, test func(t *testing.T, k keeper)) {
	t.Run("file", func(t *testing.T) { test(t, inFile(filepath.Join(t.TempDir(), "clients.json"))) })
	t.Run("documents", func(t *testing.T) { test(t, &inDocuments{dir: directory{}}) })
}

// inFile is a file for all users.
type inFile string

func (path inFile) open(t *testing.T) *auth.Clients { return openClients(t, string(path)) }

func (path inFile) text(t *testing.T) string {
	text, err := os.ReadFile(string(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inDocuments is a document for each user, in a store that nodes share.
type inDocuments struct {
	store storagetest.Memory
	dir   directory
}

// open has a node become the owner of all users.
func (d *inDocuments) open(t *testing.T) *auth.Clients {
	c := auth.NewClients(d.dir)
	for _, user := range []spec.UserID{spec.LocalUser, "ann", "bob"} {
		d.load(t, c, user)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (d *inDocuments) load(t *testing.T, c *auth.Clients, user spec.UserID) {
	t.Helper()
	if err := c.Load(user, d.document(t, user)); err != nil {
		t.Fatal(err)
	}
}

// document is how the next owner of a user keeps the clients.
func (d *inDocuments) document(t *testing.T, user spec.UserID) private.Document {
	t.Helper()
	return d.store.Documents(t, user)("clients")
}

func (d *inDocuments) text(t *testing.T) (all string) {
	for _, user := range []spec.UserID{spec.LocalUser, "ann", "bob"} {
		all += string(d.document(t, user).Body)
	}
	return all
}

// directory is an auth.Directory in this process.
type directory map[string]spec.UserID

func (d directory) Hint(id string, user spec.UserID, _ time.Time) error {
	if user == "lost" {
		return errors.New("no node can be told")
	}
	d[id] = user
	return nil
}

func (d directory) Forget(id string) { delete(d, id) }

func openClients(t *testing.T, path string) *auth.Clients {
	t.Helper()
	c, err := auth.OpenClients(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func mint(t *testing.T, c *auth.Clients, client auth.Client) (auth.Client, string) {
	t.Helper()
	made, token, err := c.Mint(client)
	if err != nil {
		t.Fatal(err)
	}
	return made, token
}

// A client is the same one after a restart of the hub, and its token is in no file.
func TestClientsOutliveTheProcess(t *testing.T) { withKeepers(t, testClientsOutliveTheProcess) }

func testClientsOutliveTheProcess(t *testing.T, k keeper) {
	c := k.open(t)
	scope := &policy.Scope{Sites: []string{"shop.example"}, Classes: []policy.Class{policy.Write}}
	made, token := mint(t, c, auth.Client{Name: "claude", Kind: auth.ClientToken, User: "ann", Scope: scope})
	if _, err := c.Verify(token); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}

	c = k.open(t)
	id, err := c.Verify(token)
	if err != nil {
		t.Fatal(err)
	}
	if id.User != "ann" || id.Kind != auth.KindClient || id.Principal.ID != made.ID || id.Principal.Name != "claude" ||
		len(id.Principal.Scope.Classes) != 1 || id.Principal.Scope.Classes[0] != policy.Write || id.Principal.Scope.Sites[0] != "shop.example" {
		t.Errorf("the token stands for %+v, %+v", id, id.Principal)
	}
	if again, _ := c.Identity(made.ID); again.Principal != id.Principal {
		t.Error("the client is another by its id than by its token")
	}
	if list := c.List("ann"); len(list) != 1 || list[0].LastUsed.IsZero() || !list[0].Made.Equal(made.Made) {
		t.Errorf("the list is %+v", list)
	}
	if list := c.List("bob"); len(list) != 0 {
		t.Errorf("another user sees %+v", list)
	}
	text := k.text(t)
	_, secret, _ := strings.Cut(strings.TrimPrefix(token, "tbh_"), "_")
	if !strings.Contains(text, made.ID) || strings.Contains(text, secret) {
		t.Error("what is kept lacks the client, or holds the token's secret")
	}
	path, isFile := k.(inFile)
	if !isFile {
		return
	}
	if fi, err := os.Stat(string(path)); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", fi.Mode(), err)
	}
}

// A revoked credential ends at once, with its connections, and for good.
func TestRevoke(t *testing.T) { withKeepers(t, testRevoke) }

func testRevoke(t *testing.T, k keeper) {
	c := k.open(t)
	gone, token := mint(t, c, auth.Client{Name: "gone", Kind: auth.ClientToken, User: "ann"})
	_, other := mint(t, c, auth.Client{Name: "other", Kind: auth.ClientToken, User: "ann"})
	id, err := c.Verify(token)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := id.Context(t.Context())
	defer cancel()
	if err := c.Revoke("bob", gone.ID); err != auth.ErrNoClient || id.Ended() {
		t.Errorf("another user may revoke it: %v", err)
	}
	if err := c.Revoke("ann", gone.ID); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if !id.Ended() {
		t.Error("its connection does not end")
	}
	if err := c.Revoke("ann", gone.ID); err != auth.ErrNoClient {
		t.Errorf("it is revoked twice: %v", err)
	}
	for _, c := range []*auth.Clients{c, k.open(t)} {
		if _, err := c.Verify(token); err == nil {
			t.Error("the token is good again")
		}
		if _, ok := c.Identity(gone.ID); ok {
			t.Error("the client is known still")
		}
		if _, err := c.Verify(other); err != nil {
			t.Errorf("another client is out, too: %v", err)
		}
	}
}

func TestClientsExpire(t *testing.T) { withKeepers(t, testClientsExpire) }

func testClientsExpire(t *testing.T, k keeper) {
	synctest.Test(t, func(t *testing.T) {
		c := k.open(t)
		made, token := mint(t, c, auth.Client{Name: "short", Kind: auth.ClientToken, User: "ann", Expires: time.Now().Add(time.Hour)})
		id, err := c.Verify(token)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := id.Context(t.Context())
		defer cancel()
		<-ctx.Done()
		if _, err := c.Verify(token); err == nil || !strings.Contains(err.Error(), "expired") {
			t.Errorf("after its time: %v", err)
		}
		if _, ok := c.Identity(made.ID); ok {
			t.Error("it is known after its time")
		}
		mint(t, c, auth.Client{Name: "short", Kind: auth.ClientToken, User: "ann"}) // its name is free again
		if _, _, err := c.Mint(auth.Client{Name: "late", User: "ann", Expires: time.Now()}); err == nil {
			t.Error("a token is made that has expired")
		}
	})
}

// Rules go by names, so a name means one client, and none that the hub has its own idea of.
func TestNamesOfClients(t *testing.T) { withKeepers(t, testNamesOfClients) }

func testNamesOfClients(t *testing.T, k keeper) {
	c := k.open(t)
	first, _ := mint(t, c, auth.Client{Name: "Cursor", Kind: auth.ClientEntry, User: "ann"})
	long := strings.Repeat("x", 70)
	for _, tt := range []struct {
		user  spec.UserID
		kind  auth.ClientKind
		name  string
		want  string
		wrong string
	}{
		{"ann", auth.ClientToken, "cursor", "", "already"},
		{"ann", auth.ClientToken, first.ID, "", "already"},
		{"ann", auth.ClientEntry, "Cursor", "Cursor 2", ""},
		{"ann", auth.ClientOAuth, "Cursor", "Cursor 3", ""},
		{"bob", auth.ClientToken, "Cursor", "Cursor", ""},
		{"ann", auth.ClientToken, " a\u202e\n b ", "a b", ""},
		{"ann", auth.ClientToken, "\u200b", "", "needs a name"},
		{"ann", auth.ClientOAuth, "Owner", "", "the hub itself"},
		{"ann", auth.ClientToken, "token", "", "the hub itself"},
		{"ann", auth.ClientToken, "unnamed", "", "the hub itself"},
		{"ann", auth.ClientToken, long, strings.Repeat("x", 61) + "…", ""},
		{"ann", auth.ClientEntry, long, strings.Repeat("x", 59) + "… 2", ""},
	} {
		made, err := c.Add(auth.Client{Name: tt.name, Kind: tt.kind, User: tt.user})
		if tt.wrong == "" && (err != nil || made.Name != tt.want) || tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
			t.Errorf("%s %q is named %q, %v", tt.kind, tt.name, made.Name, err)
		}
	}
	if found, err := c.Find("ann", "CURSOR 2"); err != nil || found.Name != "Cursor 2" {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestUserHasSoManyClients(t *testing.T) {
	var file struct {
		Clients []auth.Client `json:"clients"`
	}
	for i := range 256 {
		file.Clients = append(file.Clients, auth.Client{ID: fmt.Sprint("id", i), Name: fmt.Sprint("client ", i), Kind: auth.ClientOAuth, User: "ann"})
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	withKeepers(t, func(t *testing.T, k keeper) {
		switch k := k.(type) {
		case inFile:
			err = os.WriteFile(string(k), text, 0o600)
		case *inDocuments:
			err = k.document(t, "ann").Save(text, true)
		}
		if err != nil {
			t.Fatal(err)
		}
		c := k.open(t)
		if _, err := c.Add(auth.Client{Name: "one more", User: "ann"}); err == nil || !strings.Contains(err.Error(), "256 clients already") {
			t.Errorf("one more: %v", err)
		}
		if _, err := c.Add(auth.Client{Name: "one more", User: "bob"}); err != nil {
			t.Errorf("another user's: %v", err)
		}
		if err := c.Revoke("ann", "id7"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Add(auth.Client{Name: "one more", User: "ann"}); err != nil {
			t.Errorf("in the place of one: %v", err)
		}
	})
}

// A file that is not what it should be opens no door, and is not written over.
func TestDamagedClients(t *testing.T) {
	for _, text := range []string{"", "{", `{"clients":[{"id":"x","sha256":"00"}]}`} {
		path := filepath.Join(t.TempDir(), "clients.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.OpenClients(path); err == nil || !strings.Contains(err.Error(), "restore it") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A token is good on the hub that it was made for: without accounts, or with them.
func TestClientsOfAHub(t *testing.T) { withKeepers(t, testClientsOfAHub) }

func testClientsOfAHub(t *testing.T, k keeper) {
	c := k.open(t)
	_, local := mint(t, c, auth.Client{Name: "mine", Kind: auth.ClientToken, User: spec.LocalUser})
	_, anns := mint(t, c, auth.Client{Name: "hers", Kind: auth.ClientToken, User: "ann"})
	token := auth.NewToken("the hub's own token")
	for _, accounts := range []bool{false, true} {
		v := &auth.Hub{Owner: token, Clients: c, Accounts: accounts}
		for shown, want := range map[string]bool{local: !accounts, anns: accounts, "tbh_x_y": false, "": false} {
			if id, err := v.Verify(shown); (err == nil) != want || err == nil && id.Kind != auth.KindClient {
				t.Errorf("accounts %v: %+v, %v", accounts, id, err)
			}
		}
		if id, err := v.Verify("the hub's own token"); err != nil || id.Kind != auth.KindOwner {
			t.Errorf("the hub's token: %+v, %v", id, err)
		}
	}
}
