package recordcli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/trust/record"
)

func logVerifyCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify [HEAD...] [user=USER]",
		Short: "Check that the record is as it was written",
		Long: `Check that the record is as it was written.

Each line has the hash of the one before it. So a line that was changed, removed or put in
is found. The head, which is stored beside the record, shows that lines were cut off at its
end, that it is an older copy, or that it was deleted. A program that can write all of these
files, as every program of yours can, can also write all of them anew. Only a head that you
have noted elsewhere shows that; this command prints it.

With $TABHUB_TOKEN, or for a node of a cluster, the hub sends the lines of that user as
they were written, and this command checks them. Then only a head shows that lines were cut
off at the end.`,
		Example: `  tabhub log verify
  tabhub log verify 1204:5f3a9c01d27e88b4`,
		Args: cobra.ArbitraryArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		l := logSource{App: a}
		var known []record.Head
		for _, word := range pos {
			if user, ok := strings.CutPrefix(word, "user="); ok {
				l.user = user
				continue
			}
			h, err := parseHead(word)
			if err != nil {
				return command.Usagef("%q is no head: %w", word, err)
			}
			known = append(known, h)
		}
		dir, ofHub, err := l.where()
		if err != nil {
			return err
		}
		if ofHub {
			r, err := verifyOfHub(cmd.Context(), a, known...)
			if err != nil {
				return err
			}
			return printReport(a, "the hub", r, known)
		}
		settleRecord(cmd.Context(), a)
		r, err := record.Verify(dir, known...)
		if err != nil {
			return err
		}
		return printReport(a, dir, r, known)
	}
	return cmd
}

// verifyOfHub checks what the hub that runs gives out of its record. The hashes are computed here:
// with a head that the user has noted, the hub need not be trusted.
func verifyOfHub(ctx context.Context, a *command.App, known ...record.Head) (*record.Report, error) {
	r, err := a.Remote()
	if err != nil {
		return nil, err
	}
	resp, err := r.Send(ctx, http.MethodGet, "/api/log?format=raw", nil, "application/jsonl")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	report, err := record.VerifyLines(resp.Body, known...)
	if err != nil {
		return nil, r.BrokeOff(err)
	}
	return report, nil
}

func printReport(a *command.App, dir string, r *record.Report, known []record.Head) error {
	day := func(t time.Time) string { return t.Local().Format(time.DateTime) }
	switch {
	case r.Last.N == 0 && len(r.Problems) == 0:
		fmt.Fprintf(a.Out, "There is no record in %s yet.\n", dir)
		return nil
	case r.Last.N > 0:
		fmt.Fprintf(a.Out, "lines %d to %d, of %s to %s\n", r.First.N, r.Last.N, day(r.Since), day(r.To))
	}
	if r.Retired.N > 0 {
		fmt.Fprintf(a.Out, "lines 1 to %d were removed for their age, or to make room\n", r.Retired.N)
	}
	if len(r.Problems) == 0 {
		// The head beside the record may be a moment behind.
		fmt.Fprintf(a.Out, "each line follows from the one before it, and the head is %d:%s\n", r.Last.N, r.Last.Hash)
		for _, h := range known {
			fmt.Fprintf(a.Out, "up to line %d it is as it was when you noted that\n", h.N)
		}
		return nil
	}
	for _, p := range r.Problems {
		where := fmt.Sprintf("line %d", p.N)
		if p.File != "" {
			where += " of " + p.File
		}
		fmt.Fprintf(a.Out, "%s: %s\n", where, p.What)
	}
	return fmt.Errorf("the record is not as it was written: what line %d and the later ones say may be wrong", r.Problems[0].N)
}

// parseHead reads a head as printReport has it.
func parseHead(text string) (h record.Head, err error) {
	n, hash, _ := strings.Cut(text, ":")
	h.N, err = strconv.ParseUint(n, 10, 64)
	if err == nil {
		err = h.Hash.UnmarshalText([]byte(hash))
	}
	if err != nil || h.N == 0 || hash == "" {
		return record.Head{}, errors.New("write it as `tabhub log verify` prints it, such as 1204:5f3a…")
	}
	return h, nil
}
