package methods

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/lists"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// listen is a subscriptions/listen under way, on a stream or as an HTTP response.
// Its fields are guarded by its session.
type listen struct {
	id      json.RawMessage
	want    changes // what the client asked for and may have
	pending changes // not sent yet
	acked   bool    // nothing is sent before the acknowledgement
}

// changes is what a client is to be notified of.
type changes lists.Change

func (p *changes) empty() bool {
	return !p.Tools && !p.Resources && !p.Prompts && len(p.Updated) == 0 && len(p.Tasks) == 0
}

// add takes from c what w asks for, each once, and reports whether that is anything.
func (p *changes) add(c lists.Change, w *changes) (added bool) {
	set := func(have *bool, now, want bool) {
		*have = *have || now && want
		added = added || now && want
	}
	set(&p.Tools, c.Tools, w.Tools)
	set(&p.Resources, c.Resources, w.Resources)
	set(&p.Prompts, c.Prompts, w.Prompts)
	join := func(have *[]string, now, want []string) {
		for _, one := range now {
			if slices.Contains(want, one) {
				added = true
				if !slices.Contains(*have, one) {
					*have = append(*have, one)
				}
			}
		}
	}
	join(&p.Updated, c.Updated, w.Updated)
	join(&p.Tasks, c.Tasks, w.Tasks)
	return added
}

// frames returns the notifications for p; meta, if any, is a member of each one's
// params.
func (p *changes) frames(fs []jsonrpc.Frame, meta string) []jsonrpc.Frame {
	for _, n := range []struct {
		is     bool
		method string
	}{
		{p.Tools, "notifications/tools/list_changed"},
		{p.Resources, "notifications/resources/list_changed"},
		{p.Prompts, "notifications/prompts/list_changed"},
	} {
		if n.is {
			fs = append(fs, jsonrpc.Notification(n.method, meta))
		}
	}
	for _, uri := range p.Updated {
		params := string(rawjson.AppendString([]byte(`"uri":`), uri))
		if meta != "" {
			params = meta + "," + params
		}
		fs = append(fs, jsonrpc.Notification("notifications/resources/updated", params))
	}
	return fs
}

// changed notes what the client is to be notified of and wakes the stream to it, if one
// is open. It never waits.
func (ses *Session) changed(c lists.Change) {
	ses.mu.Lock()
	all := changes{Tools: true, Resources: true, Prompts: true}
	for uri := range ses.subs {
		all.Updated = append(all.Updated, uri)
	}
	tell := ses.version != "" && ses.changes.add(c, &all) && ses.ready
	for _, l := range ses.listens {
		tell = l.pending.add(c, &l.want) && l.acked || tell
	}
	out := ses.out
	var back []string // may be somebody's again
	if c.Resources {
		back = slices.Clone(ses.missing)
	}
	ses.mu.Unlock()
	ses.followAgain(back)
	if tell && out != nil {
		out.Wake()
	}
}

// Notices returns the notifications that the client has not been sent yet.
func (ses *Session) Notices() (fs []jsonrpc.Frame) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.ready && !ses.changes.empty() {
		fs = ses.changes.frames(fs, "")
		ses.changes = changes{}
	}
	for _, l := range ses.listens {
		if l.acked && !l.pending.empty() {
			fs = l.pending.frames(fs, subscriptionMeta(l.id))
			fs = ses.taskFrames(fs, l.pending.Tasks, subscriptionMeta(l.id))
			l.pending = changes{}
		}
	}
	return fs
}

func subscriptionMeta(id json.RawMessage) string {
	return `"_meta":{"` + metaSubscription + `":` + string(id) + `}`
}

