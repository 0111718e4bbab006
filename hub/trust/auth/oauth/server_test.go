package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/private"
	"tabhub/storage/storagetest"
)

const (
	base     = "http://127.0.0.1:3300"
	redirect = "http://127.0.0.1:4000/callback"
	verifier = "a-verifier-of-forty-three-characters-or-more"
)

// owner answers the questions of a Server.
type owner struct {
	t       *testing.T
	store   *storagetest.Memory // of the documents
	clients *auth.Clients
	server  *Server
	asked   []consent.SignIn
	answer  consent.Answer
	err     error
	record  []string // what became of clients
}

func newOwner(t *testing.T) *owner {
	o := &owner{t: t, store: new(storagetest.Memory), answer: consent.Answer{Reach: spec.ReachOnce}}
	o.open()
	return o
}

// load opens the documents, as a node does that becomes the owner's.
func (o *owner) load() {
	o.t.Helper()
	document := o.store.Documents(o.t, spec.LocalUser)
	if err := errors.Join(o.clients.Load(spec.LocalUser, document("clients")), o.server.Load(document("grants"))); err != nil {
		o.t.Fatal(err)
	}
}

// kept is what is kept of the grants.
func (o *owner) kept() string {
	document := o.store.Documents(o.t, spec.LocalUser)
	return string(document("clients").Body) + string(document("grants").Body)
}

// open opens what is kept, as a hub does that starts.
func (o *owner) open() {
	o.t.Helper()
	recorded := func(e record.Entry) { o.record = append(o.record, e.Name+": "+e.Reason) }
	o.clients = auth.NewClients(nil)
	o.server = New(Options{Clients: o.clients, Approve: o.approve, Record: recorded})
	o.load()
}

func (o *owner) approve(_ context.Context, s consent.SignIn) (consent.Answer, error) {
	o.asked = append(o.asked, s)
	return o.answer, o.err
}

// register returns the id of a new client.
func (o *owner) register() string {
	o.t.Helper()
	r, err := o.server.Register(Owner, Registration{ClientName: "An agent", RedirectURIs: []string{redirect}})
	if err != nil {
		o.t.Fatal(err)
	}
	return r.ClientID
}

// query is what a client sends to the page.
func query(id string) url.Values {
	return url.Values{
		"response_type": {"code"}, "client_id": {id}, "redirect_uri": {redirect}, "state": {"s&t"},
		"code_challenge": {sumOf(verifier)}, "code_challenge_method": {"S256"}, "resource": {base + "/mcp"},
	}
}

// goOn has the owner asked, and returns what the client is sent.
func (o *owner) goOn(q url.Values, a Access) url.Values {
	o.t.Helper()
	r, err := o.server.Parse(base, true, q)
	if err != nil {
		o.t.Fatal(err)
	}
	location, err := o.server.Authorize(o.t.Context(), Owner, r, a, func(string) {})
	if err != nil {
		o.t.Fatal(err)
	}
	u, err := url.Parse(location)
	if err != nil {
		o.t.Fatal(err)
	}
	return u.Query()
}

func exchange(id, code string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "client_id": {id}, "redirect_uri": {redirect}, "code": {code}, "code_verifier": {verifier}}
}

func refresh(id, token string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "client_id": {id}, "refresh_token": {token}}
}

// token asks for tokens, which it gets.
func (o *owner) token(form url.Values) *Tokens {
	o.t.Helper()
	tokens, err := o.server.Token(base, form)
	if err != nil {
		o.t.Fatal(err)
	}
	return tokens
}

// refused asks for tokens, which it does not get.
func (o *owner) refused(code string, form url.Values) {
	o.t.Helper()
	_, err := o.server.Token(base, form)
	if no, ok := errors.AsType[*Error](err); !ok || no.Code != code {
		o.t.Errorf("the token endpoint answers %v, not %s", err, code)
	}
}

// signIn lets a client in.
func (o *owner) signIn(id string, a Access) *Tokens {
	o.t.Helper()
	return o.token(exchange(id, o.goOn(query(id), a).Get("code")))
}

func (o *owner) verify(token string) auth.Identity {
	o.t.Helper()
	who, err := o.server.Verify(token)
	if err != nil {
		o.t.Fatal(err)
	}
	return who
}

