package setup

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/settings"
)

// Others can read the file that starts a hub with the system, so no password for NATS gets there.
func TestAutostartHasNoPassword(t *testing.T) {
	const nats = "nats://u:s3cret@[::1]:4222"
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, bytes.Repeat([]byte("s"), settings.MinSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	further := []string{"--set=node-url=https://10.0.0.5:3301", "--set=cluster-secret=" + secret}
	for _, by := range []struct {
		env   map[string]string
		flags []string
	}{{nil, append(further, "--set=cluster="+nats)}, {map[string]string{"TABHUB_CLUSTER": nats}, further}} {
		a := &command.App{Env: func(name string) string { return by.env[name] }}
		f := pflag.NewFlagSet("test", pflag.ContinueOnError)
		c := settings.New()
		c.AddFlags(f)
		a.DataDir = t.TempDir()
		if err := f.Parse(by.flags); err != nil {
			t.Fatal(err)
		}
		err := autostartOn(t.Context(), a, filepath.Join(t.TempDir(), "tabhub"), c, f)
		if err == nil || !strings.Contains(err.Error(), "cluster-creds") || strings.Contains(err.Error(), "s3cret") {
			t.Error(err)
		}
	}
}
