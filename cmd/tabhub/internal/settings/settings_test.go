package settings

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/command"
)

// configured returns the settings of a data directory that has a configuration file, and the directory.
func configured(t *testing.T, file string, env map[string]string, flags ...string) (*Config, string, error) {
	t.Helper()
	a := &command.App{Env: func(name string) string { return env[name] }}
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	c := New()
	c.AddFlags(f)
	a.DataDir = t.TempDir()
	if err := os.WriteFile(filepath.Join(a.DataDir, "tabhub.toml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Parse(flags); err != nil {
		t.Fatal(err)
	}
	return c, a.DataDir, c.Load(a, f)
}

// A flag goes before the environment, and that before the file. What the file says is used.
func TestSettingsHaveAnOrder(t *testing.T) {
	file := `# of this machine
call-timeout = "20s"
task-after = "1m"
person-timeout = "5m"
user-sockets = 256
label-results = true
allow-origin = [
  "https://a.example",
  "https://b.example", # and another
]
policy-file = "rules.json"
tools = ["-proxy"]
log-keep = "30d"
`
	c, dir, err := configured(t, file, map[string]string{"TABHUB_TASK_AFTER": "2m", "TABHUB_PERSON_TIMEOUT": "6m", "TABHUB_TOOLS": "-browser_tab,-browser_page"}, "--set=person-timeout=7m", "--tools=browser_instance")
	if err != nil {
		t.Fatal(err)
	}
	if c.CallTimeout != 20*time.Second || c.TaskAfter != 2*time.Minute || c.PersonTimeout != 7*time.Minute || time.Duration(c.LogKeep) != 30*command.Day {
		t.Errorf("%s %s %s %s", c.CallTimeout, c.TaskAfter, c.PersonTimeout, &c.LogKeep)
	}
	if !c.LabelResults || len(c.AllowOrigins) != 2 || len(c.Tools) != 1 || c.Tools[0] != "browser_instance" {
		t.Errorf("%v %q %q", c.LabelResults, c.AllowOrigins, c.Tools)
	}
	if want := filepath.Join(dir, "rules.json"); c.PolicyFile != want || c.Read != filepath.Join(dir, "tabhub.toml") {
		t.Errorf("%s of %s", c.PolicyFile, c.Read)
	}
}

// A mistake in the file is an error that says where it is, and what to write.
func TestMistakesInTheConfigurationFile(t *testing.T) {
	for file, want := range map[string]string{
		"call-timout = \"1s\"":                `tabhub.toml:1: there is no setting "call-timout"; did you mean call-timeout?`,
		"\n\nxyzzyxyzzyxyzzy = 1":             `tabhub.toml:3: there is no setting "xyzzyxyzzyxyzzy"; `,
		"call-timeout = 30":                   `tabhub.toml:1: call-timeout is "30"; write it as 90s or 1h30m`,
		"call-timeout = \"soon\"":             `tabhub.toml:1: call-timeout is "soon"; write it as 90s or 1h30m`,
		"demo = \"yes\"":                      `tabhub.toml:1: demo is "yes"; it may be true or false`,
		"name-limit = 1000":                   `tabhub.toml:1: name-limit is "1000"; it may be `,
		"expose = [\"all\", \"auto\"]":        `tabhub.toml:1: expose takes one value, not a list`,
		"expose = \"some\"":                   `tabhub.toml:1: expose is "some"; it may be auto, all or proxy`,
		"demo = true\ndemo = false":           `tabhub.toml:`,
		"demo = true\n[hub]\nauth = \"none\"": `tabhub.toml:2: hub: there are no tables`,
		"hub.auth = \"none\"":                 `tabhub.toml:1: hub.auth: there are no tables`,
		"demo true":                           `tabhub.toml:1: `,
	} {
		if _, _, err := configured(t, file, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", file, err, want)
		}
	}
	if _, _, err := configured(t, "expose = \"some\"", nil, "--expose=all"); err == nil {
		t.Error("a flag hides what is wrong in the file")
	}
}

// A file that others can write to decides nothing, and one with a password is its owner's alone.
func TestConfigurationFileIsItsOwners(t *testing.T) {
	try := func(mode os.FileMode, body string) error {
		path := filepath.Join(t.TempDir(), "own.toml")
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		a := &command.App{Env: func(string) string { return "" }}
		f := pflag.NewFlagSet("test", pflag.ContinueOnError)
		c := New()
		c.AddFlags(f)
		a.ConfigFile = path
		return c.Load(a, f)
	}
	if err := try(0o644, "demo = true"); err != nil {
		t.Error(err)
	}
	if err := try(0o666, "demo = true"); err == nil {
		t.Error("others may write what the hub does")
	}
	nats := "cluster = [\"nats://u:secret@nats:4222\"]"
	if err := try(0o644, nats); err == nil || !strings.Contains(err.Error(), "own.toml:1 has a password in it") {
		t.Error(err)
	}
	a := &command.App{Env: func(string) string { return "" }}
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	c := New()
	c.AddFlags(f)
	a.ConfigFile = filepath.Join(t.TempDir(), "none.toml")
	if err := c.Load(a, f); err == nil {
		t.Error("a file that is named and missing is passed over")
	}
}

// The guide has each setting, in its group and with its default, and no other.
func TestGuideHasTheSettings(t *testing.T) {
	text, err := os.ReadFile("../../../../spec/docs/OPERATE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, is, _ := strings.Cut(string(text), "\n### All settings\n")
	is, _, _ = strings.Cut(is, "\n## ")
	if got, want := strings.TrimSpace(is[strings.Index(is, "|"):]), strings.TrimSpace(settingsTable()); got != want {
		t.Errorf("the guide's table is not that of the program, which is:\n%s", want)
	}
}

// settingsTable is the table of all settings for people, as Markdown.
func settingsTable() string {
	var b strings.Builder
	b.WriteString("| setting | default | |\n| --- | --- | --- |\n")
	group := ""
	for _, s := range new(Config).Settings() {
		if s.Is(IsHidden) {
			continue
		}
		if s.Group != group {
			group = s.Group
			b.WriteString("| **" + group + "** | | |\n")
		}
		help := regexp.MustCompile("`(file)`").ReplaceAllString(s.Help, "$1")
		is := ""
		if s.Value.String() != "" {
			is = "`" + s.Value.String() + "`"
		}
		b.WriteString("| `" + s.Name + "` | " + is + " | " + help + " |\n")
	}
	return b.String()
}
