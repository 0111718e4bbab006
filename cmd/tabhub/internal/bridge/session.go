package bridge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"tabhub/hub/core"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// The methods that the bridge knows.
const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodCancelled   = "notifications/cancelled"
	methodCall        = "tools/call"
	methodListTools   = "tools/list"
	methodSetLevel    = "logging/setLevel"
	methodSubscribe   = "resources/subscribe"
	methodUnsubscribe = "resources/unsubscribe"
	methodListen      = "subscriptions/listen"
	methodAcked       = "notifications/subscriptions/acknowledged"
)

// lists maps the methods that read a list to the notice that it has changed, and the
// member of a listen filter that asks for that notice.
var lists = []struct{ read, changed, filter string }{
	{methodListTools, "notifications/tools/list_changed", "toolsListChanged"},
	{"resources/list", "notifications/resources/list_changed", "resourcesListChanged"},
	{"prompts/list", "notifications/prompts/list_changed", "promptsListChanged"},
}

// session is what the bridge remembers of the client, in order to restore it on
// another hub. Bridge.mu guards it.
type session struct {
	seq     uint64
	pending map[string]*request // by idKey

	initialize    []byte            // the client's request, once it was answered
	initialized   []byte            // the client's notification
	level         []byte            // its latest logging/setLevel
	subscriptions map[string][]byte // its resources/subscribe, by URI
	listed        map[string]bool   // the lists that it has read

	tools []byte // the latest answer to tools/list

	batches bool // the revision agreed on has them: 2025-03-26

	restored bool              // the hub of the moment has answered the replayed initialize
	replayed map[string]string // URIs, as JSON, of the replayed resources/subscribe, by idKey
	owed     []byte            // notices for the client, beside what the hub says
}

// request is a request of the client that has no answer yet.
type request struct {
	seq    uint64
	id     string // as written
	key    string // idKey of it
	method string
	line   []byte // without its line break
	sends  int    // how many hubs may have begun it
	acked  bool   // of subscriptions/listen: its acknowledgement went to the client
	lasts  bool   // of subscriptions/listen: there is something to tell, until the hub ends
	again  bool   // it was sent again, and its acknowledgement is not for the client
	twoIDs bool   // it has two ids: the hub may have answered the other one
}

func newSession() session {
	return session{pending: make(map[string]*request), subscriptions: make(map[string][]byte), listed: make(map[string]bool)}
}

// idKey is what a request is looked up by: an id may be written in several ways.
func idKey(id []byte) string {
	if bytes.IndexByte(id, '\\') >= 0 {
		if s, ok := rawjson.String(id); ok {
			return string(rawjson.AppendString(nil, s))
		}
	}
	return string(id)
}

// inOrder returns the requests without an answer, as the client sent them.
func (s *session) inOrder() []*request {
	return slices.SortedFunc(maps.Values(s.pending), func(a, b *request) int { return cmp.Compare(a.seq, b.seq) })
}

// forgetRefused removes what the hub could not read, and so has answered without an id.
func (s *session) forgetRefused() {
	maps.DeleteFunc(s.pending, func(_ string, r *request) bool {
		return len(r.line) > spec.MaxFrame || rawjson.Valid(r.line, spec.MaxDepth) != nil
	})
}

// maxSends is how many hubs get a request that none of them has lived to answer: it
// may be what they die of.
const maxSends = 3

// settle removes the requests that must not be sent again, after their hub is gone,
// and returns their answers. unbegun says that the hub has begun none of those that
// are open.
func (s *session) settle(unbegun bool) []byte {
	s.forgetRefused()
	var answers []byte
	open := s.inOrder()
	for _, r := range open {
		if unbegun {
			r.sends = 0
		}
		r.reread()
	}
	safe := s.safeTools(open)
	for _, r := range open {
		overSent := r.sends >= maxSends && r.method != methodListen
		switch {
		case r.method == methodCall && (r.twoIDs || overSent || r.sends > 0 && !safe[toolOf(r)]):
			answers = append(answers, r.notConnected()...)
		case r.twoIDs || overSent:
			answers = append(answers, r.failed(errHubGone)...)
		default:
			continue
		}
		delete(s.pending, r.key)
	}
	return answers
}

// reread reads the line as the hub does. parseMessage need not agree with the hub where a
// member is there twice, and of what is sent again nothing may be doubtful.
func (r *request) reread() {
	_ = rawjson.Object(r.line, spec.MaxDepth, func(key string, value json.RawMessage) error {
		switch key {
		case "method":
			r.method, _ = rawjson.String(value)
		case "id":
			r.twoIDs = r.twoIDs || idKey(value) != r.key
		}
		return nil
	}) // what the hub cannot read it does not do
}

// open returns the lines to send to the next hub: all requests that settle has left.
func (s *session) open() []byte {
	var lines []byte
	for _, r := range s.inOrder() {
		r.again = r.acked
		r.sends++
		lines = append(append(lines, r.line...), '\n')
	}
	return lines
}

