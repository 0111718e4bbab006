package recordcli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/describe"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

func LogCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log [KEY=VALUE...]",
		Short: "Show the record of what was done, and by whom",
		Long: `Show the record of what was done, and by whom: calls, questions to you and their answers,
pauses, changes of rules, pairings and credentials. With --all also what pages have registered and
what has gone. "ok · 2.1 s · you: 114 s" is a call that took 2.1 seconds beside the 114 in which
you were asked.

The record is in files of the data directory, which are read whether the hub runs or not.
With $TABHUB_TOKEN, or of a node of a cluster, the hub is asked for the record of that user, of
which it gives the latest 10000 lines.

Words such as client=claude choose lines; a line is shown if all words fit:
  client=    of this client, by its id or name
  session=   of this connection of a client
  site=      of this site
  tool=      of this tool, by the page's name
  pack=      of the tools of this pack, by its name
  class=     what may change so much: read, write, act, destructive, hub or relay
  decision=  what was decided so: allow, ask or deny
  outcome=   what ended so: ok, failed, or a code such as TOOL_TIMEOUT
  event=     such as call, ask or policy
  text=      with this anywhere in the line
  call=      all of one call, or of one question, by its id
  user=      the record of this user, of a hub with accounts`,
		Example: `  tabhub log -f
  tabhub log client=claude --since 1h
  tabhub log decision=deny --limit 0
  tabhub log text=refund outcome=TOOL_TIMEOUT
  tabhub log call=7QK3DXN2AB`,
		Args: cobra.ArbitraryArgs,
	}
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each, all that there are")
	follow := cmd.Flags().BoolP("follow", "f", false, "go on with what is recorded from now on")
	all := cmd.Flags().Bool("all", false, "show also what pages register, and what has gone")
	limit := cmd.Flags().Int("limit", 50, "how many of the latest; 0 for all")
	l := logSource{App: a}
	q := &l.query
	cmd.Flags().Var((*command.Moment)(&q.Since), "since", "only since then, such as 10m or 3d ago, or 2026-01-31")
	cmd.Flags().Var((*command.Moment)(&q.Until), "until", "only before then")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		if *limit < 0 {
			return command.Usagef("--limit is %d; it may not be negative", *limit)
		}
		if err := l.filter(pos); err != nil {
			return err
		}
		q.Limit = *limit
		asked := *q
		brief := !*all && !*asJSON && q.Event == "" && q.Call == ""
		if brief {
			q.Event = briefEvents
		}
		if q.Call != "" || *asJSON && !cmd.Flags().Changed("limit") {
			q.Limit = 0
		}
		switch {
		case *asJSON:
			return l.each(cmd.Context(), *follow, func(l *record.Line) error { return printLineJSON(a, l) })
		case q.Call != "" && !*follow:
			return l.tellCall(cmd.Context())
		}
		out := newEntryPrinter(a)
		if *follow {
			if err := out.printHeader(); err != nil {
				return err
			}
			return l.each(cmd.Context(), true, func(l *record.Line) error {
				if brief && (isAside(l) || l.Event == record.Begun) { // the end of what has begun follows
					return nil
				}
				ended := *l
				ended.Time = l.Time.Add(l.Duration) // lines come when what they are about has ended
				return out.print(&ended, record.Payload{})
			})
		}
		if err := l.printLatest(cmd.Context(), out, brief); err != nil || out.printed > 0 {
			return err
		}
		if asked == (record.Query{Limit: q.Limit}) {
			a.Note("nothing is recorded yet; a hub that runs records what is done")
		} else {
			a.Note("nothing like this is in the record; `tabhub log` alone shows the latest of all")
		}
		return nil
	}
	// What is a word now was a flag once.
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
			switch name := unknown.GetSpecifiedName(); {
			case name == "head":
				return command.Usagef("there is no flag --head any more; write the head alone: `tabhub log verify HEAD`")
			case l.words()[name] != nil:
				return command.Usagef("there is no flag --%[1]s any more; write %[1]s=VALUE", name)
			}
		}
		return cmd.Root().FlagErrorFunc()(cmd, err)
	})
	cmd.AddCommand(logVerifyCommand(a))
	return cmd
}

// filterKeys are the words that say which lines of the record are meant, and what they say.
const filterKeys = "client, site, tool, pack, decision, outcome, class, event, session, call, text or user"

// words has what each key sets.
func (l *logSource) words() map[string]*string {
	q := &l.query
	return map[string]*string{
		"client": &q.Client, "site": &q.Site, "tool": &q.Tool, "pack": &q.Pack, "decision": &q.Decision, "outcome": &q.Outcome,
		"class": &q.Class, "event": (*string)(&q.Event), "session": &q.Session, "call": &q.Call, "text": &q.Text, "user": &l.user,
	}
}

// filter sets the query from words such as client=claude.
func (l *logSource) filter(words []string) error {
	to := l.words()
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return command.Usagef("%q says nothing about lines of the record; write KEY=VALUE, where the key is %s", word, filterKeys)
		}
		if to[key] == nil {
			return command.Usagef("there is no key %q; it may be %s", key, filterKeys)
		}
		*to[key] = value
	}
	if err := l.query.Check(); err != nil {
		return command.Usage(err)
	}
	return nil
}

// logSource is a record that a command reads.
type logSource struct {
	App   *command.App
	query record.Query
	user  string // of a hub with accounts; "": the owner of one without
}

