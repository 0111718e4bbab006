package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/home"
)

// stopWait is how long stop waits for the hub to end.
const stopWait = 15 * time.Second

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
			if err := a.askToStop(cmd.Context()); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), stopWait)
			defer cancel()
			lock, err := dir.Lock(ctx, home.HubLock)
			if err != nil {
				return fmt.Errorf("the hub has not ended within %s; %s may say why", stopWait, dir.LogFile())
			}
			lock.Unlock()
			return nil
		},
	}
}

// askToStop asks the hub, and if that cannot be asked over the network, its process.
func (a *app) askToStop(ctx context.Context) error {
	r, err := a.remote()
	if err != nil {
		return err
	}
	_, err = r.do(ctx, http.MethodPost, "/api/stop", map[string]string{"reason": "stop"})
	if err == nil {
		return nil
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
