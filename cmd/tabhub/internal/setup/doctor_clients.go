package setup

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"slices"
	"strings"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/hub/trust/auth"
)

// clients checks the configurations of MCP clients.
func (d *Doctor) clients(ctx context.Context) {
	const check = "clients"
	all, err := clientReports(d.App, d.isHub)
	if err != nil {
		d.note(check, "", "their configurations are not checked: %v", err)
		return
	}
	configured := false
	for _, r := range all {
		if r.Problem != "" {
			d.bad(check, "mend the file; "+r.Title+" may not read it either", "%s: %s", r.Title, r.Problem)
		}
		for _, e := range r.Entries {
			configured = true
			if e.URL != "" {
				d.byURL(r.Title, e.URL)
			} else {
				d.byCommand(ctx, &r, &e)
			}
		}
	}
	if !configured {
		d.note(check, "", "none is configured to use tabhub; `%s` does that for %s; any other reaches it at http://%s/mcp", d.command("install", "CLIENT"), strings.Join(clientconf.Names(), ", "), settings.DefaultListen)
	}
}

// byCommand checks an entry by which a client starts tabhub. It starts none that is in a project's
// file, which others may have written.
func (d *Doctor) byCommand(ctx context.Context, r *clientReport, e *clientServer) {
	words := []string{"install", r.Name}
	c, _ := clientconf.Named(r.Name)
	if e.Scope != c.Scopes[0] {
		words = append(words, "--scope", string(e.Scope))
	}
	if e.Name != connectName {
		words = append(words, "--name", e.Name)
	}
	say := fmt.Sprintf("%s starts %s", r.Title, e.Command)
	_, err := exec.LookPath(e.Command)
	if err != nil {
		err = fmt.Errorf("%s cannot start tabhub, says %s: %w", r.Title, e.File, err)
	} else if err = d.entryToken(e.entry); err != nil {
		err = fmt.Errorf("the hub refuses %s, as the token in %s is not valid: %w", r.Title, e.File, err)
	} else if d.start && e.Scope == clientconf.User && e.Name == connectName {
		var tools int
		if tools, err = tryEntry(ctx, e.entry, c.Said); err != nil {
			err = fmt.Errorf("%s: %w; it starts %s", r.Title, err, shell.Here(append([]string{e.entry.Command}, e.entry.Args...)...))
		}
		say = fmt.Sprintf("%s: it lists %d tools", r.Title, tools)
		if file := e.entry.Env[command.TokenFileEnv]; file != "" {
			say += "; its token is in " + file
		}
	}
	if err != nil {
		d.bad("clients", d.command(words...), "%v", err)
	} else {
		d.fine("clients", "%s", say)
	}
}

// entryToken returns an error if a client's entry has a token that the hub refuses.
func (d *Doctor) entryToken(e clientconf.Entry) error {
	token, err := EntryToken(variable(e))
	if err != nil {
		return err
	}
	if _, ok := auth.ClientID(token); !ok {
		return nil // none, or one that the user has put there
	}
	known, err := auth.OpenClients(d.Dir.Clients()) // it writes nothing
	if err != nil {
		return err
	}
	_, err = known.Verify(token)
	return err
}

// isHub reports whether an address is one of the hub's on this machine.
func (d *Doctor) isHub(u *url.URL) bool {
	path := strings.TrimSuffix(u.Path, "/")
	return (path == "/mcp" || path == "/sse") && settings.IsLoopback(u.Hostname()) && hasPort(append(d.wanted(), d.Addrs...), u.Port())
}

// byURL checks a client that reaches the hub by its URL.
func (d *Doctor) byURL(client, address string) {
	u, _ := url.Parse(address) // which was read before
	switch {
	case settings.IsLoopback(u.Hostname()) && d.Addrs == nil:
		d.note("clients", d.command("serve"), "%s looks for the hub at %s, and starts none", client, address)
	case settings.IsLoopback(u.Hostname()) && !hasPort(d.Addrs, u.Port()):
		d.note("clients", "", "%s looks for the hub at %s; it is at %s", client, address, strings.Join(d.Addrs, ", "))
	default:
		d.fine("clients", "%s uses %s", client, address)
	}
}

// hasPort reports whether one of the addresses has the port.
func hasPort(addrs []string, port string) bool {
	return slices.ContainsFunc(addrs, func(addr string) bool {
		_, p, err := net.SplitHostPort(addr)
		return err == nil && p == port
	})
}
