package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

func ApproveCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approve [ID [ANSWER]]",
		Short: "Answer what the hub asks you before it lets a client do something",
		Long: `Answer what the hub asks you before it lets a client do something.

Without an ID it lists what waits, and what was not answered in the last 24 hours: a yes
to that lets the same call through, once, if the client makes it again within 24 hours.
Answer no to take such a yes back. With an ID, of which
the first characters are enough, it shows the question and asks; ANSWER is

  once      yes, this call
  session   yes, until this session of the client ends
  app       yes, always for this client
  always    yes, always and for every client
  no        not this time
  never     never for this client, unasked

as far as the question offers it. To a client that wants to sign in, ANSWER is the code
that its page shows, or no.

--watch shows one question after the other, as they come; calls wait for you then.`,
		Example: `  tabhub approve
  tabhub approve 7QK3
  tabhub approve 7QK3 once
  tabhub approve --watch`,
		Args: command.Args(cobra.MaximumNArgs(2)),
	}
	asJSON := command.JSONFlag(cmd)
	watch := cmd.Flags().Bool("watch", false, "ask here, one question after the other")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		switch {
		case *watch && (len(pos) > 0 || *asJSON):
			return command.Usagef("--watch takes no ID, and prints no JSON")
		case *watch && !terminal.Is(a.In):
			return command.Usagef("--watch needs a terminal, to ask you there")
		case *asJSON && len(pos) > 0:
			return command.Usagef("--json lists what waits; an answer prints none")
		case *watch:
			return WatchQuestions(cmd.Context(), a)
		case len(pos) > 0:
			return approve(cmd.Context(), a, pos[0], pos[1:])
		}
		path := "/api/questions"
		if *asJSON {
			path += "/all" // with what the calls would send
		}
		return command.Show(cmd.Context(), a, path, nil, *asJSON, printQuestions)
	}
	return cmd
}

func printQuestions(a *command.App, all []consent.Question) error {
	if len(all) == 0 {
		a.Note("nothing waits for an answer")
		return nil
	}
	t := a.Table("ID", "CLIENT", "WHAT", "WHERE", "ASKED", "STATE")
	for _, q := range all {
		what, where := "sign in", ""
		if q.Tool != nil {
			what = q.Tool.Name
		}
		if q.Site != nil {
			where = cmp.Or(q.Site.Origin, "any site")
		}
		state := terminal.Cell{Text: "waits", Tone: terminal.Wait, State: true}
		switch {
		case q.Allowed:
			state = terminal.Cell{Text: "allowed once, until " + q.Until.Local().Format("Mon 15:04"), Tone: terminal.Soft, State: true}
		case q.Deferred:
			state = terminal.Cell{Text: "unanswered", Tone: terminal.Soft, State: true}
		case q.Count > 1:
			state.Text = fmt.Sprintf("%d wait", q.Count)
		}
		asked := q.Since.Local().Format("15:04:05")
		if time.Since(q.Since) > 12*time.Hour {
			asked = q.Since.Local().Format("Mon 15:04")
		}
		t.Row(consent.ShortID(q.ID), q.Client.Name, what, where, asked, state)
	}
	return t.Print()
}

// approve answers the question whose id begins with a text. Without an answer it asks.
func approve(ctx context.Context, a *command.App, id string, answer []string) error {
	r, err := a.Remote()
	if err != nil {
		return err
	}
	var all []consent.Question
	if err := r.Call(ctx, http.MethodGet, "/api/questions/all", nil, &all); err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(q consent.Question) bool { return !strings.HasPrefix(q.ID, strings.ToUpper(id)) })
	switch {
	case len(all) == 0 || id == "":
		return fmt.Errorf("no question %q waits for an answer; `tabhub approve` lists those that do", id)
	case len(all) > 1:
		return fmt.Errorf("%d questions begin with %q; write more of the ID", len(all), id)
	}
	q := &all[0]
	if len(answer) > 0 {
		return sendAnswer(ctx, a, r, q, answer[0])
	}
	printQuestion(a, q)
	if !terminal.Is(a.In) {
		return command.Usagef("how? Add one of these words: `tabhub approve %s ANSWER`", id)
	}
	line, _ := bufio.NewReader(a.In).ReadString('\n') // no answer is none
	return sendAnswer(ctx, a, r, q, strings.TrimSpace(line))
}

