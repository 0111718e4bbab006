package hub

import (
	"context"
	"encoding/json"

	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

// ReadResource reads a resource in the best tab and returns the raw MCP
// ReadResourceResult, with the public URI in place of the page's. The error is an
// *UnknownError, a *Failure, the page's own *spec.Error, or ctx's cause.
func (h *Hub) ReadResource(ctx context.Context, by *consent.Caller, uri string) (json.RawMessage, error) {
	r := run{h: h, kind: spec.KindResource, name: uri, by: by}
	if _, err := r.do(ctx); err != nil {
		return nil, err
	}
	return r.label(r.result), nil
}

// GetPrompt gets a prompt from the best tab and returns the raw MCP
// GetPromptResult. Errors are as for ReadResource.
func (h *Hub) GetPrompt(ctx context.Context, by *consent.Caller, name string, args json.RawMessage) (json.RawMessage, error) {
	r := run{h: h, kind: spec.KindPrompt, name: name, by: by, args: args}
	if _, err := r.do(ctx); err != nil {
		return nil, err
	}
	return r.label(r.result), nil
}
