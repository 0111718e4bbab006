package setup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/auth"
	"tabhub/storage/private"
)

// needsToken reports whether an entry with this token, "" for none, needs a new one: the hub does
// not know it. It leaves tokens of other kinds, which the user has put there.
func needsToken(ctx context.Context, a *command.App, token string) bool {
	id, ok := auth.ClientID(token)
	if !ok {
		return token == ""
	}
	known := false
	err := command.WithClients(a, func(all command.ClientStore) error {
		list, err := all.List(ctx)
		known = slices.ContainsFunc(list, func(c auth.Client) bool { return c.ID == id })
		return err
	})
	return err != nil || !known
}

// EntryToken returns the token of an entry that has this environment, "" if it has none. A token
// file goes before the token variable.
func EntryToken(env func(string) string) (string, error) {
	path := env(command.TokenFileEnv)
	if path == "" {
		return env(command.TokenEnv), nil
	}
	b, err := private.ReadSecret(path)
	if err != nil {
		return "", fmt.Errorf("the file of %s cannot be used: %w; `tabhub install` makes the client's entry anew", command.TokenFileEnv, err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", fmt.Errorf("%s, which %s names, is empty; `tabhub install` makes the client's entry anew", path, command.TokenFileEnv)
	}
	return token, nil
}

// variable returns a variable of the entry's environment.
func variable(e clientconf.Entry) func(string) string {
	return func(key string) string { return e.Env[key] }
}

// newEntryFile returns a new path for the token of an entry of the client. It makes no file.
func newEntryFile(a *command.App, c clientconf.Client) (string, error) {
	dir, err := a.Dir()
	return filepath.Join(dir.Entries(), c.Name+"-"+strings.ToLower(rand.Text()[:8])), err
}

// lastEntry returns a valid token of an entry of the client, and its file; "" if there is none.
func lastEntry(ctx context.Context, a *command.App, c clientconf.Client) (token, path string) {
	dir, err := a.Dir()
	if err != nil {
		return "", ""
	}
	paths, _ := filepath.Glob(filepath.Join(dir.Entries(), c.Name+"-*")) // nil if there is no such directory
	for _, path := range paths {
		if token, err := EntryToken(variable(clientconf.Entry{Env: map[string]string{command.TokenFileEnv: path}})); err == nil && !needsToken(ctx, a, token) {
			return token, path
		}
	}
	return "", ""
}

// writeEntryFile puts a token into a file that only its user may read: others may see a client's
// configuration, or the words of a command.
func writeEntryFile(path, token string) error {
	err := os.Mkdir(filepath.Dir(path), 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = private.Replace(path, []byte(token+"\n"), true)
	}
	return private.Explain(err)
}

// removeEntryFile removes a file of writeEntryFile, and no other.
func removeEntryFile(a *command.App, path string) error {
	dir, err := a.Dir()
	if err != nil || path == "" || filepath.Dir(path) != dir.Entries() {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// mintEntry makes a token for an entry of the client.
func mintEntry(ctx context.Context, a *command.App, c clientconf.Client) (admin.MintedClient, error) {
	var made admin.MintedClient
	err := command.WithClients(a, func(all command.ClientStore) (err error) {
		made, err = all.Mint(ctx, admin.ClientRequest{Name: c.Name, Kind: auth.ClientEntry})
		return err
	})
	if err != nil {
		err = fmt.Errorf("there is no token for %s, so nothing is changed (--no-token does without): %w", c.Title, err)
	}
	return made, err
}

// revokeEntry revokes the token of an entry that was removed, or not written. The owner may have
// revoked it before.
func revokeEntry(ctx context.Context, a *command.App, id string) error {
	if id == "" {
		return nil
	}
	err := command.WithClients(a, func(all command.ClientStore) error {
		_, err := all.Revoke(ctx, id)
		return err
	})
	if errors.Is(err, auth.ErrNoClient) || command.IsStatus(err, http.StatusNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("its token is still valid; `tabhub token revoke %s` revokes it: %w", id, err)
	}
	return nil
}