// listen serves subscriptions/listen until ctx is done.
func (s *Server) listen(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	if rq.out == nil {
		return jsonrpc.Frame{}, &jsonrpc.Error{Code: spec.CodeInvalidRequest, Message: "the answer to " + MethodListen + " is an event stream: accept text/event-stream", Status: http.StatusNotAcceptable}
	}
	if !s.listens.Enter() {
		return s.refuseLate(rq)
	}
	defer s.listens.Leave()
	l := &listen{id: rq.ID}
	stops, e := s.filter(ctx, rq, &l.want)
	if e != nil {
		return jsonrpc.Frame{}, e
	}
	defer func() {
		for _, stop := range stops {
			stop()
		}
	}()
	ses, key := rq.ses, jsonrpc.IDKey(rq.ID)
	ses.mu.Lock()
	if ses.listens == nil {
		ses.listens = map[string]*listen{}
	}
	ses.listens[key] = l
	ses.mu.Unlock()
	s.watchSession(ses, rq.sessionInfo(), rq.caller(nil, nil))
	defer func() {
		ses.mu.Lock()
		defer ses.mu.Unlock()
		if ses.listens[key] == l {
			delete(ses.listens, key)
		}
	}()

	rq.out.Put(jsonrpc.Notification("notifications/subscriptions/acknowledged", subscriptionMeta(l.id)+`,"notifications":`+l.want.filter()))
	ses.mu.Lock()
	l.acked = true
	l.pending.Tasks = l.want.Tasks // how far they are now
	if rq.header != nil {
		// The client may have listened over another connection before, and have missed a change.
		// On a stream, a bridge sees to it that nothing is missed.
		l.pending = l.want
		l.pending.Updated = slices.Clone(l.want.Updated)
	}
	ses.mu.Unlock()
	rq.out.Wake()
	if !l.want.empty() {
		<-ctx.Done()
		if context.Cause(ctx) != ErrClosing {
			return jsonrpc.Frame{}, errSilent
		}
	}
	meta := `"_meta":{` + s.serverRef + `,"` + metaSubscription + `":` + string(l.id) + "}"
	return jsonrpc.Result(rq.ID, resultComplete+","+meta, json.RawMessage("{}")), nil
}

// filter reads what the client wants to be notified of and subscribes it to the resources
// that there are. stops end the subscriptions.
func (s *Server) filter(ctx context.Context, rq *Request, want *changes) (stops []func(), e *jsonrpc.Error) {
	raw, e := rq.object("notifications")
	if e != nil || raw == nil {
		return nil, e
	}
	if want.Tasks, e = s.taskIDs(rq, raw); e != nil {
		return nil, e
	}
	is := func(key string) bool { return string(rawjson.Get(raw, key)) == "true" }
	want.Tools, want.Resources, want.Prompts = is("toolsListChanged"), is("resourcesListChanged"), is("promptsListChanged")
	uris := rawjson.Get(raw, "resourceSubscriptions")
	if uris == nil || string(uris) == "null" {
		return nil, nil
	}
	var list []string
	if json.Unmarshal(uris, &list) != nil || len(list) > maxSubscriptions {
		return nil, jsonrpc.InvalidParams(fmt.Sprintf("resourceSubscriptions must be at most %d strings", maxSubscriptions))
	}
	for _, uri := range list {
		if slices.Contains(want.Updated, uri) {
			continue
		}
		stop, err := s.hub.SubscribeResource(ctx, rq.caller(nil, nil), uri)
		if err != nil {
			s.log.Debug("not subscribed", "uri", uri, "err", err)
			continue
		}
		stops, want.Updated = append(stops, stop), append(want.Updated, uri)
	}
	return stops, nil
}

// filter returns c as the filter that an acknowledgement holds.
func (c *changes) filter() string {
	f := map[string]any{}
	for key, is := range map[string]bool{"toolsListChanged": c.Tools, "resourcesListChanged": c.Resources, "promptsListChanged": c.Prompts} {
		if is {
			f[key] = true
		}
	}
	if len(c.Updated) > 0 {
		f["resourceSubscriptions"] = c.Updated
	}
	if len(c.Tasks) > 0 {
		f["taskIds"] = c.Tasks
	}
	b, _ := json.Marshal(f)
	return string(b)
}