// printQuestion prints a question and what may be answered.
func printQuestion(a *command.App, q *consent.Question) {
	fmt.Fprintf(a.Out, "\n%s\n", consent.Text(&q.Ask))
	if q.Count > 1 {
		fmt.Fprintf(a.Out, "%d identical calls wait; \"once\" is for one of them.\n", q.Count)
	}
	switch {
	case q.Allowed:
		fmt.Fprintln(a.Out, "You have allowed this call once. It was not made since; no takes that back.")
	case q.Deferred:
		fmt.Fprintln(a.Out, "The call has ended unanswered: a yes is good once, if the client makes it again, with what the page then shows.")
	}
	if q.Kind == spec.AskSignIn {
		fmt.Fprint(a.Out, "  the code that its page shows: yes\n  no\n> ")
		return
	}
	for _, r := range append(slices.Clone(q.Reaches), spec.ReachNo) {
		fmt.Fprintf(a.Out, "  %-8s %s\n", r, consent.Words(r, consent.AboutActs(&q.Ask)))
	}
	fmt.Fprint(a.Out, "> ")
}

// sendAnswer sends what the owner has said to a question that was printed.
func sendAnswer(ctx context.Context, a *command.App, r *command.Remote, q *consent.Question, text string) error {
	in := admin.AnswerRequest{ID: q.ID, Digest: q.Digest, AskResult: spec.AskResult{Reach: spec.Reach(text)}}
	switch {
	case in.Reach == spec.ReachNo, slices.Contains(q.Reaches, in.Reach):
	case q.Kind == spec.AskSignIn && text != "":
		in.AskResult = spec.AskResult{Reach: spec.ReachOnce, Code: text}
	default:
		return command.Usagef("%q is no answer to this question; it may be %s", text, words(append(slices.Clone(q.Reaches), spec.ReachNo)))
	}
	ctx, cancel := context.WithTimeout(ctx, command.AnswerTimeout)
	defer cancel()
	if _, err := r.Do(ctx, http.MethodPost, "/api/questions", in); err != nil {
		return err
	}
	a.Note("answered: %s", consent.Words(in.Reach, consent.AboutActs(&q.Ask)))
	if q.Deferred && in.Reach == spec.ReachOnce {
		a.Note("the client has to make the same call again before %s", time.Now().Add(consent.PermitFor).Local().Format("Mon 15:04"))
	}
	return nil
}

func words(all []spec.Reach) string {
	text := make([]string, len(all))
	for i, r := range all {
		text[i] = string(r)
	}
	return strings.Join(text, ", ")
}

// WatchQuestions asks one question after the other, until the hub ends or ctx does.
func WatchQuestions(ctx context.Context, a *command.App) error {
	r, err := a.Remote()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lists, ended := make(chan []consent.Question), make(chan error, 1)
	go func() {
		for b, err := range r.Events(ctx, http.MethodGet, "/api/questions/watch", nil) {
			var all []consent.Question
			if err == nil {
				err = command.Decode(b, &all)
			}
			if err != nil {
				ended <- err
				return
			}
			select {
			case lists <- all:
			case <-ctx.Done():
			}
		}
	}()
	typed := make(chan string)
	go func() { // ends with the process
		for in := bufio.NewScanner(a.In); in.Scan(); {
			typed <- strings.TrimSpace(in.Text())
		}
		cancel()
	}()
	var now *consent.Question
	for listens := false; ; {
		select {
		case all := <-lists:
			if !listens {
				a.Note("waiting for questions; Ctrl+C ends")
				listens = true
			}
			all = slices.DeleteFunc(all, func(q consent.Question) bool { return q.Deferred })
			if now != nil && !slices.ContainsFunc(all, func(q consent.Question) bool { return q.ID == now.ID }) {
				fmt.Fprintln(a.Out, "\n(this question is no longer open)")
				now = nil
			}
			if now == nil && len(all) > 0 {
				select {
				case <-typed: // before the question was there
				default:
				}
				now = &all[0]
				printQuestion(a, now)
			}
		case text := <-typed:
			if now == nil {
				continue
			}
			if err := sendAnswer(ctx, a, r, now, text); err != nil {
				fmt.Fprintf(a.Err, "%v\n> ", err)
			}
		case err := <-ended:
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}
