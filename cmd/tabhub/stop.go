package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/home"
)

const (
	// stopAsk is how long the hub may take to say that it will end.
	stopAsk = 5 * time.Second
	// stopWait is how long stop then waits for it.
	stopWait = 15 * time.Second
)

func (a *app) stopCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "End the hub",
		Long: `End the hub. Calls that are under way are answered first. Clients stay connected;
their next request starts a hub again.`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.dir()
			if err != nil {
				return err
			}
			if !dir.Held(home.HubLock) {
				fmt.Fprintln(a.err, "no hub is running")
				return nil
			}
			return a.stop(cmd.Context(), dir, stopAsk, stopWait)
		},
	}
}

// stop ends the hub: it has the time ask to answer, and then the time wait to end.
func (a *app) stop(ctx context.Context, dir home.Dir, ask, wait time.Duration) error {
	if err := a.askToStop(ctx, ask); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	lock, err := dir.Lock(waiting, home.HubLock)
	switch {
	case err == nil:
		lock.Unlock()
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("the hub has not ended within %s; %s may say why%s", wait, dir.LogFile(), kill(dir))
}

// kill says how to end a hub that hangs, in words that follow others.
func kill(dir home.Dir) string {
	h, err := dir.ReadHub()
	switch {
	case err != nil:
		return ""
	case runtime.GOOS == "windows":
		return fmt.Sprintf(", and `taskkill /F /PID %d` ends it at once", h.PID)
	}
	return fmt.Sprintf(", and `kill -9 %d` ends it at once", h.PID)
}

// askToStop asks the hub, and if that cannot be asked over the network, its process.
func (a *app) askToStop(ctx context.Context, patience time.Duration) error {
	r, err := a.remote()
	if err != nil {
		return err
	}
	ask, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err = r.do(ask, http.MethodPost, "/api/stop", map[string]string{"reason": "stop"})
	if err == nil || ctx.Err() != nil {
		return err
	}
	p, e := os.FindProcess(r.hub.PID)
	if e != nil {
		return err
	}
	if e := p.Signal(os.Interrupt); e != nil {
		return fmt.Errorf("%w; and process %d cannot be told to end: %w", err, r.hub.PID, e)
	}
	return nil
}
