package admin

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"tabhub/hub/builtin"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// PolicyReport is GET /api/policy: the policy in force.
type PolicyReport struct {
	Mode    policy.Mode    `json:"mode"`
	Fixed   bool           `json:"fixed"` // by --policy
	Rules   []*policy.Rule `json:"rules"` // of the file, of the owner and of the mode, each the most specific first
	Pauses  []policy.Pause `json:"pauses"`
	Private []string       `json:"private"`
	// Bindings are those of the file and of the owner.
	Bindings []policy.Binding `json:"bindings"`
	File     *PolicyFile      `json:"file,omitempty"`
}

// Paused reports whether all clients are paused, at all sites.
func (p *PolicyReport) Paused() bool {
	return slices.ContainsFunc(p.Pauses, func(p policy.Pause) bool { return p.Client == "" && p.Site == "" })
}

// PolicyFile is the state of the file of policy-file.
type PolicyFile struct {
	Path  string    `json:"path"`
	Rules int       `json:"rules"`           // in force
	Read  time.Time `json:"read"`            // when the hub read them
	Error string    `json:"error,omitempty"` // why the hub did not take the rules of the file as it is now
}

// PolicyChange answers POST /api/policy/rule.
type PolicyChange struct {
	Rule policy.Rule `json:"rule"`
	// Exceptions are the rules that decide otherwise for a part of what this one covers.
	Exceptions []*policy.Rule `json:"exceptions"`
}

// ModeSetting is the body of PUT /api/policy/mode.
type ModeSetting struct {
	Mode policy.Mode `json:"mode" validate:"required"`
}

// PrivateSetting is the body of PUT /api/policy/private.
type PrivateSetting struct {
	Site    string `json:"site" validate:"required"`
	Private bool   `json:"private"`
}

// PolicyTest is GET /api/policy/test: the decision about an action.
type PolicyTest struct {
	Client string         `json:"client"`
	Site   spec.Domain    `json:"site,omitempty"`
	Tool   string         `json:"tool,omitempty"`
	Pack   string         `json:"pack,omitempty"`
	Class  policy.Class   `json:"class"`
	Effect policy.Effect  `json:"effect"`
	By     policy.Layer   `json:"by"`
	Words  string         `json:"words"`
	Rule   *policy.Rule   `json:"rule,omitempty"`
	Rules  []*policy.Rule `json:"rules"` // all that match
}

func (api *API) getPolicy(r *endpoint.Request) error {
	file := api.o.Info().PolicyFile // which reads the file again, if it has changed
	set := r.Tenant.Hub.Rules.Policy()
	doc := set.Document()
	report := PolicyReport{Rules: set.Rules(), Pauses: nonNil(doc.Pauses), Private: nonNil(doc.Private), Bindings: nonNil(set.Bindings()), File: file}
	report.Mode, report.Fixed = set.Mode()
	if report.File != nil && api.o.Accounts && !r.Owner { // users do not see its place
		report.File = &PolicyFile{Rules: file.Rules, Read: file.Read}
	}
	return r.Answer(report)
}

// postRule adds a rule, or replaces the one of the same subject.
func (api *API) postRule(r *endpoint.Request) error {
	var rule policy.Rule
	if err := r.Read(64<<10, &rule); err != nil {
		return err
	}
	now := time.Now()
	rule.ID, rule.Made, rule.By = strings.ToLower(rand.Text()[:8]), now.UTC().Truncate(time.Second), editor(r)
	if rule == (policy.Rule{ID: rule.ID, Effect: rule.Effect, Made: rule.Made, By: rule.By, Until: rule.Until, Note: rule.Note}) {
		return endpoint.BadRequest("the rule is about everything; name a client, a site, a tool, a pack or a class, or use `tabhub policy mode` or `tabhub pause`")
	}
	if a := builtinAction(r, consent.As(policy.Owner), rule.Tool); a.Class == policy.Act { // the name is that of an act
		rule.Class = cmp.Or(rule.Class, a.Class.String())
	} else if rule.Site == "" && rule.Tool != "" {
		// The public name of a tool that can be called now stands for its site and its own name.
		if a.Name != "" {
			rule.Class = cmp.Or(rule.Class, "hub")
		} else if a, err := r.Tenant.Hub.Action(policy.Owner, rule.Tool); err == nil {
			rule.Site, rule.Tool, rule.Pack = string(a.Site.Domain), a.Name, cmp.Or(rule.Pack, a.Pack)
		}
	}
	if !rule.Until.IsZero() && !rule.Until.After(now) {
		return endpoint.BadRequest("the rule would have ended already, %s", rule.Until.Format(time.RFC3339))
	}
	if err := policy.Check([]policy.Rule{rule}); err != nil {
		return badRule(err)
	}
	if err := api.checkClient(r, rule.Client); err != nil {
		return err
	}
	err := editPolicy(r, func(doc *policy.Document) error {
		doc.Put(rule, now)
		return nil
	})
	if err != nil {
		return err
	}
	return r.Answer(PolicyChange{rule, nonNil(r.Tenant.Hub.Rules.Policy().Exceptions(rule.ID, now))})
}

