package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
)

// Tool is a tool of the hub itself. Its JSON is that of an MCP Tool.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"inputSchema"`
	Annotations *Annotations    `json:"annotations,omitempty"`

	// Listed says when the tool is listed if the user's Switches do not name it.
	Listed Listed `json:"-"`
	// Call returns a raw CallToolResult. Failures of the tool are results, too: the error is
	// ctx's cause, or a *consent.AskBack. args are nil or valid JSON. Call is safe for concurrent
	// use. It is nil where the hub lacks what the tool works with: then the tool is never
	// listed, but --tools knows its name.
	Call func(ctx context.Context, by *consent.Caller, args json.RawMessage) (json.RawMessage, error) `json:"-"`
	// Class is what an action of the tool may change at most, and for "" what every use of the tool may. Nil: it
	// reads, or is decided about as what is called through it.
	Class func(action string) policy.Class `json:"-"`
	// Subject names what a call is about, beside the tool: the state of a page that asks
	// back is accepted for the same subject only. nil means that each call is about the
	// same.
	Subject func(args json.RawMessage) string `json:"-"`
}

// Annotations are the hints of an MCP Tool in which the builtin tools differ. They have the
// others as MCP takes a tool to have that does not say: it is not idempotent, and its world is open.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint,omitempty"`
	Destructive bool `json:"destructiveHint"`
}

// Listed says when a tool is listed by default.
type Listed int

const (
	Always    Listed = iota // on every hub
	LocalOnly               // on a hub that only this machine can reach: the tool starts programs here
)

// Action is the use of the tool, whatever it is used for.
func (t *Tool) Action(by *consent.Caller) policy.Action {
	a := policy.Action{Principal: by.Principal, Session: by.Session, Of: policy.OfHub, Name: t.Name, Class: policy.Read}
	if t.Class != nil {
		a.Class = t.Class("")
	}
	return a
}

// ActionOf is what a name stands for, such as "browser_page click".
func (t *Tool) ActionOf(by *consent.Caller, name string) policy.Action {
	a := t.Action(by)
	if _, action, ok := strings.Cut(name, " "); ok && t.Class != nil {
		a.Name, a.Class = name, t.Class(action)
	}
	return a
}

// Definition returns the tool as tools/list has it, on one line.
func (t *Tool) Definition() json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(t); err != nil {
		panic(fmt.Sprintf("the schema of %s: %v", t.Name, err)) // it is compiled in
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