func (o *owner) void(token string) {
	o.t.Helper()
	if _, err := o.server.Verify(token); err == nil {
		o.t.Error("the token is good")
	}
}

// A client that signs in gets what the owner has chosen, after a question that says who it
// is and where the answer goes.
func TestSignIn(t *testing.T) {
	o := newOwner(t)
	id := o.register()
	answer := o.goOn(query(id), Access{ReadOnly: true, Sites: []string{"example.com"}})
	if answer.Get("state") != "s&t" || answer.Get("iss") != base {
		t.Errorf("the client is sent %v", answer)
	}
	tokens := o.token(exchange(id, answer.Get("code")))
	if tokens.Type != "Bearer" || tokens.ExpiresIn != 600 || tokens.Scope != "mcp" {
		t.Errorf("%+v", tokens)
	}
	who := o.verify(tokens.Access)
	if who.User != spec.LocalUser || who.Kind != auth.KindClient || who.Principal.Name != "An agent" || len(who.Principal.Scope.Sites) != 1 || who.Principal.Scope.Classes[0] != policy.Read {
		t.Errorf("the token is for %+v", who.Principal)
	}
	list := o.clients.List(spec.LocalUser)
	if len(list) != 1 || list[0].Kind != auth.ClientOAuth {
		t.Errorf("the clients are %+v", list)
	}
	q := o.asked[0]
	if q.Client.Said != "An agent" || q.Client.Return != "a program on this computer, port 4000" || len(q.Code) != 4 ||
		!strings.Contains(strings.Join(q.Why, " "), "read, on example.com and no other site") {
		t.Errorf("the owner is asked %+v", q)
	}
}

// The code that the page shows is the one that the owner has to repeat.
func TestCodeIsShown(t *testing.T) {
	o := newOwner(t)
	r, err := o.server.Parse(base, true, query(o.register()))
	if err != nil {
		t.Fatal(err)
	}
	var shown string
	if _, err := o.server.Authorize(t.Context(), Owner, r, Access{}, func(code string) { shown = code }); err != nil {
		t.Fatal(err)
	}
	if shown == "" || shown != o.asked[0].Code {
		t.Errorf("the page shows %q, the owner has to repeat %q", shown, o.asked[0].Code)
	}
}

// A site that is misspelt would bound the client to nothing, or not as was meant.
func TestMisspeltSite(t *testing.T) {
	o := newOwner(t)
	r, err := o.server.Parse(base, true, query(o.register()))
	if err != nil {
		t.Fatal(err)
	}
	_, err = o.server.Authorize(t.Context(), Owner, r, Access{Sites: []string{"https://example.com/"}}, func(string) {})
	if codeOf(err) != invalidRequest || !strings.Contains(err.Error(), "did you mean example.com?") || len(o.asked) != 0 {
		t.Errorf("%v, and the owner is asked %+v", err, o.asked)
	}
}

func TestRefusedSignIn(t *testing.T) {
	o := newOwner(t)
	o.err = &consent.Denied{}
	for reach, words := range map[spec.Reach]string{spec.ReachNo: "said no", "": "not answered"} {
		o.answer.Reach = reach
		answer := o.goOn(query(o.register()), Access{})
		if answer.Get("error") != "access_denied" || !strings.Contains(answer.Get("error_description"), words) || answer.Get("code") != "" || answer.Get("state") != "s&t" || answer.Get("iss") != base {
			t.Errorf("the client is sent %v", answer)
		}
	}
}