func deleteRule(r *endpoint.Request) error {
	id := r.URL.Query().Get("id")
	return edit(r, struct{}{}, func(doc *policy.Document) error {
		if !doc.Remove(id) {
			return &endpoint.Error{Status: http.StatusNotFound, Text: "there is no such rule of yours; `tabhub policy list` shows the ids, those of a file and of the mode stay"}
		}
		return nil
	})
}

func putMode(r *endpoint.Request) error {
	var in ModeSetting
	if err := r.Read(1<<10, &in); err != nil {
		return err
	}
	if mode, fixed := r.Tenant.Hub.Rules.Policy().Mode(); fixed && mode != in.Mode {
		return &endpoint.Error{Status: http.StatusConflict, Text: "the hub was started with --policy " + string(mode) + ", which holds; start it without the flag to have the mode stored"}
	}
	return edit(r, in, func(doc *policy.Document) error { doc.Mode = in.Mode; return nil })
}

func putPrivate(r *endpoint.Request) error {
	var in PrivateSetting
	if err := r.Read(4<<10, &in); err != nil {
		return err
	}
	if err := policy.CheckPrivate(in.Site); err != nil {
		return endpoint.BadRequest("%v", err)
	}
	return edit(r, in, func(doc *policy.Document) error {
		doc.Private = slices.DeleteFunc(doc.Private, func(site string) bool { return site == in.Site })
		if in.Private {
			doc.Private = append(doc.Private, in.Site)
		}
		return nil
	})
}

// postPause pauses what the body names, everything if it names nothing.
func (api *API) postPause(r *endpoint.Request) error {
	var in policy.Pause
	if err := r.Read(4<<10, &in); err != nil {
		return err
	}
	if err := policy.Check([]policy.Rule{{Effect: policy.Deny, Client: in.Client, Site: in.Site}}); err != nil {
		return badRule(err)
	}
	if err := api.checkClient(r, in.Client); err != nil {
		return err
	}
	in.Since, in.By = time.Now().UTC().Truncate(time.Second), editor(r)
	return edit(r, in, func(doc *policy.Document) error {
		doc.Pause(in)
		return nil
	})
}

// deletePause ends the pause of the client and the site that the parameters name; without both that of
// everything.
func deletePause(r *endpoint.Request) error {
	q := r.URL.Query()
	return edit(r, struct{}{}, func(doc *policy.Document) error {
		if !doc.Resume(q.Get("client"), q.Get("site")) {
			return &endpoint.Error{Status: http.StatusNotFound, Text: "just this is not paused; `tabhub policy list` shows what is"}
		}
		return nil
	})
}

// getPolicyTest says what the policy would decide about an action of the client that the parameters
// name: a call of a tool by its public name, or an action of their parts.
func (api *API) getPolicyTest(r *endpoint.Request) error {
	a, err := api.testedAction(r)
	if err != nil {
		return err
	}
	set, now := r.Tenant.Hub.Rules.Policy(), time.Now()
	d := set.Decide(&a, now)
	return r.Answer(PolicyTest{
		Client: cmp.Or(r.URL.Query().Get("client"), policy.OwnerID), Site: a.Site.Domain, Tool: a.Name, Pack: a.Pack, Class: a.Class,
		Effect: d.Effect, By: d.Layer, Words: d.Words(&a), Rule: d.Rule, Rules: nonNil(set.Matching(&a, now)),
	})
}

