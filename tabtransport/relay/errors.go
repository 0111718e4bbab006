package relay

import (
	"encoding/json"
	"errors"
	"fmt"

	"tabhub/spec"
)

// Error codes of the MCP Proxy Protocol.
const (
	codeServer    = -32000 // authentication, routing, and an extension's error that has no code
	codeConnected = -32001 // the client is connected to an extension already
)

// closeReplaced tells an extension that a newer socket took its identity.
const closeReplaced spec.CloseCode = 4001

// Close codes of RFC 6455.
const (
	closeUnsupportedData spec.CloseCode = 1003
	closeTryLater        spec.CloseCode = 1013
)

// failed makes an error for a request that the relay, and not the extension, could
// not serve. What programs may tell apart is in data.code.
func failed(code spec.FailureCode, format string, args ...any) *spec.Error {
	return &spec.Error{
		Code:    codeServer,
		Message: fmt.Sprintf(format, args...),
		Data:    json.RawMessage(fmt.Sprintf(`{"code":%q}`, code)),
	}
}

// notNow returns an error of Options.Verify that says nothing against the peer: there are too many,
// or the user's hub cannot be had at this moment. Else it returns nil.
func notNow(err error) *spec.Error {
	if coded, ok := errors.AsType[*spec.Error](err); ok && (coded.Code == spec.CodeLimit || coded.Code == spec.CodeInternal) {
		return coded
	}
	return nil
}

func errForeign() *spec.Error {
	return spec.Errorf(codeServer, "connectionId is not a connection of this client")
}

func errNoConnection() *spec.Error {
	return failed(spec.FailNoInstance, "Not connected to an extension: call list_extensions, then connect")
}

// errNoResult stands in for an answer that is none.
func errNoResult() *spec.Error {
	e := failed(spec.FailToolError, "Extension answered with neither a result nor an error: the request may have taken effect")
	e.Code = spec.CodeInternal
	return e
}
