package command

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/tabtransport/pairing"
)

// ClientStore is the clients of a data directory's hub that have tokens of their own.
type ClientStore interface {
	List(ctx context.Context) ([]auth.Client, error)
	Mint(ctx context.Context, in admin.ClientRequest) (admin.MintedClient, error)
	// revoke ends the token of the client with that ID or name.
	Revoke(ctx context.Context, client string) (auth.Client, error)
}

// WithClients calls f with the clients: those of the hub that runs or, if none does, those
// in its file, which none can take meanwhile.
func WithClients(a *App, f func(ClientStore) error) error {
	dir, err := a.Dir()
	if err != nil {
		return err
	}
	if err := dir.Make(); err != nil {
		return err
	}
	lock, err := dir.TryLock(home.HubLock)
	if errors.Is(err, home.ErrHeld) {
		r, err := a.Remote()
		if err != nil {
			return err
		}
		return f(hubClients{r})
	}
	if err != nil {
		return err
	}
	defer lock.Unlock()
	kept, err := auth.OpenClients(dir.Clients())
	if err != nil {
		return err
	}
	return errors.Join(f(fileClients{kept}), kept.Close())
}

// hubClients are those of a hub that runs.
type hubClients struct{ hub *Remote }

func (c hubClients) ask(ctx context.Context, method, query string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	return c.hub.Call(ctx, method, "/api/clients"+query, in, out)
}

func (c hubClients) List(ctx context.Context) (list []auth.Client, err error) {
	return list, c.ask(ctx, http.MethodGet, "", nil, &list)
}

func (c hubClients) Mint(ctx context.Context, in admin.ClientRequest) (made admin.MintedClient, err error) {
	return made, c.ask(ctx, http.MethodPost, "", in, &made)
}

func (c hubClients) Revoke(ctx context.Context, client string) (gone auth.Client, err error) {
	return gone, c.ask(ctx, http.MethodDelete, "?client="+url.QueryEscape(client), nil, &gone)
}

// fileClients are those of a hub without accounts that does not run.
type fileClients struct{ kept *auth.Clients }

func (c fileClients) List(context.Context) ([]auth.Client, error) {
	return c.kept.List(spec.LocalUser), nil
}

func (c fileClients) Mint(_ context.Context, in admin.ClientRequest) (made admin.MintedClient, err error) {
	made.Client, made.Token, err = c.kept.Mint(in.Client(spec.LocalUser))
	if bad, ok := errors.AsType[*auth.BadClientError](err); ok {
		err = &UsageError{bad}
	}
	return made, err
}

func (c fileClients) Revoke(_ context.Context, client string) (auth.Client, error) {
	gone, err := c.kept.Find(spec.LocalUser, client)
	if err != nil {
		return gone, err
	}
	return gone, c.kept.Revoke(spec.LocalUser, gone.ID)
}

// OpenRing opens the pairings of a data directory. The caller holds home.HubLock, or the
// hub does that has made them.
func OpenRing(dir home.Dir) (*pairing.Ring, error) {
	id, err := dir.Instance()
	if err != nil {
		return nil, err
	}
	return pairing.Open(dir.Pairings(), id)
}