// Each of these is an attack on the page or a client that is wrong: none leads to a
// question, and the client is told only where it is known.
func TestParse(t *testing.T) {
	o := newOwner(t)
	id := o.register()
	for name, c := range map[string]struct {
		change func(url.Values)
		code   string
		told   bool
	}{
		"no client":            {func(q url.Values) { q.Del("client_id") }, "invalid_client", false},
		"unknown client":       {func(q url.Values) { q.Set("client_id", id+"x") }, "invalid_client", false},
		"changed registration": {func(q url.Values) { q.Set("client_id", "dcr_eyJyIjpbXX0"+id[strings.Index(id, "."):]) }, "invalid_client", false},
		"id with a line end":   {func(q url.Values) { q.Set("client_id", id+"\n") }, "invalid_client", false},
		"id of a line more":    {func(q url.Values) { q.Set("client_id", id[:20]+"\n"+id[20:]) }, "invalid_client", false},
		"no redirect":          {func(q url.Values) { q.Del("redirect_uri") }, "invalid_redirect_uri", false},
		"other redirect":       {func(q url.Values) { q.Set("redirect_uri", "https://evil.example/") }, "invalid_request", false},
		"script":               {func(q url.Values) { q.Set("redirect_uri", "javascript:alert(1)") }, "invalid_redirect_uri", false},
		"two redirects":        {func(q url.Values) { q.Add("redirect_uri", "https://evil.example/") }, "invalid_request", false},
		"implicit":             {func(q url.Values) { q.Set("response_type", "token") }, "unsupported_response_type", true},
		"no challenge":         {func(q url.Values) { q.Del("code_challenge") }, "invalid_request", true},
		"plain":                {func(q url.Values) { q.Set("code_challenge_method", "plain") }, "invalid_request", true},
		"no method":            {func(q url.Values) { q.Del("code_challenge_method") }, "invalid_request", true},
		"fragment":             {func(q url.Values) { q.Set("response_mode", "fragment") }, "invalid_request", true},
		"other resource":       {func(q url.Values) { q.Set("resource", "https://bank.example/mcp") }, "invalid_target", true},
		"resource of a path":   {func(q url.Values) { q.Set("resource", base+"/mcp/../api") }, "invalid_target", true},
		"resource of a host":   {func(q url.Values) { q.Set("resource", base+".evil.example/mcp") }, "invalid_target", true},
	} {
		q := query(id)
		c.change(q)
		r, err := o.server.Parse(base, true, q)
		no, ok := errors.AsType[*Error](err)
		if !ok || no.Code != c.code || (r != nil) != c.told {
			t.Errorf("%s: %v, %v", name, r, err)
			continue
		}
		if c.told {
			u, err := url.Parse(r.Refuse(no.Code, no.Text))
			if err != nil || u.Host != "127.0.0.1:4000" || u.Query().Get("error") != c.code {
				t.Errorf("%s: the client is told at %v", name, u)
			}
		}
	}
}

// A code is good for the client that asked for it, once, for a minute.
func TestCode(t *testing.T) {
	for name, change := range map[string]func(url.Values){
		"other client":      func(f url.Values) { f.Set("client_id", "dcr_x") },
		"other redirect":    func(f url.Values) { f.Set("redirect_uri", "http://127.0.0.1:4001/callback") },
		"no redirect":       func(f url.Values) { f.Del("redirect_uri") },
		"other verifier":    func(f url.Values) { f.Set("code_verifier", strings.Repeat("x", 43)) },
		"no verifier":       func(f url.Values) { f.Del("code_verifier") },
		"challenge instead": func(f url.Values) { f.Set("code_verifier", sumOf(verifier)) },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOwner(t)
			id := o.register()
			right := exchange(id, o.goOn(query(id), Access{}).Get("code"))
			wrong := exchange(id, right.Get("code"))
			change(wrong)
			o.refused("invalid_grant", wrong)
			o.refused("invalid_grant", right) // it is used up
			if n := len(o.clients.List(spec.LocalUser)); n != 0 {
				t.Errorf("there are %d clients", n)
			}
		})
	}
	o := newOwner(t)
	id := o.register()
	other := exchange(id, o.goOn(query(id), Access{}).Get("code"))
	other.Set("resource", base+"/sse")
	o.refused("invalid_target", other)
}

func TestCodeExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwner(t)
		id := o.register()
		form := exchange(id, o.goOn(query(id), Access{}).Get("code"))
		time.Sleep(codeLife + time.Second)
		o.refused("invalid_grant", form)
	})
}