// abandon answers all open requests with an error, and returns the answers.
func (s *session) abandon(err error) []byte {
	s.forgetRefused()
	var out []byte
	for _, r := range s.inOrder() {
		out = append(out, r.failed(err)...)
	}
	clear(s.pending)
	return out
}

// asks reports whether the client waits for an answer; a subscription can wait.
func (s *session) asks() bool {
	for _, r := range s.pending {
		if r.method != methodListen {
			return true
		}
	}
	return false
}

// restore returns what makes a new hub know the client: first the handshake, whose
// answer must be awaited, then the rest.
func (s *session) restore() (handshake, rest []byte) {
	n := 0
	id := func() string { return fmt.Sprintf(`"%s%d"`, replayPrefix, n) }
	replay := func(line []byte) []byte {
		n++
		if rawjson.Valid(line, spec.MaxDepth) != nil {
			return nil
		}
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`+"\n",
			id(), rawjson.Get(line, "method"), cmp.Or(string(rawjson.Get(line, "params")), "{}"))
	}
	s.restored, s.replayed, s.owed = false, make(map[string]string), nil
	if s.initialize == nil {
		return nil, nil
	}
	handshake = replay(s.initialize)
	if s.initialized != nil {
		rest = append(append(rest, bytes.TrimRight(s.initialized, "\r\n")...), '\n')
	}
	if s.level != nil {
		rest = append(rest, replay(s.level)...)
	}
	for uri, line := range s.subscriptions {
		rest = append(rest, replay(line)...)
		s.replayed[id()] = uri
	}
	return handshake, rest
}

// listChanged returns the notices that a client is sent after its session was
// restored on another hub, whose lists may differ.
func (s *session) listChanged() []byte {
	var out []byte
	for _, l := range lists {
		if s.initialized != nil && (s.listed[l.read] || l.read == methodListTools) {
			out = fmt.Appendf(out, `{"jsonrpc":"2.0","method":%q}`+"\n", l.changed)
		}
		for _, r := range s.pending {
			if r.method != methodListen || !r.acked || rawjson.Valid(r.line, spec.MaxDepth) != nil {
				continue
			}
			if string(rawjson.Get(r.line, "params", "notifications", l.filter)) == "true" {
				out = fmt.Appendf(out, `{"jsonrpc":"2.0","method":%q,"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`+"\n", l.changed, r.id)
			}
		}
	}
	return out
}

// updated is the notice that a resource may have changed, whose URI is JSON; listen is the id
// of the subscriptions/listen that asked for it, if one did.
func updated(uri, listen string) []byte {
	if listen != "" {
		listen = `"_meta":{"io.modelcontextprotocol/subscriptionId":` + listen + `},`
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{%s"uri":%s}}`+"\n", listen, uri)
}

// safeTools returns which of the tools that open calls name may be called twice.
func (s *session) safeTools(open []*request) map[string]bool {
	asked := make(map[string]bool)
	for _, r := range open {
		if r.method == methodCall {
			asked[toolOf(r)] = true
		}
	}
	safe := make(map[string]bool)
	if len(asked) == 0 || rawjson.Valid(s.tools, spec.MaxDepth) != nil {
		return safe
	}
	// A list that is not what it should be says that nothing is safe.
	_ = rawjson.Array(rawjson.Get(s.tools, "result", "tools"), spec.MaxDepth, func(tool json.RawMessage) error {
		name, _ := rawjson.String(rawjson.Get(tool, "name"))
		if asked[name] {
			hints := rawjson.Get(tool, "annotations")
			safe[name] = hints != nil && (string(rawjson.Get(hints, "readOnlyHint")) == "true" || string(rawjson.Get(hints, "idempotentHint")) == "true")
		}
		return nil
	})
	return safe
}

// toolOf returns the tool that a call names, "" if it cannot be told.
func toolOf(r *request) string {
	if rawjson.Valid(r.line, spec.MaxDepth) != nil {
		return ""
	}
	name, _ := rawjson.String(rawjson.Get(r.line, "params", "name"))
	return name
}

const replayPrefix = "tabhub:replay:"

func isReplay(id []byte) bool { return bytes.HasPrefix(id, []byte(`"`+replayPrefix)) }

// modern reports whether a request is of the revision whose results have a type.
func (r *request) modern() bool {
	return bytes.Contains(r.line, []byte(`"io.modelcontextprotocol/protocolVersion"`))
}

// notConnected answers a call whose hub went away.
func (r *request) notConnected() []byte {
	f := core.Failure{Code: spec.FailNotConnected, Message: "The hub process ended while the call was under way. The call may have taken effect: check before you call again."}
	result := f.Result()
	if r.modern() {
		result = append([]byte(`{"resultType":"complete",`), result[1:]...)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.id, result)
}

// failed answers a request that no hub can be found for.
func (r *request) failed(err error) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n",
		r.id, spec.CodeInternal, rawjson.AppendString(nil, err.Error()))
}
