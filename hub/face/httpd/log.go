package httpd

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tabhub/hub/trust/flow"
	"tabhub/hub/trust/record"
)

// MaxLog is how many lines of the record GET /api/log gives out at once, the newest first.
const MaxLog = 10_000

// getLog answers the newest lines that the parameters select. With the parameter format it
// answers a file of all of them, oldest first, which it writes while it reads.
func (s *Server) getLog(r *request) error {
	q := r.URL.Query()
	query, err := logQuery(q)
	if err != nil {
		return err
	}
	switch format := q.Get("format"); format {
	case "":
	case "jsonl":
		return s.export(r, func(ctx context.Context, out *bufio.Writer) error {
			to := json.NewEncoder(out)
			return r.tenant.Record.Each(ctx, query, func(l *record.Line) error { return to.Encode(l) })
		})
	case "raw":
		if len(q) > 1 {
			return badRequest("format raw is of all lines, so that their hashes can be checked; leave out the other parameters")
		}
		return s.export(r, func(ctx context.Context, out *bufio.Writer) error {
			return r.tenant.Record.Raw(ctx, func(raw []byte) error {
				out.Write(raw)
				return out.WriteByte('\n')
			})
		})
	default:
		return badRequest("format is %q; it may be jsonl or raw", format)
	}
	lines, err := r.tenant.Record.Read(r.Context(), query)
	if err != nil {
		return err
	}
	slices.Reverse(lines)
	return r.answer(nonNil(lines))
}

// logQuery reads the parameters of GET /api/log.
func logQuery(q url.Values) (record.Query, error) {
	query := record.Query{
		Event: record.Event(q.Get("event")), Call: q.Get("call"), Client: q.Get("client"), Session: q.Get("session"),
		Site: q.Get("site"), Tool: q.Get("tool"), Class: q.Get("class"), Decision: q.Get("decision"),
		Outcome: q.Get("outcome"), Text: q.Get("text"), Limit: 100,
	}
	if err := query.Check(); err != nil {
		return query, badRequest("%s", err)
	}
	if n := len(query.Text); n > maxQuery {
		return query, badRequest("text has %d bytes; it may have %d", n, maxQuery)
	}
	if v := q.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > MaxLog {
			return query, badRequest("limit is %q; it may be 1 to %d", v, MaxLog)
		}
		query.Limit = n
	}
	for name, field := range map[string]*time.Time{"since": &query.Since, "until": &query.Until} {
		v := q.Get(name)
		if v == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339, v)
		if err != nil {
			return query, badRequest("%s is %q; write it as %s", name, v, time.RFC3339)
		}
		*field = t
	}
	for name, field := range map[string]*uint64{"after": &query.After, "before": &query.Before} {
		v := q.Get(name)
		if v == "" {
			continue
		}
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			return query, badRequest("%s is %q; it is the number of a line", name, v)
		}
		*field = n
	}
	return query, nil
}

// export answers a file of what write writes.
func (s *Server) export(r *request, write func(context.Context, *bufio.Writer) error) error {
	ctx, end, err := s.beginStream(r)
	if err != nil {
		return err
	}
	defer end()
	jsonHeaders(r.w.Header())
	r.w.Header().Set("Content-Type", "application/jsonl")
	r.w.Header().Set("Content-Disposition", "attachment")
	out := bufio.NewWriterSize(newTimedWriter(r.w), 64<<10)
	err = write(ctx, out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		s.log.Info("an export of the record was cut short", "err", err)
		panic(http.ErrAbortHandler) // or what there is of it would look whole
	}
	return nil
}

// getPayloads answers the arguments and results of a call, as far as they are kept. A page that
// only reads gets none: it may not be the hub's own.
func (s *Server) getPayloads(r *request) error {
	call := r.URL.Query().Get("call")
	if call == "" {
		return badRequest("the parameter call is missing")
	}
	lines, err := r.tenant.Record.Read(r.Context(), record.Query{Call: call, Limit: MaxLog})
	if err != nil {
		return err
	}
	payloads, err := r.tenant.Record.Payloads(r.Context(), lines)
	if err != nil {
		return err
	}
	return r.answer(nonNil(payloads))
}

// Carried answers GET /api/log/carried: which texts of other sites a call has sent.
type Carried struct {
	Kept  bool         `json:"kept"` // what it has sent is kept, and what its client had read last
	Texts []flow.Match `json:"texts"`
}

// getCarried answers a Carried. Texts are compared now.
func (s *Server) getCarried(r *request) error {
	texts, kept := r.tenant.Hub.Carried(r.URL.Query().Get("call"))
	return r.answer(Carried{kept, nonNil(texts)})
}