// A second use of a code means that another program has seen it.
func TestCodeReuse(t *testing.T) {
	o := newOwner(t)
	id := o.register()
	form := exchange(id, o.goOn(query(id), Access{}).Get("code"))
	tokens := o.token(form)
	who := o.verify(tokens.Access)
	o.refused("invalid_grant", form)
	o.void(tokens.Access)
	o.refused("invalid_grant", refresh(id, tokens.Refresh))
	if who.Revoked.Err() == nil {
		t.Error("what the client has open goes on")
	}
	if want := []string{"An agent: signed in", "An agent: ended: its code was used twice"}; !slices.Equal(o.record, want) {
		t.Errorf("the record has %q", o.record)
	}
}

// A client cannot have a name that means something to the hub, and learns so.
func TestReservedName(t *testing.T) {
	o := newOwner(t)
	r, err := o.server.Register(Owner, Registration{ClientName: "Owner", RedirectURIs: []string{redirect}})
	if err != nil {
		t.Fatal(err)
	}
	o.refused("invalid_client", exchange(r.ClientID, o.goOn(query(r.ClientID), Access{}).Get("code")))
}

// A refresh token is good once. Shown again, all tokens of the family end: one of the two
// who have it has stolen it.
func TestRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwner(t)
		id := o.register()
		first := o.signIn(id, Access{})
		second := o.token(refresh(id, first.Refresh))
		o.verify(first.Access) // of a call that is on its way
		who := o.verify(second.Access)

		if again := o.token(refresh(id, first.Refresh)); *again != *second {
			t.Error("an answer that was lost is not repeated")
		}
		third := o.token(refresh(id, second.Refresh))
		o.void(first.Access)
		o.refused("invalid_grant", refresh("dcr_x", third.Refresh))

		time.Sleep(repeatLife + time.Second)
		o.refused("invalid_grant", refresh(id, second.Refresh))
		o.refused("invalid_grant", refresh(id, third.Refresh))
		o.void(third.Access)
		if who.Revoked.Err() == nil {
			t.Error("what the client has open goes on")
		}
		if n := len(o.clients.List(spec.LocalUser)); n != 0 {
			t.Errorf("there are %d clients", n)
		}
	})
}

func TestTokensExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwner(t)
		id := o.register()
		first := o.signIn(id, Access{})
		time.Sleep(accessLife)
		o.void(first.Access)
		second := o.token(refresh(id, first.Refresh))
		o.verify(second.Access)
		time.Sleep(idleLife + time.Second)
		o.refused("invalid_grant", refresh(id, second.Refresh))
	})
}

// `tabhub token revoke` ends the client, whatever tokens it has.
func TestRevokedClient(t *testing.T) {
	o := newOwner(t)
	id := o.register()
	tokens := o.signIn(id, Access{})
	if err := o.clients.Revoke(spec.LocalUser, o.clients.List(spec.LocalUser)[0].ID); err != nil {
		t.Fatal(err)
	}
	o.void(tokens.Access)
	o.refused("invalid_grant", refresh(id, tokens.Refresh))
}

func TestRevoke(t *testing.T) {
	for name, choose := range map[string]func(*Tokens) string{
		"access":  func(tokens *Tokens) string { return tokens.Access },
		"refresh": func(tokens *Tokens) string { return tokens.Refresh },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOwner(t)
			id := o.register()
			tokens := o.signIn(id, Access{})
			for range 2 {
				if err := o.server.Revoke(url.Values{"token": {choose(tokens)}}); err != nil {
					t.Fatal(err)
				}
			}
			o.void(tokens.Access)
			o.refused("invalid_grant", refresh(id, tokens.Refresh))
		})
	}
	o := newOwner(t)
	id := o.register()
	tokens := o.signIn(id, Access{})
	for _, guess := range []string{"", "x", tokens.Access + "x", strings.TrimSuffix(tokens.Refresh, "x")[:24]} {
		if err := o.server.Revoke(url.Values{"token": {guess}}); err != nil {
			t.Fatal(err)
		}
	}
	o.verify(tokens.Access)
}

