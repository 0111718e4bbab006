package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
)

// clientStore is the clients of a data directory's hub that have tokens of their own.
type clientStore interface {
	list(ctx context.Context) ([]auth.Client, error)
	mint(ctx context.Context, in admin.ClientRequest) (admin.MintedClient, error)
	// revoke ends the token of the client with that ID or name.
	revoke(ctx context.Context, client string) (auth.Client, error)
}

// withClients calls f with the clients: those of the hub that runs or, if none does, those
// in its file, which none can take meanwhile.
func withClients(a *app, f func(clientStore) error) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	if err := dir.Make(); err != nil {
		return err
	}
	lock, err := dir.TryLock(home.HubLock)
	if errors.Is(err, home.ErrHeld) {
		r, err := a.remote()
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
type hubClients struct{ hub *remote }

func (c hubClients) ask(ctx context.Context, method, query string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return c.hub.call(ctx, method, "/api/clients"+query, in, out)
}

func (c hubClients) list(ctx context.Context) (list []auth.Client, err error) {
	return list, c.ask(ctx, http.MethodGet, "", nil, &list)
}

func (c hubClients) mint(ctx context.Context, in admin.ClientRequest) (made admin.MintedClient, err error) {
	return made, c.ask(ctx, http.MethodPost, "", in, &made)
}

func (c hubClients) revoke(ctx context.Context, client string) (gone auth.Client, err error) {
	return gone, c.ask(ctx, http.MethodDelete, "?client="+url.QueryEscape(client), nil, &gone)
}

// fileClients are those of a hub without accounts that does not run.
type fileClients struct{ kept *auth.Clients }

func (c fileClients) list(context.Context) ([]auth.Client, error) {
	return c.kept.List(spec.LocalUser), nil
}

func (c fileClients) mint(_ context.Context, in admin.ClientRequest) (made admin.MintedClient, err error) {
	made.Client, made.Token, err = c.kept.Mint(in.Client(spec.LocalUser))
	if bad, ok := errors.AsType[*auth.BadClientError](err); ok {
		err = &usageError{bad}
	}
	return made, err
}

func (c fileClients) revoke(_ context.Context, client string) (auth.Client, error) {
	gone, err := c.kept.Find(spec.LocalUser, client)
	if err != nil {
		return gone, err
	}
	return gone, c.kept.Revoke(spec.LocalUser, gone.ID)
}