func (api *API) testedAction(r *endpoint.Request) (a policy.Action, err error) {
	q := r.URL.Query()
	client, site, tool, class := cmp.Or(q.Get("client"), policy.OwnerID), q.Get("site"), q.Get("tool"), q.Get("class")
	by, err := api.principal(r, client)
	if err != nil {
		by = &policy.Principal{ID: client, Name: client} // a client that may come
	}
	if site != "" {
		if err := checkOneSite(site); err != nil {
			return a, err
		}
	}
	a = policy.Action{Name: tool, Class: policy.Write, Site: policy.Site{Domain: spec.Domain(site)}}
	own := builtinAction(r, consent.As(by), tool)
	switch {
	case class == "relay":
		a.Of, a.Site.Any = policy.OfRelay, site == ""
	case (class == policy.Act.String() || class == "" && own.Class == policy.Act) && site == "":
		return a, endpoint.BadRequest("name the site whose page is acted on")
	case own.Name != "":
		a.Of = policy.OfHub
		if strings.Contains(tool, " ") || own.Class == policy.Act {
			a.Class = own.Class
		}
	case class == policy.Act.String():
		a.Of = policy.OfHub
	case site != "":
	case tool == "":
		return a, endpoint.BadRequest("name a tool, a site or both")
	default:
		if a, err = r.Tenant.Hub.Action(by, tool); err != nil {
			return a, err
		}
	}
	a.Principal, a.Session = by, q.Get("session")
	if a.Of == policy.OfPage {
		a.Pack = cmp.Or(q.Get("pack"), a.Pack)
	}
	if class != "" && class != "relay" {
		if err := a.Class.UnmarshalText([]byte(class)); err != nil {
			return a, endpoint.BadRequest("%v", err)
		}
	}
	return a, nil
}

// checkOneSite refuses what is not one site.
func checkOneSite(site string) error {
	if err := policy.CheckPrivate(site); err != nil || strings.Contains(site, "*") {
		return endpoint.BadRequest("%.100q is not one site; write it as `tabhub tabs` shows it", site)
	}
	return nil
}

// builtinAction is what the name of a builtin tool, or of an action of one, stands for. It has no Name if there is none.
func builtinAction(r *endpoint.Request, by *consent.Caller, name string) policy.Action {
	tool, _, _ := strings.Cut(strings.TrimSpace(name), " ")
	t := builtin.Find(r.Tenant.Builtin, tool)
	if t == nil {
		return policy.Action{}
	}
	return t.ActionOf(by, strings.TrimSpace(name))
}

// principal returns the client of the caller's with an ID or a name.
func (api *API) principal(r *endpoint.Request, client string) (*policy.Principal, error) {
	for _, known := range []*policy.Principal{policy.Owner, policy.Token, policy.Unnamed} {
		if known.ID == client {
			return known, nil
		}
	}
	if api.o.Clients == nil {
		return nil, auth.ErrNoClient
	}
	c, err := api.o.Clients.Find(r.Identity.User, client)
	if err != nil {
		return nil, err
	}
	return &policy.Principal{ID: c.ID, Name: c.Name, Scope: c.Scope}, nil
}

// checkClient refuses a client that does not exist: a rule about it would do nothing.
func (api *API) checkClient(r *endpoint.Request, client string) error {
	if client == "" {
		return nil
	}
	_, err := api.client(r, client)
	return err
}

// client is principal for a client that must exist.
func (api *API) client(r *endpoint.Request, client string) (*policy.Principal, error) {
	known, err := api.principal(r, client)
	if err != nil {
		return nil, endpoint.BadRequest("there is no client %.80q; `tabhub token list` shows those that there are, beside owner (your own commands), token (programs with the hub's token) and unnamed (programs without a credential)", client)
	}
	return known, nil
}

// edit changes the policy of the caller's hub and answers v.
func edit(r *endpoint.Request, v any, change func(*policy.Document) error) error {
	if err := editPolicy(r, change); err != nil {
		return err
	}
	return r.Answer(v)
}

// editPolicy changes the policy of the caller's hub.
func editPolicy(r *endpoint.Request, edit func(*policy.Document) error) error {
	err := r.Tenant.Hub.Rules.EditPolicy(editor(r), edit)
	if errors.Is(err, policy.ErrInvalid) {
		return endpoint.BadRequest("%v", err)
	}
	return err
}

// editor is Rule.By for a caller.
func editor(r *endpoint.Request) string {
	if r.Dashboard {
		return consent.ByDashboard
	}
	return consent.ByCommand
}

// badRule is the error for a rule that policy.Check refuses.
func badRule(err error) error {
	if wrong, ok := errors.AsType[*policy.RuleError](err); ok {
		return endpoint.BadRequest("%s", wrong.Text)
	}
	return endpoint.BadRequest("%v", err)
}