// A restart of the hub signs no client out, and reading the file is not enough to sign in.
func TestRestart(t *testing.T) {
	o := newOwner(t)
	id := o.register()
	tokens := o.signIn(id, Access{})
	o.open()
	o.verify(tokens.Access)
	next := o.token(refresh(id, tokens.Refresh))
	o.open()
	o.verify(next.Access)
	o.token(refresh(id, next.Refresh))
	if _, err := o.server.Parse(base, true, query(id)); err != nil {
		t.Errorf("the registration is gone: %v", err)
	}
	text := o.kept()
	for _, token := range []string{tokens.Access, tokens.Refresh, next.Access, next.Refresh} {
		if parts := strings.Split(token, "_"); strings.Contains(text, parts[len(parts)-1]) {
			t.Error("a token is kept")
		}
	}
}

// Where the owner's hub is not, or not any more, no token is good and none is given.
func TestUnloadedGrants(t *testing.T) {
	o := newOwner(t)
	id := o.register()
	tokens := o.signIn(id, Access{})
	code := exchange(id, o.goOn(query(id), Access{}).Get("code"))
	o.clients.Unload(spec.LocalUser)
	o.server.Unload()
	o.void(tokens.Access)
	o.refused("invalid_grant", refresh(id, tokens.Refresh))
	if _, err := o.server.Parse(base, true, query(id)); codeOf(err) != "invalid_client" {
		t.Errorf("a client that another hub has registered: %v", err)
	}
	o.load()
	o.verify(tokens.Access)
	o.refused("invalid_grant", code)
	o.token(refresh(id, tokens.Refresh))
}

// A hub that is not the owner's any more, and does not know it, lets nobody in and signs nobody
// out.
func TestStaleGrants(t *testing.T) {
	o := newOwner(t)
	id := o.register()
	tokens := o.signIn(id, Access{})
	code := exchange(id, o.goOn(query(id), Access{}).Get("code"))
	stale := o.server
	o.open()
	for _, form := range []url.Values{code, refresh(id, tokens.Refresh)} {
		if _, err := stale.Token(base, form); !errors.Is(err, storage.ErrStaleEpoch) {
			t.Errorf("%s: %v", form.Get("grant_type"), err)
		}
	}
	if err := stale.Revoke(url.Values{"token": {tokens.Access}}); !errors.Is(err, storage.ErrStaleEpoch) {
		t.Errorf("a token is revoked: %v", err)
	}
	o.verify(tokens.Access)
	o.token(refresh(id, tokens.Refresh))
}

func TestDamagedDocument(t *testing.T) {
	o := newOwner(t)
	for _, text := range []string{"", "{}", "x", `{"key":"AA=="}`} {
		if err := o.server.Load(private.Document{Body: []byte(text)}); !errors.Is(err, ErrNoGrants) {
			t.Errorf("a document that holds %q is read: %v", text, err)
		}
	}
}

