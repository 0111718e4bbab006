package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/flow"
	"tabhub/hub/trust/record"
)

// MaxLog is how many lines of the record GET /api/log answers at once, the newest first.
const MaxLog = 10_000

// getLog answers the newest lines that the parameters select. With the parameter format it answers a file
// of all of them, the oldest first, and writes it while it reads them.
func (api *API) getLog(r *endpoint.Request) error {
	q := r.URL.Query()
	query, err := logQuery(q)
	if err != nil {
		return err
	}
	switch format := q.Get("format"); format {
	case "":
	case "jsonl":
		return api.export(r, func(ctx context.Context, out *bufio.Writer) error {
			to := json.NewEncoder(out)
			return r.Tenant.Record.Each(ctx, query, func(l *record.Line) error { return to.Encode(l) })
		})
	case "raw":
		if len(q) > 1 {
			return endpoint.BadRequest("format raw is of all lines, so that their hashes can be checked; leave out the other parameters")
		}
		return api.export(r, func(ctx context.Context, out *bufio.Writer) error {
			return r.Tenant.Record.Raw(ctx, func(raw []byte) error {
				out.Write(raw)
				return out.WriteByte('\n')
			})
		})
	default:
		return endpoint.BadRequest("format is %q; it may be jsonl or raw", format)
	}
	lines, err := r.Tenant.Record.Read(r.Context(), query)
	if err != nil {
		return err
	}
	slices.Reverse(lines)
	return r.Answer(nonNil(lines))
}

// logQuery reads the parameters of GET /api/log.
func logQuery(q url.Values) (record.Query, error) {
	query := record.Query{
		Event: record.Event(q.Get("event")), Call: q.Get("call"), Client: q.Get("client"), Session: q.Get("session"),
		Site: q.Get("site"), Tool: q.Get("tool"), Pack: q.Get("pack"), Class: q.Get("class"), Decision: q.Get("decision"),
		Outcome: q.Get("outcome"), Text: q.Get("text"), Limit: 100,
	}
	if err := query.Check(); err != nil {
		return query, endpoint.BadRequest("%s", err)
	}
	if n := len(query.Text); n > maxQuery {
		return query, endpoint.BadRequest("text has %d bytes; it may have %d", n, maxQuery)
	}
	if v := q.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > MaxLog {
			return query, endpoint.BadRequest("limit is %q; it may be 1 to %d", v, MaxLog)
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
			return query, endpoint.BadRequest("%s is %q; write it as %s", name, v, time.RFC3339)
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
			return query, endpoint.BadRequest("%s is %q; it is the number of a line", name, v)
		}
		*field = n
	}
	return query, nil
}

// export answers a file of what write writes.
func (api *API) export(r *endpoint.Request, write func(context.Context, *bufio.Writer) error) error {
	ctx, end, err := api.beginStream(r)
	if err != nil {
		return err
	}
	defer end()
	endpoint.JSONHeaders(r.W.Header())
	r.W.Header().Set("Content-Type", "application/jsonl")
	r.W.Header().Set("Content-Disposition", "attachment")
	out := bufio.NewWriterSize(endpoint.NewTimedWriter(r.W), 64<<10)
	err = write(ctx, out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		api.o.Log.Info("an export of the record was cut short", "err", err)
		panic(http.ErrAbortHandler) // otherwise a part would look whole
	}
	return nil
}

// getLogSites answers the sites that the record knows, the one that was used last first.
func getLogSites(r *endpoint.Request) error {
	sites, err := r.Tenant.Record.Sites(r.Context())
	if err != nil {
		return err
	}
	return r.Answer(nonNil(sites))
}

// getPayloads answers the arguments and results of the lines that GET /api/log answers to the same
// parameters, as far as the hub keeps them. With the parameter of=brief it leaves out large results.
func getPayloads(r *endpoint.Request) error {
	q := r.URL.Query()
	query, err := logQuery(q)
	if err != nil {
		return err
	}
	of := q.Get("of")
	if of != "" && of != "brief" {
		return endpoint.BadRequest("of is %q; it may be brief", of)
	}
	lines, err := r.Tenant.Record.Read(r.Context(), query)
	if err != nil {
		return err
	}
	payloads, err := r.Tenant.Record.Payloads(r.Context(), lines)
	if err != nil {
		return err
	}
	if of == "brief" {
		for i, p := range payloads {
			if len(p.Result) > record.MaxAnswer {
				payloads[i].Result = nil
			}
		}
	}
	return r.Answer(nonNil(payloads))
}

// Carried answers GET /api/log/carried: which texts of other sites a call has sent.
type Carried struct {
	Kept  bool         `json:"kept"` // the hub still has what the call sent, and what its client had read last
	Texts []flow.Match `json:"texts"`
}

// getCarried answers a Carried. It compares the texts now.
func getCarried(r *endpoint.Request) error {
	texts, kept := r.Tenant.Hub.Owner.Carried(r.URL.Query().Get("call"))
	return r.Answer(Carried{kept, nonNil(texts)})
}
