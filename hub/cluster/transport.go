package cluster

import (
	"context"
	"fmt"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// Transport returns tabs, but sends requests only while the lease is held and the term lasts. Other
// requests wait for the lease as long as they would wait for an answer, and then fail unsent.
func (t *Term) Transport(tabs tabtransport.TabHubTransport) tabtransport.TabHubTransport {
	return &leased{tabs, t}
}

type leased struct {
	tabtransport.TabHubTransport
	term *Term
}

// SendRequest implements tabtransport.TabHubTransport.
func (t *leased) SendRequest(ctx context.Context, to spec.TabAddr, req spec.Request, wait tabtransport.Wait) (spec.Response, error) {
	for !t.term.Held() {
		if err := t.await(ctx, wait); err != nil {
			return spec.Response{}, err
		}
	}
	if sending := wait.Sending; sending != nil { // the lease may be lost while it runs
		wait.Sending = func(sent tabtransport.Sent) error {
			if err := sending(sent); err != nil {
				return err
			}
			return t.await(ctx, wait)
		}
	}
	return t.TabHubTransport.SendRequest(ctx, to, req, wait)
}

func (t *leased) await(ctx context.Context, wait tabtransport.Wait) error {
	limit := wait.Timeout
	if limit == 0 {
		limit = spec.ControlTimeout
	}
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := t.term.Await(waiting)
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: this node has lost touch with the cluster (%w)", tabtransport.ErrNotConnected, err)
}
