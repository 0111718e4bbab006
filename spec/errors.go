package spec

import (
	"encoding/json"
	"fmt"
)

// JSON-RPC error codes of the tab protocol.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeTabNotFound    = -32001 // the tab is not, or no longer, there
	CodeRefused        = -32002 // credentials or policy
	CodeLimit          = -32003 // a limit of this package was exceeded
	CodeUnsupported    = -32004 // the peer does not offer this capability
	CodeUnpaired       = -32005 // the hub does not know the pairing, or one is missing
)

// Error is a JSON-RPC error object. It is what a peer answered, or what it is
// answered with.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// NotDelivered is the data of a CodeTabNotFound error that says that the request
// did not reach the page, so that it may be sent again. Without it the request may
// have taken effect.
var NotDelivered = json.RawMessage(`{"delivered":false}`)

// Errorf makes an Error.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// FailureCode says why the hub could not answer a tool call. It is the code of the
// text {"error":{"code","message"}} in a result with isError true.
type FailureCode string

// The failure codes.
const (
	FailTabNotFound      FailureCode = "TAB_NOT_FOUND"     // no tab of the domain is open and none can be opened
	FailTabClosed        FailureCode = "TAB_CLOSED"        // the tab went away after the call was sent
	FailTabLeased        FailureCode = "TAB_LEASED"        // another client holds the tab
	FailNotConnected     FailureCode = "NOT_CONNECTED"     // the tab or its browser is away and did not return in time
	FailToolTimeout      FailureCode = "TOOL_TIMEOUT"      // no answer in time
	FailToolError        FailureCode = "TOOL_ERROR"        // the page's tool threw
	FailInvalidArguments FailureCode = "INVALID_ARGUMENTS" // the arguments do not fit the tool's schema
	FailQueueFull        FailureCode = "QUEUE_FULL"        // too many calls in flight
	FailDenied           FailureCode = "DENIED"            // refused by policy or by the user
	FailPaused           FailureCode = "PAUSED"            // the owner has stopped it for now
	FailStopped          FailureCode = "STOPPED"           // the owner has stopped this call
	FailTabInUse         FailureCode = "TAB_IN_USE"        // the owner uses the tab by hand, and the call waited in vain
	FailDialogOpen       FailureCode = "DIALOG_OPEN"       // a dialog of the page blocks the tab
	FailNoInstance       FailureCode = "NO_INSTANCE"       // no such browser instance
)

// CloseCode is a WebSocket close code. Codes 4000-4099 say "reconnect, with
// back-off", 4100-4199 say "do not reconnect until something changes".
type CloseCode int

// The close codes.
const (
	CloseGoingAway   CloseCode = 1001 // the hub is shutting down: reconnect
	CloseTooBig      CloseCode = 1009 // a frame much larger than Limits.MaxFrame: reconnect
	CloseSlow        CloseCode = 4000 // the peer did not read fast enough, or did not answer pings: reconnect
	CloseTooFast     CloseCode = 4002 // too many messages or malformed frames: reconnect
	CloseReplaced    CloseCode = 4101 // another socket took this identity: do not reconnect
	CloseRefused     CloseCode = 4103 // credentials, identity or origin refused: do not reconnect
	CloseUnsupported CloseCode = 4104 // protocol version not served: do not reconnect
)
