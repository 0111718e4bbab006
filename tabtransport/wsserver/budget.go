package wsserver

import "time"

// budget is time that may be spent: some of it at once, and then a share of the time
// that passes. It may be overdrawn, and is spent until that is made good.
type budget struct {
	burst time.Duration // static
	share float64       // of the time that passes; static

	spent time.Duration // and not made good by then
	then  time.Time
}

// spend takes d out of the budget.
func (b *budget) spend(now time.Time, d time.Duration) {
	b.spent = b.owed(now) + d
	b.then = now
}

// owed is the time that was overspent and is not yet refilled.
func (b *budget) owed(now time.Time) time.Duration {
	return max(0, b.spent-time.Duration(b.share*float64(now.Sub(b.then))))
}

// left is what may be spent now. It is negative if the budget is overdrawn.
func (b *budget) left(now time.Time) time.Duration { return b.burst - b.owed(now) }

// wait is how long it takes until there is something left.
func (b *budget) wait(now time.Time) time.Duration {
	if over := -b.left(now); over >= 0 {
		return time.Duration(float64(over)/b.share) + time.Microsecond
	}
	return 0
}
