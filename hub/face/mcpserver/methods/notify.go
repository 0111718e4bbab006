package methods

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"tabhub/hub"
	"tabhub/hub/face/mcpserver/jsonrpc"
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

// add takes from c what w asks for, and reports whether that is anything.
func (p *changes) add(c hub.Change, w *changes) (added bool) {
	set := func(have *bool, now, want bool) {
		if now && want {
			*have, added = true, true
		}
	}
	set(&p.tools, c.Tools, w.tools)
	set(&p.resources, c.Resources, w.resources)
	set(&p.prompts, c.Prompts, w.prompts)
	for _, uri := range c.Updated {
		if slices.Contains(w.updated, uri) {
			added = true
			if !slices.Contains(p.updated, uri) {
				p.updated = append(p.updated, uri)
			}
		}
	}
	for _, id := range c.Tasks {
		if slices.Contains(w.tasks, id) {
			added = true
			if !slices.Contains(p.tasks, id) {
				p.tasks = append(p.tasks, id)
			}
		}
	}
	return added
}

// frames returns the notifications for p; meta, if any, is a member of each one's
// params.
func (p *changes) frames(fs []jsonrpc.Frame, meta string) []jsonrpc.Frame {
	for _, n := range []struct {
		is     bool
		method string
	}{
		{p.tools, "notifications/tools/list_changed"},
		{p.resources, "notifications/resources/list_changed"},
		{p.prompts, "notifications/prompts/list_changed"},
	} {
		if n.is {
			fs = append(fs, jsonrpc.Notification(n.method, meta))
		}
	}
	for _, uri := range p.updated {
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
func (ses *Session) changed(c hub.Change) {
	ses.mu.Lock()
	all := changes{tools: true, resources: true, prompts: true}
	for uri := range ses.subs {
		all.updated = append(all.updated, uri)
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
			fs = ses.taskFrames(fs, l.pending.tasks, subscriptionMeta(l.id))
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
	l.pending.tasks = l.want.tasks // how far they are now
	if rq.header != nil {
		// The client may have listened over another connection before, and have missed a change.
		// On a stream, a bridge sees to it that nothing is missed.
		l.pending = l.want
		l.pending.updated = slices.Clone(l.want.updated)
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
	if want.tasks, e = s.taskIDs(rq, raw); e != nil {
		return nil, e
	}
	is := func(key string) bool { return string(rawjson.Get(raw, key)) == "true" }
	want.tools, want.resources, want.prompts = is("toolsListChanged"), is("resourcesListChanged"), is("promptsListChanged")
	uris := rawjson.Get(raw, "resourceSubscriptions")
	if uris == nil || string(uris) == "null" {
		return nil, nil
	}
	var list []string
	if json.Unmarshal(uris, &list) != nil || len(list) > maxSubscriptions {
		return nil, jsonrpc.InvalidParams(fmt.Sprintf("resourceSubscriptions must be at most %d strings", maxSubscriptions))
	}
	for _, uri := range list {
		if slices.Contains(want.updated, uri) {
			continue
		}
		stop, err := s.hub.SubscribeResource(ctx, rq.caller(nil, nil), uri)
		if err != nil {
			s.log.Debug("not subscribed", "uri", uri, "err", err)
			continue
		}
		stops, want.updated = append(stops, stop), append(want.updated, uri)
	}
	return stops, nil
}

// filter returns c as the filter that an acknowledgement holds.
func (c *changes) filter() string {
	f := map[string]any{}
	for key, is := range map[string]bool{"toolsListChanged": c.tools, "resourcesListChanged": c.resources, "promptsListChanged": c.prompts} {
		if is {
			f[key] = true
		}
	}
	if len(c.updated) > 0 {
		f["resourceSubscriptions"] = c.updated
	}
	if len(c.tasks) > 0 {
		f["taskIds"] = c.tasks
	}
	b, _ := json.Marshal(f)
	return string(b)
}