// where tells where the record is: in a directory, or in the hub that runs.
func (l *logSource) where() (dir string, ofHub bool, err error) {
	switch {
	case !hubHasRecord(l.App):
		dir, err := l.App.Dir()
		return record.Dir(dir.Records(), cmp.Or(spec.UserID(l.user), spec.LocalUser)), false, err
	case l.user != "":
		return "", true, command.Usagef("user= is for records in the data directory; with $TABHUB_TOKEN, or of a node of a cluster, the hub gives out that of the token's user")
	}
	return "", true, nil
}

// hubHasRecord reports whether the record that is asked for is not in the data directory: it is
// that of a user by their token, or the hub is a node.
func hubHasRecord(a *command.App) bool {
	if a.Env(command.TokenEnv) != "" {
		return true
	}
	_, h, err := a.Running()
	return err == nil && h.Node
}

// each calls f for each line that is asked for, and, if follow is set, for those that are
// added until ctx is done.
func (l *logSource) each(ctx context.Context, follow bool, f func(*record.Line) error) error {
	dir, ofHub, err := l.where()
	if err != nil {
		return err
	}
	if ofHub {
		return l.eachOfHub(ctx, follow, f)
	}
	if follow {
		return record.Follow(ctx, dir, l.query, f)
	}
	settleRecord(ctx, l.App)
	lines, err := record.Read(ctx, dir, l.query)
	if err != nil {
		return err
	}
	return forEach(lines, f)
}

// briefEvents are those that a person looks for: not what pages offer, nor what comes beside a call's own
// line.
const briefEvents = "call,begun,relay,refused,ask,policy,client,pairing,lease,pack,log"

// isAside reports whether a line with one of briefEvents is left out: one of the log itself that is not
// about lines that are missing.
func isAside(l *record.Line) bool {
	return l.Event == record.Self && (l.Note == nil || l.Note.Missing == 0 && l.Note.Lost == nil && l.Note.Unsynced == 0)
}

// printLatest prints the lines that are asked for, with what calls were given as far as that is kept.
func (l *logSource) printLatest(ctx context.Context, out *entryPrinter, brief bool) error {
	var lines []record.Line
	err := l.each(ctx, false, func(l *record.Line) error {
		lines = append(lines, *l)
		return nil
	})
	if err != nil {
		return err
	}
	ended := map[string]bool{} // a call that has only begun may have taken effect: it stays
	for i := range lines {
		ended[lines[i].Call] = ended[lines[i].Call] || lines[i].Event == record.Call
	}
	given := l.given(ctx, lines)
	slices.SortStableFunc(lines, func(a, b record.Line) int { return a.Time.Compare(b.Time) }) // a call before what it has caused
	for i := range lines {
		if line := &lines[i]; !brief || !isAside(line) && (line.Event != record.Begun || !ended[line.Call]) {
			if err := out.print(line, given[line.N]); err != nil {
				return err
			}
		}
	}
	return nil
}

// given returns the arguments of calls by the numbers of their lines, as far as they are kept and may be
// seen.
func (l *logSource) given(ctx context.Context, lines []record.Line) map[uint64]record.Payload {
	var found []record.Payload
	switch dir, ofHub, err := l.where(); {
	case err != nil:
	case !ofHub:
		found, _ = record.ReadPayloads(ctx, dir, lines)
	default:
		if r, err := l.App.Remote(); err == nil {
			_ = r.Call(ctx, http.MethodGet, "/api/log/payloads?of=brief&"+values(&l.query).Encode(), nil, &found)
		}
	}
	given := make(map[uint64]record.Payload, len(found))
	for _, p := range found {
		given[p.N] = p
	}
	return given
}

// settleRecord has a hub that runs write what it has collected for the record. Without one, and if it
// does not answer, the files are all there is.
func settleRecord(ctx context.Context, a *command.App) {
	if r, err := a.Remote(); err == nil {
		var latest []record.Line
		_ = r.Call(ctx, http.MethodGet, "/api/log?limit=1", nil, &latest)
	}
}

func forEach(lines []record.Line, f func(*record.Line) error) error {
	for i := range lines {
		if err := f(&lines[i]); err != nil {
			return err
		}
	}
	return nil
}

// pollDelay is how often a hub is asked for what has been added.
const pollDelay = time.Second

// eachOfHub is each by the hub that runs.
func (l *logSource) eachOfHub(ctx context.Context, follow bool, f func(*record.Line) error) error {
	r, err := l.App.Remote()
	if err != nil {
		return err
	}
	if l.query.Limit == 0 || l.query.Limit > admin.MaxLog {
		l.query.Limit = admin.MaxLog
	}
	for {
		var lines []record.Line // newest first
		if err := r.Call(ctx, http.MethodGet, "/api/log?"+values(&l.query).Encode(), nil, &lines); err != nil {
			return err
		}
		slices.Reverse(lines)
		if err := forEach(lines, f); err != nil || !follow {
			return err
		}
		if n := len(lines); n > 0 {
			l.query.After = lines[n-1].N
		}
		l.query.Limit = admin.MaxLog // of what comes all is shown
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollDelay):
		}
	}
}

// values writes a query as the API takes it.
func values(q *record.Query) url.Values {
	v := url.Values{}
	for name, value := range map[string]string{
		"event": string(q.Event), "call": q.Call, "client": q.Client, "session": q.Session, "site": q.Site, "tool": q.Tool, "pack": q.Pack, "class": q.Class,
		"decision": q.Decision, "outcome": q.Outcome, "text": q.Text,
		"limit": strconv.Itoa(q.Limit), "after": strconv.FormatUint(q.After, 10),
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	for name, t := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !t.IsZero() {
			v.Set(name, t.Format(time.RFC3339))
		}
	}
	return v
}

func printLineJSON(a *command.App, l *record.Line) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = a.Out.Write(append(describe.VisibleJSON(b), '\n'))
	return err
}
