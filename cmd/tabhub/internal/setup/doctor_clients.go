package setup

import (
	"net"
	"net/url"
	"os/exec"
	"slices"
	"strings"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/hub/trust/auth"
)

// clients looks at the configurations of MCP clients.
func (d *Doctor) clients() {
	const check = "clients"
	all, err := clientReports(d.App, d.isHub)
	if err != nil {
		d.Note(check, "", "they are not looked at: %v", err)
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
				d.byCommand(&r, &e)
			}
		}
	}
	if !configured {
		d.Note(check, "", "none is configured to use tabhub; `%s` does that for %s", d.command("install", "CLIENT"), strings.Join(clientconf.Names(), ", "))
	}
}

// byCommand looks at an entry by which a client starts tabhub.
func (d *Doctor) byCommand(r *clientReport, e *clientServer) {
	words := []string{"install", r.Name}
	if c, _ := clientconf.Named(r.Name); e.Scope != c.Scopes[0] {
		words = append(words, "--scope", string(e.Scope))
	}
	if e.Name != connectName {
		words = append(words, "--name", e.Name)
	}
	if _, err := exec.LookPath(e.Command); err != nil {
		d.bad("clients", d.command(words...), "%s cannot start tabhub, says %s: %v", r.Title, e.File, err)
	} else if err := d.entryToken(e.entry); err != nil {
		d.bad("clients", d.command(words...), "%s is refused by the hub, as %s has a token that it does not take: %v", r.Title, e.File, err)
	} else {
		d.fine("clients", "%s starts %s", r.Title, e.Command)
	}
}

// entryToken returns an error if a client's entry has a token that the hub would not take.
func (d *Doctor) entryToken(e clientconf.Entry) error {
	token, err := EntryToken(variable(e))
	if err != nil {
		return err
	}
	if _, ok := auth.ClientID(token); !ok {
		return nil // none, or one that the user has put there
	}
	known, err := auth.OpenClients(d.Dir.Clients()) // only to look
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

// byURL looks at a client that is configured by the hub's address.
func (d *Doctor) byURL(client, address string) {
	u, _ := url.Parse(address) // which was read before
	switch {
	case settings.IsLoopback(u.Hostname()) && d.Addrs == nil:
		d.Note("clients", d.command("serve"), "%s looks for the hub at %s, and starts none", client, address)
	case settings.IsLoopback(u.Hostname()) && !hasPort(d.Addrs, u.Port()):
		d.Note("clients", "", "%s looks for the hub at %s; it is at %s", client, address, strings.Join(d.Addrs, ", "))
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
