package home

import (
	"errors"
	"fmt"
	"os"
)

// ErrNotTheHub says that the process that hub.json names is not known to hold HubLock.
var ErrNotTheHub = errors.New("it is not certain that this is the hub's process")

// Interrupt tells the hub's process to end, as Ctrl-C does: for a hub that cannot be
// asked over the socket. It returns ErrNotTheHub for a process that does not hold
// HubLock, as when a killed hub has left hub.json behind, and where the system does
// not tell who does.
func (d Dir) Interrupt(h Hub) error {
	if !d.holdsLock(h.PID) {
		return fmt.Errorf("process %d: %w", h.PID, ErrNotTheHub)
	}
	p, err := os.FindProcess(h.PID)
	if err != nil {
		return err
	}
	if err := p.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("process %d cannot be told to end: %w", h.PID, err)
	}
	return nil
}
