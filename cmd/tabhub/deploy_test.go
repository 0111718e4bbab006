package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/hub/face/httpd"
	"tabhub/hub/trust/auth"
)

// deployment is how a file starts a hub.
type deployment struct {
	where string
	args  []string
	env   map[string]string
	other []string // a further command that is run there
}

// deployments reads the files for Kubernetes and for Compose. What they check of the rest, the
// tests in deploy/lint do.
func deployments(t *testing.T) (all []deployment) {
	t.Helper()
	b, err := os.ReadFile("deploy/kubernetes/tabhub.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for doc := range strings.SplitSeq(string(b), "\n---\n") {
		var set struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Args []string
							Env  []struct {
								Name, Value string
							}
							Lifecycle struct {
								PreStop struct {
									Exec struct{ Command []string }
								} `yaml:"preStop"`
							}
						}
					}
				}
			}
		}
		if err := yaml.Unmarshal([]byte(doc), &set); err != nil {
			t.Fatal(err)
		}
		for _, c := range set.Spec.Template.Spec.Containers {
			s := deployment{where: "kubernetes", args: c.Args, env: map[string]string{}, other: c.Lifecycle.PreStop.Exec.Command}
			for _, e := range c.Env {
				s.env[e.Name] = e.Value
			}
			all = append(all, s)
		}
	}
	var compose struct {
		Services map[string]struct {
			Image       string
			Environment map[string]string
		}
	}
	if b, err = os.ReadFile("deploy/compose/compose.yaml"); err == nil {
		err = yaml.Unmarshal(b, &compose)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range compose.Services {
		if s.Image == "tabhub" {
			all = append(all, deployment{where: name, args: []string{"serve"}, env: s.Environment})
		}
	}
	if len(all) != 4 {
		t.Fatalf("there are %d hubs in the files", len(all))
	}
	return all
}

// A flag that is not there any more would end each pod as it starts.
func TestDeployments(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, bytes.Repeat([]byte("s"), settings.MinSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	inPlace := strings.NewReplacer("$(POD_NAME)", "tabhub-0", "$(NATS_PASSWORD)", "p", "${NATS_PASSWORD:?put it into .env}", "p", "${NATS_PASSWORD}", "p",
		"/etc/tabhub/secret", secret, "/run/secrets/cluster", secret, "/run/secrets/jwt", secret)
	for _, s := range deployments(t) {
		for i, arg := range s.args {
			s.args[i] = inPlace.Replace(arg)
		}
		a := &command.App{Env: func(name string) string { return inPlace.Replace(s.env[name]) }}
		c, flags := settings.New(), pflag.NewFlagSet("serve", pflag.ContinueOnError)
		c.AddFlags(flags)
		flags.StringVar(&a.DataDir, "data-dir", a.Env("TABHUB_DATA_DIR"), "")
		err := flags.Parse(s.args[1:])
		if err == nil {
			err = c.Load(a, flags)
		}
		if err == nil {
			o := c.GuardOptions()
			o.Verifier = auth.NewToken("t")
			_, err = httpd.NewGuard(o)
		}
		if err != nil {
			t.Errorf("%s: %v", s.where, err)
			continue
		}
		if !c.Cluster.On() {
			t.Errorf("%s: it is no node", s.where)
		}
		for name := range s.env {
			if strings.HasPrefix(name, "TABHUB_") && !ofFlag(c, name) {
				t.Errorf("%s: %s is of no flag", s.where, name)
			}
		}
		if s.other == nil {
			continue
		}
		if err := checkCommand(strings.Join(s.other, " "), true); err != nil {
			t.Errorf("%s: %q: %v", s.where, s.other, err)
		}
	}
}

// ofFlag reports whether a variable of the environment sets a flag of a command.
func ofFlag(c *settings.Config, name string) bool {
	return slices.ContainsFunc(c.All, func(s *settings.Setting) bool { return name == command.EnvName(s.Name) }) || name == command.EnvName("data-dir")
}
