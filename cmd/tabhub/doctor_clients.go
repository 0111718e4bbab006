package main

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/url"
	"os/exec"
	"slices"
	"strings"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/hub/auth"
)

// clients looks at the configurations of MCP clients.
func (d *doctor) clients(ctx context.Context) {
	system, err := d.system()
	if err != nil {
		d.note("clients", "", "projects' files are not looked at: %v", err)
	}
	configured := false
	seen := make(map[string]bool) // in the home directory, a project's file may be the user's
	for _, c := range clientconf.All {
		for _, scope := range c.Scopes {
			path, err := c.Path(system, scope)
			if err != nil || seen[path] {
				continue // the client is not there
			}
			seen[path] = true
			if d.client(ctx, c, scope, path) {
				configured = true
			}
		}
	}
	if !configured {
		d.note("clients", "", "none is configured to use tabhub; `%s` does that for %s", d.command("install", "CLIENT"), strings.Join(clientconf.Names(), ", "))
	}
}

// client looks at one file, and reports whether it mentions tabhub, or cannot be looked at.
func (d *doctor) client(ctx context.Context, c clientconf.Client, scope clientconf.Scope, path string) bool {
	text, err := clientText(ctx, c, path)
	switch {
	case errors.Is(err, errUnseen):
		d.note("clients", "", "%s: %v", c.Title, err)
		return true // it may be
	case err != nil && c.Edited():
		d.bad("clients", "make it a file that you may read", "%s: %v", c.Title, err)
		return false
	case err != nil:
		d.bad("clients", "mend what it says", "%s: %v", c.Title, err)
		return false
	}
	if len(text) == 0 {
		return false
	}
	commands, err := c.Find(text, "tabhub")
	if err != nil {
		d.bad("clients", "mend the file; "+c.Title+" may not read it either", "%s: %s: %v", c.Title, path, err)
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		words := []string{"install", c.Name}
		if scope != c.Scopes[0] {
			words = append(words, "--scope", string(scope))
		}
		if name != "tabhub" {
			words = append(words, "--name", name)
		}
		if _, err := exec.LookPath(commands[name]); err != nil {
			d.bad("clients", d.command(words...), "%s cannot start tabhub, says %s: %v", c.Title, path, err)
			continue
		}
		if err := d.entryToken(c.Started(text, name)); err != nil {
			d.bad("clients", d.command(words...), "%s is refused by the hub, as %s has a token that it does not take: %v", c.Title, path, err)
			continue
		}
		d.fine("clients", "%s starts %s", c.Title, commands[name])
	}
	found := len(commands) > 0
	urls, _ := c.URLs(text) // what is wrong with the file was said
	for _, name := range slices.Sorted(maps.Keys(urls)) {
		u, err := url.Parse(urls[name])
		if err != nil || name != "tabhub" && !d.isHub(u) {
			continue
		}
		found = true
		d.byURL(c, u)
	}
	return found
}

// entryToken returns an error if a client's entry has a token that the hub would not take.
func (d *doctor) entryToken(e clientconf.Entry) error {
	token, err := entryToken(variable(e))
	if err != nil {
		return err
	}
	if _, ok := auth.ClientID(token); !ok {
		return nil // none, or one that the user has put there
	}
	known, err := auth.OpenClients(d.dir.Clients()) // only to look
	if err != nil {
		return err
	}
	_, err = known.Verify(token)
	return err
}

// isHub reports whether an address is one of the hub's on this machine.
func (d *doctor) isHub(u *url.URL) bool {
	path := strings.TrimSuffix(u.Path, "/")
	return (path == "/mcp" || path == "/sse") && isLoopback(u.Hostname()) && hasPort(append(d.wanted(), d.addrs...), u.Port())
}

// byURL looks at a client that is configured by the hub's address.
func (d *doctor) byURL(c clientconf.Client, u *url.URL) {
	where := withoutQuery(u.String())
	switch {
	case isLoopback(u.Hostname()) && d.addrs == nil:
		d.note("clients", d.command("serve"), "%s looks for the hub at %s, and starts none", c.Title, where)
	case isLoopback(u.Hostname()) && !hasPort(d.addrs, u.Port()):
		d.note("clients", "", "%s looks for the hub at %s; it is at %s", c.Title, where, strings.Join(d.addrs, ", "))
	default:
		d.fine("clients", "%s uses %s", c.Title, where)
	}
}

// hasPort reports whether one of the addresses has the port.
func hasPort(addrs []string, port string) bool {
	return slices.ContainsFunc(addrs, func(addr string) bool {
		_, p, err := net.SplitHostPort(addr)
		return err == nil && p == port
	})
}

// withoutQuery returns an address without what may hold a token.
func withoutQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return u.Scheme + "://" + u.Host + u.Path
}