// The owner's attention is scarce: one question at a time, and none after
// several that were not answered.
func TestAttention(t *testing.T) {
	o := newOwner(t)
	r, err := o.server.Parse(base, true, query(o.register()))
	if err != nil {
		t.Fatal(err)
	}
	ask := func() error {
		_, err := o.server.Authorize(t.Context(), Owner, r, Access{}, func(string) {})
		return err
	}
	again := make(chan error, 1)
	o.server.approve = func(context.Context, consent.SignIn) (consent.Answer, error) {
		again <- ask()
		return consent.Answer{}, &consent.Denied{Words: "nobody has answered"}
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	if err := <-again; codeOf(err) != TooMany {
		t.Errorf("a second question: %v", err)
	}
	o.server.approve = o.approve
	o.answer, o.err = consent.Answer{}, &consent.Denied{Words: "nobody has answered"}
	for range 4 {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(); codeOf(err) != TooMany {
		t.Errorf("a sixth question: %v", err)
	}
}

// Other users of the machine, and other machines, use up limits of their own: the owner's
// clients sign in all the same, and so do those of others.
func TestLimitsOfSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwner(t)
		denied := &consent.Denied{Words: "nobody has answered"}
		o.server.approve = func(ctx context.Context, _ consent.SignIn) (consent.Answer, error) {
			<-ctx.Done()
			return consent.Answer{}, denied
		}
		r, err := o.server.Parse(base, true, query(o.register()))
		if err != nil {
			t.Fatal(err)
		}
		// ask has a source open a question, and abandon it after a while.
		ask := func(from Source, after time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			_, err := o.server.Authorize(ctx, from, r, Access{}, func(string) {})
			return err
		}
		for range 5 {
			if err := ask("uid 1001", time.Second); err != nil {
				t.Fatal(err)
			}
		}
		if err := ask("uid 1001", time.Second); codeOf(err) != TooMany {
			t.Errorf("a sixth question of the same: %v", err)
		}
		for range 100 {
			_, err = o.server.Register("uid 1001", Registration{RedirectURIs: []string{redirect}})
		}
		if codeOf(err) != TooMany {
			t.Errorf("a hundred registrations of the same: %v", err)
		}
		for i := range 10_000 { // addresses that one stranger has
			from := Source(fmt.Sprint("2001:db8:0:", i))
			_, _ = o.server.Register(from, Registration{})
			go func() { _ = ask(from, time.Hour) }()
		}
		synctest.Wait()
		if n := len(o.server.sources.of); n > maxSources+2 {
			t.Errorf("%d sources are kept", n)
		}
		if o.server.sources.asking != maxQuestions {
			t.Errorf("%d questions are open", o.server.sources.asking)
		}
		if _, err := o.server.Register("uid 1002", Registration{RedirectURIs: []string{redirect}}); codeOf(err) == "invalid_redirect_uri" {
			t.Error(err)
		}
		o.server.approve = o.approve
		o.signIn(o.register(), Access{})

		time.Sleep(2 * time.Hour)
		if _, err := o.server.Authorize(t.Context(), "uid 1001", r, Access{}, func(string) {}); err != nil {
			t.Errorf("after a while: %v", err)
		}
		if _, err := o.server.Register("uid 1003", Registration{RedirectURIs: []string{redirect}}); err != nil || len(o.server.sources.of) > 3 {
			t.Errorf("%v; %d sources are kept that have used nothing lately", err, len(o.server.sources.of))
		}
	})
}

func codeOf(err error) string {
	no, _ := errors.AsType[*Error](err)
	if no == nil {
		return ""
	}
	return no.Code
}

func TestRegister(t *testing.T) {
	o := newOwner(t)
	long := "https://a.example/" + strings.Repeat("x", 900)
	for name, c := range map[string]struct {
		in   Registration
		code string
	}{
		"no redirects":   {Registration{}, "invalid_redirect_uri"},
		"web, in clear":  {Registration{RedirectURIs: []string{"http://a.example/"}}, "invalid_redirect_uri"},
		"one is bad":     {Registration{RedirectURIs: []string{redirect, "javascript:1"}}, "invalid_redirect_uri"},
		"too many":       {Registration{RedirectURIs: strings.Split(strings.Repeat(" "+redirect, 9)[1:], " ")}, "invalid_redirect_uri"},
		"too long":       {Registration{RedirectURIs: []string{long, long, long, long, long}}, "invalid_client_metadata"},
		"with a secret":  {Registration{RedirectURIs: []string{redirect}, AuthMethod: "client_secret_basic"}, ""},
		"hidden in name": {Registration{RedirectURIs: []string{redirect}, ClientName: "a\u202eb\nc"}, ""},
	} {
		out, err := o.server.Register(Owner, c.in)
		if codeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (out.AuthMethod != "none" || strings.ContainsAny(out.ClientName, "\u202e\n")) {
			t.Errorf("%s: %+v", name, out)
		}
	}
	for range 100 {
		if _, err := o.server.Register(Owner, Registration{}); codeOf(err) == TooMany {
			return
		}
	}
	t.Error("a hundred registrations in a moment are taken")
}

// The page's address has the client id, so the hub accepts only ids that it has made.
func FuzzRegistered(f *testing.F) {
	s := New(Options{})
	made, err := s.Register(Owner, Registration{ClientName: "An agent", RedirectURIs: []string{redirect}})
	if err != nil {
		f.Fatal(err)
	}
	for _, id := range []string{made.ClientID, made.ClientID + "\n", strings.ToLower(made.ClientID), "dcr_", "dcr_.", "dcr_e30.AAAAAAAAAAAAAAAAAAAAAA"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if c, ok := s.registered(id); ok && id != made.ClientID {
			t.Errorf("%q is taken for %+v", id, c)
		}
	})
}
