package command

import "tabhub/cmd/tabhub/internal/terminal"

// The states that a person sees of the hub, browsers, tabs and clients. They have the words and looks of
// tabtransport/extension/states.ts, but for the capital letter.
const (
	Connected = "connected"
	Waiting   = "waiting for you"
	Paused    = "paused"
	Absent    = "the hub is not running"
	Unpaired  = "not paired with the hub"
	Active    = "active"
	Changing  = "changing page"
	Dialog    = "has a dialog open"
	InUse     = "in use by you"
	Away      = "away"
	Missing   = "not there"
	Open      = "open"
	Asleep    = "asleep"
)

// Tones of states and outcomes. What is none of them is plain.
var Tones = map[string]terminal.Tone{
	Connected: terminal.Good, Waiting: terminal.Wait, Paused: terminal.Wait, Absent: terminal.Soft, Unpaired: terminal.Bad,
	Active: terminal.Good, Changing: terminal.Wait, Dialog: terminal.Wait, InUse: terminal.Wait, Away: terminal.Bad, Missing: terminal.Bad,
	Open: terminal.Soft, Asleep: terminal.Soft, "ok": terminal.Good,
	// Those that only the terminal has.
	"does not answer": terminal.Wait, "note": terminal.Wait, "problem": terminal.Bad, "refused": terminal.Bad, "cancelled": terminal.Soft,
	"allow": terminal.Good, "allowed": terminal.Good, "ask": terminal.Wait, "you would be asked": terminal.Wait,
	"deny": terminal.Bad, "denied": terminal.Bad, "declined": terminal.Bad,
	"ready": terminal.Good, "would ask": terminal.Wait, "no tab": terminal.Bad, "not paired": terminal.Bad,
}

// StateCell is a cell with a state.
func StateCell(state string) terminal.Cell {
	return terminal.Cell{Text: state, Tone: Tones[state], State: true}
}
