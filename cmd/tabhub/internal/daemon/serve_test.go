package daemon

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/daemon/node"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/settings"
)

// options returns the options of a hub that has flags and directories of its own.
func options(t *testing.T, log io.Writer, flags ...string) Options {
	t.Helper()
	a := &command.App{Env: func(string) string { return "" }, DataDir: filepath.Join(t.TempDir(), "data")}
	f := pflag.NewFlagSet("serve", pflag.PanicOnError)
	c := settings.New()
	c.AddFlags(f)
	if err := errors.Join(f.Parse(flags), c.Load(a, f)); err != nil {
		t.Fatal(err)
	}
	return Options{App: a, Config: c, Dir: home.Dir(a.DataDir), Log: slog.New(slog.NewTextHandler(log, nil))}
}

// serve runs a hub with the demo until the test ends, and returns it with its port.
func serve(t *testing.T, log io.Writer, flags ...string) (*Process, string) {
	t.Helper()
	p, err := Start(t.Context(), options(t, log, append([]string{"--listen", "127.0.0.1:0", "--demo"}, flags...)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close("stop"); err != nil {
			t.Error(err)
		}
	})
	_, port, err := net.SplitHostPort(p.Info.Addrs[0])
	if err != nil {
		t.Fatal(err)
	}
	return p, port
}

// The address that serve prints opens the dashboard. On a node it has no code, because the user's
// hub may be open at another node.
func TestAddressOfTheDashboard(t *testing.T) {
	p, _ := serve(t, io.Discard)
	if got := p.dashboardWords("http://base"); !strings.Contains(got, "/#code=") {
		t.Error(got)
	}
	node := Process{token: p.token, node: new(node.Node)}
	if got := node.dashboardWords("http://base"); !strings.HasPrefix(got, "http://base/\n") || strings.Contains(got, "code") || !strings.Contains(got, "`tabhub dashboard`") {
		t.Error(got)
	}
}
