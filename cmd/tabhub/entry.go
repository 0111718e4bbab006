package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/hub/auth"
	"tabhub/hub/httpd"
)

// needsToken reports whether an entry that has this token, if it is not "", is to get
// another: the hub does not know it. One of another kind, the user has put there.
func (a *app) needsToken(ctx context.Context, token string) bool {
	id, ok := auth.ClientID(token)
	if !ok {
		return token == ""
	}
	known := false
	err := a.withClients(func(all clientStore) error {
		list, err := all.list(ctx)
		known = slices.ContainsFunc(list, func(c auth.Client) bool { return c.ID == id })
		return err
	})
	return err != nil || !known
}

// mintEntry makes a token for the entry.
func (a *app) mintEntry(ctx context.Context, c clientconf.Client, e *clientEdit) (auth.Client, error) {
	var made httpd.MintedClient
	err := a.withClients(func(all clientStore) (err error) {
		made, err = all.mint(ctx, httpd.ClientRequest{Name: c.Name, Kind: auth.ClientEntry})
		return err
	})
	if err != nil {
		return auth.Client{}, fmt.Errorf("there is no token for %s, so nothing is changed (--no-token does without): %w", c.Title, err)
	}
	e.entry.Env = map[string]string{tokenEnv: made.Token}
	return made.Client, nil
}

// revokeEntry ends the token of an entry that is gone, or was not written. The owner may
// have ended it before.
func (a *app) revokeEntry(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	err := a.withClients(func(all clientStore) error {
		_, err := all.revoke(ctx, id)
		return err
	})
	if errors.Is(err, auth.ErrNoClient) || isStatus(err, http.StatusNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("its token is still good; `tabhub token revoke %s` ends it: %w", id, err)
	}
	return nil
}
