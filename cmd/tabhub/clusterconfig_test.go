package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Each mistake gets a sentence that says what to write instead.
func TestClusterFlags(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, n int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, bytes.Repeat([]byte("s"), n), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret := "--cluster-secret=" + file("secret", minSecret)
	const nats, url = "--cluster=nats://u:p@nats:4222", "--node-url=https://10.0.0.5:3301"
	for _, test := range []struct {
		flags []string
		want  string
	}{
		{nil, ""},
		{[]string{nats, url, secret}, ""},
		{[]string{url}, "they need --cluster"},
		{[]string{nats, secret}, "needs --node-url"},
		{[]string{nats, secret, "--node-url=http://10.0.0.5:3301"}, "write it with https, a host and a port"},
		{[]string{nats, secret, "--node-url=https://10.0.0.5"}, "write it with https, a host and a port"},
		{[]string{nats, secret, "--node-url=https://:3301"}, "write it with https, a host and a port"},
		{[]string{nats, secret, "--node-url=https://10.0.0.5:3301/#a"}, "write it with https, a host and a port"},
		{[]string{nats, url}, "openssl rand -hex 32"},
		{[]string{nats, url, "--cluster-secret=" + file("short", minSecret-1)}, "it must be 32 or more"},
		{[]string{nats, url, "--cluster-secret=" + filepath.Join(dir, "none")}, "cannot be read"},
		{[]string{"--cluster=10.0.0.6:4222", url, secret}, "write it as nats://"},
	} {
		var c clusterConfig
		f := pflag.NewFlagSet("test", pflag.ContinueOnError)
		c.addFlags(f)
		if err := f.Parse(test.flags); err != nil {
			t.Fatal(err)
		}
		err := c.check()
		if err == nil && test.want != "" || err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%q: %v, want %q", test.flags, err, test.want)
		}
	}
}

// A password for NATS is neither on the command line of a hub, which others can read, nor in a file
// that starts one.
func TestPasswordOfNATS(t *testing.T) {
	const nats = "nats://u:s3cret@[::1]:4222,tls://u:s3cret@nats-1:4222"
	set := func(how func(f *pflag.FlagSet) error) (*config, *pflag.FlagSet) {
		var c config
		f := pflag.NewFlagSet("test", pflag.ContinueOnError)
		c.addHubFlags(f)
		if err := how(f); err != nil {
			t.Fatal(err)
		}
		return &c, f
	}
	byFlag := func(f *pflag.FlagSet) error { return f.Parse([]string{"--cluster", nats, "--node-name=a"}) }
	byEnv := func(f *pflag.FlagSet) error {
		env := map[string]string{"TABHUB_CLUSTER": nats, "TABHUB_NODE_NAME": "a"}
		return (&app{env: func(name string) string { return env[name] }}).fromEnv(f)
	}
	for _, how := range []func(*pflag.FlagSet) error{byFlag, byEnv} {
		is, f := set(how)
		args, env := flagsOfChild(f)
		if !slices.Equal(args, []string{"--node-name=a"}) {
			t.Errorf("the hub gets the flags %q", args)
		}
		last := env[len(env)-1]
		hub, _ := set(func(f *pflag.FlagSet) error { // what it makes of the environment
			return (&app{env: func(name string) string {
				if set, value, _ := strings.Cut(last, "="); set == name {
					return value
				}
				return ""
			}}).fromEnv(f)
		})
		if !slices.Equal(hub.cluster.nats, is.cluster.nats) || len(is.cluster.nats) != 2 {
			t.Errorf("the hub gets %q", hub.cluster.nats)
		}
		if !is.cluster.hasPassword() {
			t.Error("the password is not seen")
		}
	}
}

// Who has NATS's password in the address gets a sentence that says where it belongs.
func TestAutostartWithPasswordOfNATS(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, bytes.Repeat([]byte("s"), minSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{env: func(string) string { return "" }}
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	a.config.addHubFlags(f)
	flags := []string{"--cluster=nats://u:s3cret@nats:4222", "--node-url=https://10.0.0.5:3301", "--cluster-secret=" + secret}
	if err := f.Parse(flags); err != nil {
		t.Fatal(err)
	}
	err := a.autostartOn(t.Context(), filepath.Join(dir, "tabhub"), f)
	if err == nil || !strings.Contains(err.Error(), "--cluster-creds") || strings.Contains(err.Error(), "s3cret") {
		t.Error(err)
	}
}

// A node listens at the address of its URL, and at all if that is a name.
func TestNodeListens(t *testing.T) {
	for url, want := range map[string]string{
		"https://10.0.0.5:3301":        "10.0.0.5:3301",
		"https://[fd00::5]:3301":       "[fd00::5]:3301",
		"https://tabhub-0.tabhub:3301": ":3301",
	} {
		c := clusterConfig{url: url}
		if got := c.nodeListen(); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}
