package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"tabhub/hub"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

const methodListen = "subscriptions/listen"

// listen is a subscriptions/listen under way, on a stream or as an HTTP response.
// Its fields are guarded by its session.
type listen struct {
	id      json.RawMessage
	want    changes // what the client asked for and may have
	pending changes // not told yet
	acked   bool    // nothing is told before the acknowledgement
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
func (p *changes) frames(fs []frame, meta string) []frame {
	for _, n := range []struct {
		is     bool
		method string
	}{
		{p.tools, "notifications/tools/list_changed"},
		{p.resources, "notifications/resources/list_changed"},
		{p.prompts, "notifications/prompts/list_changed"},
	} {
		if n.is {
			fs = append(fs, noticeFrame(n.method, meta))
		}
	}
	for _, uri := range p.updated {
		params := string(rawjson.AppendString([]byte(`"uri":`), uri))
		if meta != "" {
			params = meta + "," + params
		}
		fs = append(fs, noticeFrame("notifications/resources/updated", params))
	}
	return fs
}

// changed notes what the client has to be told and has it told, if a stream to it
// is open. It never waits.
func (ses *session) changed(c hub.Change) {
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
		out.wake()
	}
}

// notices returns what the client has not been told yet.
func (ses *session) notices() (fs []frame) {
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
func (s *Server) listen(ctx context.Context, rq *request) (frame, error) {
	if !rq.modern {
		return s.protocol(rq) // it is of no other era: it says so
	}
	if rq.out == nil {
		return frame{}, &rpcError{code: spec.CodeInvalidRequest, message: "the answer to " + methodListen + " is an event stream: accept text/event-stream", status: http.StatusNotAcceptable}
	}
	if !s.streams.enter() {
		return s.refuseLate(rq)
	}
	defer s.streams.leave()
	l := &listen{id: rq.id}
	stops, e := s.filter(ctx, rq, &l.want)
	if e != nil {
		return frame{}, e
	}
	defer func() {
		for _, stop := range stops {
			stop()
		}
	}()
	ses, key := rq.ses, idKey(rq.id)
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

	rq.out.put(noticeFrame("notifications/subscriptions/acknowledged", subscriptionMeta(l.id)+`,"notifications":`+l.want.filter()))
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
	rq.out.wake()
	if !l.want.empty() {
		<-ctx.Done()
		if context.Cause(ctx) != ErrClosing {
			return frame{}, errSilent
		}
	}
	meta := `"_meta":{` + s.serverRef + `,"` + metaSubscription + `":` + string(l.id) + "}"
	return resultFrame(rq.id, resultComplete+","+meta, json.RawMessage("{}")), nil
}

// filter reads what the client wants to be told and subscribes it to the resources
// that there are. stops end the subscriptions.
func (s *Server) filter(ctx context.Context, rq *request, want *changes) (stops []func(), e *rpcError) {
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
		return nil, invalidParams(fmt.Sprintf("resourceSubscriptions must be at most %d strings", maxSubscriptions))
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
