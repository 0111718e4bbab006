package settings

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	secret := "--set=cluster-secret=" + file("secret", MinSecret)
	const nats, url = "--set=cluster=nats://u:p@nats:4222", "--set=node-url=https://10.0.0.5:3301"
	for _, test := range []struct {
		flags []string
		want  string
	}{
		{nil, ""},
		{[]string{nats, url, secret}, ""},
		{[]string{url}, "they need cluster"},
		{[]string{nats, secret}, "needs node-url"},
		{[]string{nats, secret, "--set=node-url=http://10.0.0.5:3301"}, "write it with https, a host and a port"},
		{[]string{nats, secret, "--set=node-url=https://10.0.0.5"}, "write it with https, a host and a port"},
		{[]string{nats, secret, "--set=node-url=https://:3301"}, "write it with https, a host and a port"},
		{[]string{nats, secret, "--set=node-url=https://10.0.0.5:3301/#a"}, "write it with https, a host and a port"},
		{[]string{nats, url}, "openssl rand -hex 32"},
		{[]string{nats, url, "--set=cluster-secret=" + file("short", MinSecret-1)}, "it must be 32 or more"},
		{[]string{nats, url, "--set=cluster-secret=" + filepath.Join(dir, "none")}, "cannot be read"},
		{[]string{"--set=cluster=10.0.0.6:4222", url, secret}, "write it as nats://"},
	} {
		_, _, err := configured(t, "", nil, test.flags...)
		if err == nil && test.want != "" || err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%q: %v, want %q", test.flags, err, test.want)
		}
	}
}

// A password for NATS is neither on the command line of a hub, which others can read, nor in a file
// that starts one.
func TestPasswordOfNATS(t *testing.T) {
	const nats = "nats://u:s3cret@[::1]:4222,tls://u:s3cret@nats-1:4222"
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, bytes.Repeat([]byte("s"), MinSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	further := []string{"--set=node-url=https://10.0.0.5:3301", "--set=cluster-secret=" + secret}
	is, _, err := configured(t, "", nil, append(further, "--set=cluster="+nats)...)
	if err != nil {
		t.Fatal(err)
	}
	args, env := is.ForHub("", false)
	if want := []string{"--set=cluster-secret=" + secret, further[0]}; !slices.Equal(args, want) {
		t.Errorf("the hub gets the flags %q", args)
	}
	name, value, _ := strings.Cut(env[len(env)-1], "=")
	hub, _, err := configured(t, "", map[string]string{name: value}, further...)
	if err != nil || !slices.Equal(hub.Cluster.Nats, is.Cluster.Nats) || len(hub.Cluster.Nats) != 2 {
		t.Errorf("the hub gets %q, %v", hub.Cluster.Nats, err)
	}
}
