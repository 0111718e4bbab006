package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/shell"
)

const (
	// stopAsk is how long the hub may take to say that it will end.
	StopAsk = 5 * time.Second
	// stopWait is how long stop then waits for it, and nodeStopWait how much longer for a node of a
	// cluster, which gives its users to others first, and what it has not written to NATS at last.
	StopWait     = 15 * time.Second
	nodeStopWait = 30 * time.Second
	// lookAgain is how long stop waits before it looks for the hub again.
	lookAgain = 25 * time.Millisecond
)

// Stop ends the hub: it has the time ask to answer, and then the time wait to end, and a node more.
func Stop(ctx context.Context, a *App, dir home.Dir, ask, wait time.Duration) error {
	h, err := askToStop(ctx, a, ask)
	for late := time.Now().Add(wait); errors.Is(err, home.ErrNoHub) && dir.Held(home.HubLock) && time.Now().Before(late); {
		// It is about to listen, or about to end.
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return ctx.Err()
		}
		h, err = askToStop(ctx, a, ask)
	}
	if err != nil && dir.Held(home.HubLock) {
		return err
	}
	if h.Node {
		wait += nodeStopWait
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
	hint := ""
	if h, err := dir.ReadHub(); err == nil {
		hint = kill(h)
	}
	return fmt.Errorf("the hub has not ended within %s; %s may say why%s", wait, dir.LogFile(), hint)
}

// kill says how to end a hub that hangs, in words that follow others.
func kill(h home.Hub) string {
	command := shell.Here("kill", "-9", strconv.Itoa(h.PID))
	if runtime.GOOS == "windows" {
		command = shell.Here("taskkill", "/F", "/PID", strconv.Itoa(h.PID))
	}
	return fmt.Sprintf(", and `%s` ends it at once", command)
}

// askToStop asks the hub to end. It returns which hub that is.
func askToStop(ctx context.Context, a *App, timeout time.Duration) (home.Hub, error) {
	dir, h, err := a.Running()
	if err != nil {
		return h, err
	}
	r, err := a.RemoteOf(dir, h)
	if err == nil {
		r.Token = "" // the process is its owner's, whoever the token is for
		ask, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		_, err = r.Do(ask, http.MethodPost, "/api/stop", map[string]string{"reason": "stop"})
	}
	if err == nil || ctx.Err() != nil {
		return h, err
	}
	return h, fmt.Errorf("%w%s", err, kill(h))
}
