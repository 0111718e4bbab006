package relaytest

import (
	"context"
	"encoding/json"
)

// Open is a relay.Gate that lets everything pass.
type Open struct{}

func (Open) Admit(string, json.RawMessage, bool) (func(context.Context) error, error) {
	return nil, nil
}

func (Open) Hears() error { return nil }
