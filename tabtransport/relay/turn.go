package relay

import (
	"context"
	"strconv"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// A turn is the time in which the hub chooses one of an extension's tabs and uses it; another
// turn waits for its end. So does what clients send meanwhile: with a
// shipped extension, whose clients share the one tab that is chosen, it would go to the hub's
// tab, or have the hub's command go to another. So would a tab that they have asked for
// before and that is chosen late: a turn begins when the extension has answered that.

// giveBackTimeout is how long an extension may take to choose a client's tab again.
const giveBackTimeout = 2 * time.Second

// inTurn runs use in a turn of its own.
func (d driver) inTurn(ctx context.Context, use func() error) error {
	t := d.relay.existing(d.user)
	if t == nil {
		return tabtransport.ErrNotConnected
	}
	end, err := t.takeTurn(ctx, d.id)
	if err != nil {
		return err
	}
	defer end()
	return use()
}

// inTurn is driver.inTurn, after which whoever used the extension last has their tab again.
func (b browser) inTurn(ctx context.Context, use func() error) error {
	return b.driver.inTurn(ctx, func() error {
		err := use()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTimeout)
		defer cancel()
		if tab := b.relay.existing(b.user).othersTab(b.id); tab != 0 {
			_, _ = b.choose(ctx, tab) // one that is closed by now cannot be chosen
		}
		return err
	})
}

// takeTurn begins a turn when no other is under way.
func (t *tenant) takeTurn(ctx context.Context, extensionID string) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.awaitTurnLocked(ctx, extensionID); err != nil {
		return nil, err
	}
	ext, err := t.connectedLocked(extensionID)
	if err != nil {
		return nil, err
	}
	ext.turn = make(chan struct{})
	for over := ext.choosing(); over != nil; over = ext.choosing() {
		if err := t.awaitLocked(ctx, over); err != nil {
			ext.endTurn()
			return nil, err
		}
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		ext.endTurn()
	}, nil
}

// endTurn is called with the tenant's lock held.
func (ext *extension) endTurn() {
	close(ext.turn)
	ext.turn = nil
}

// choosing returns the end of a request that has the extension choose a tab, nil if there is
// none. The tenant's lock is held.
func (ext *extension) choosing() <-chan struct{} {
	for c := range ext.all() {
		if over := c.pending.choosing(); over != nil {
			return over
		}
	}
	return nil
}

// awaitTurnLocked waits until an extension is in no turn.
func (t *tenant) awaitTurnLocked(ctx context.Context, extensionID string) error {
	for {
		ext := t.extensions[extensionID]
		if ext == nil || ext.turn == nil {
			return nil
		}
		if err := t.awaitLocked(ctx, ext.turn); err != nil {
			return err
		}
	}
}

// awaitLocked waits for the end of a turn or request without the lock. What was looked up
// before may be different after.
func (t *tenant) awaitLocked(ctx context.Context, over <-chan struct{}) error {
	t.mu.Unlock()
	defer t.mu.Lock()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// holdLocked waits with a client's message for the end of a turn, until the client has gone or
// the owner stops the message.
func (t *tenant) holdLocked(ctx context.Context, passage Passage, turn <-chan struct{}) *spec.Error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := passage.OnStop(cancel); err != nil {
		return refusedBy(err)
	}
	if t.awaitLocked(ctx, turn) == nil {
		return nil
	}
	if err := passage.Stopped(false); err != nil {
		return refusedBy(err)
	}
	return errForeign() // the client has gone
}

// othersTab returns the tab of the client that used an extension last, 0 if
// there is none or it is not known.
func (t *tenant) othersTab(extensionID string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	ext := t.extensions[extensionID]
	if ext == nil {
		return 0
	}
	last := lastUsed(ext.connections)
	if last == nil {
		return 0
	}
	tab, _ := strconv.ParseInt(last.tab, 10, 64) // "" if it is not known
	return tab
}
