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
	// StopAsk is how long the hub may take to say that it will end.
	StopAsk = 5 * time.Second
	// StopWait is how long stop then waits until the hub has ended.
	StopWait = 15 * time.Second
	// A node of a cluster takes longer: up to DrainGrace to give its users to other nodes, and up to
	// RetireGrace until those users' sockets have closed.
	DrainGrace  = 20 * time.Second
	RetireGrace = 10 * time.Second
	// lookAgain is how long stop waits before it looks for the hub again.
	lookAgain = 25 * time.Millisecond
)

// Stop ends the hub. The hub has the time ask to answer, and then the time wait to end; a node has more.
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
		wait += DrainGrace + RetireGrace
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
		r.Token = "" // the socket needs no token: only the owner of the process reaches it
		ask, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		_, err = r.Do(ask, http.MethodPost, "/api/stop", map[string]string{"reason": "stop"})
	}
	if err == nil || ctx.Err() != nil {
		return h, err
	}
	return h, fmt.Errorf("%w%s", err, kill(h))
}
