package mcpserver

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/face/mcpserver/methods"
)

// postModern serves a message of revision 2026-07-28: each request stands alone and
// lasts as long as its response is listened to.
func (s *Server) postModern(x *exchange, r *http.Request, out *jsonrpc.Outbox, m jsonrpc.Message) {
	switch {
	case m.Response:
		x.finish(jsonrpc.Failure(nil, jsonrpc.InvalidRequest("a client sends no responses in protocol version 2026-07-28")))
		return
	case m.ID == nil && methods.IsUnknown(r.Header.Get(mcp.HeaderProtocolVersion)):
		x.finish(jsonrpc.Failure(nil, methods.UnsupportedVersion(r.Header.Get(mcp.HeaderProtocolVersion))))
		return
	case m.ID == nil: // there are none in this era
		x.w.WriteHeader(http.StatusAccepted)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(methods.ErrClosing) })()
	ses := s.methods.Stateless(ctx, methods.IdentityOf(ctx))
	defer s.methods.ReleaseStateless(ses)
	ses.Connect(out)
	x.out.Notices = ses.Notices
	rq := methods.NewRequest(ses, out, m)
	rq.TakeHeaders(r.Header)
	s.respond(x, rq)
}
