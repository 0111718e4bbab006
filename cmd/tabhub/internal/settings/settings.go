package settings

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/call"
	"tabhub/hub/call/group"
	"tabhub/hub/face/mcpserver/expose"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/lists"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/naming"
	"tabhub/spec"
)

// Setting is one thing that can be set of a hub. It has the same name in the configuration file,
// in the environment (call-timeout is $TABHUB_CALL_TIMEOUT there), in --set and, if it is a flag, as
// that. Its value checks what it is set to, so that each of these says what is possible.
type Setting struct {
	Name  string
	Value pflag.Value
	Help  string
	Kind  settingKind
	Group string

	From string // what has set it; "" for its default
}

// settingKind says where a setting is more than a line of the file.
type settingKind int

const (
	IsFlag   settingKind = 1 << iota // of serve and stdio
	isPath                           // relative to the file that it stands in
	IsHidden                         // not for people
)

// settingGroups are the titles that settings stand under, in the help and in the guide.
const (
	groupDoors    = "Addresses and access"
	groupAccounts = "Credentials"
	groupShares   = "Limits of a user"
	groupCluster  = "A cluster of hubs"
	groupLists    = "What clients list"
	groupPolicy   = "What clients may do"
	groupCalls    = "Calls"
	groupTabs     = "Tabs of clients"
	groupBrowsers = "Browsers that the hub starts"
	groupRecords  = "Record, logs and metrics"
	groupProcess  = "The process"
)

// Settings are all settings, which set the fields of c. They have their defaults.
func (c *Config) Settings() []*Setting {
	l, k := &c.Limits, &c.Cluster
	var all []*Setting
	under := func(title string, of ...*Setting) {
		for _, s := range of {
			s.Group = title
		}
		all = append(all, of...)
	}
	set := func(name string, value pflag.Value, help string, kinds ...settingKind) *Setting {
		s := &Setting{Name: name, Value: value, Help: help}
		for _, kind := range kinds {
			s.Kind |= kind
		}
		return s
	}
	under(groupDoors,
		set("listen", list(&c.Listen, checkAddress), "addresses to listen on (default "+DefaultListen+", and "+RelayListen+" if it is free)", IsFlag),
		set("public-url", text(&c.PublicURL), "where clients reach the hub through a proxy"),
		set("behind-proxy", yesNo(&c.BehindProxy), "a proxy in front of the hub does TLS and sets X-Forwarded-Proto and -Host"),
		set("tls-cert", text(&c.TlsCert), "certificate `file` (PEM)", IsFlag, isPath),
		set("tls-key", text(&c.TlsKey), "key `file` of the certificate (PEM)", IsFlag, isPath),
		set("allow-origin", list(&c.AllowOrigins, nil), "origins whose pages may join and connect; * for all", IsFlag),
		set("allow-host", list(&c.AllowHosts, nil), "further host names that the hub answers to"),
		set("extension-id", list(&c.extensions, nil), "ids of further browser extensions that may join"))
	under(groupAccounts,
		set("auth", oneOfThese(&c.Auth, "token", "token", "jwt", "none"), "credential that clients show: token, jwt (several users) or none", IsFlag),
		set("jwt-secret", text(&c.JwtSecret), "with auth jwt: `file` with the HS256 secret", IsFlag, isPath),
		set("jwks", text(&c.Jwks), "with auth jwt: key set, a file or an https address; needs jwt-issuer and jwt-audience", isPath),
		set("jwt-issuer", text(&c.JwtIssuer), "with auth jwt: issuer (iss) that tokens must have"),
		set("jwt-audience", list(&c.JwtAudiences, nil), "with auth jwt: audiences (aud) of which tokens must have one"))
	under(groupShares,
		set("user-rate", number(&l.Rate, defaultUserRate, 0, maxNumber), "with auth jwt: requests a second that a user may make in the long run; 0 for any number"),
		set("user-sockets", number(&l.Sockets, defaultUserSockets, 0, maxNumber), "with auth jwt: WebSockets, event streams and bridges that a user's clients may have open, and as many for browsers and pages; 0 for any number"),
		set("user-calls", number(&l.Calls, spec.MaxCallsPerHub, 1, maxNumber), "with auth jwt: calls that a user may have in flight"))
	under(groupCluster,
		set("cluster", list(&k.Nats, checkNATS), "be a node of the cluster whose NATS servers are at these addresses, such as nats://nats-0:4222"),
		set("cluster-creds", text(&k.Creds), "file with credentials for NATS", isPath),
		set("cluster-ca", text(&k.Ca), "file with the authority of NATS's certificate (PEM; default: the system's authorities)", isPath),
		set("cluster-secret", text(&k.secret), "file with a secret that all nodes have, of 32 bytes or more", isPath),
		set("node-name", text(&k.name), "name of this node; no other has it (default: the host's name)"),
		set("node-url", text(&k.URL), "where the other nodes reach this one, such as https://tabhub-0.tabhub:3301, and where it listens for them (on all addresses if it is a name); no certificate is needed"))
	under(groupLists,
		set("expose", oneOfThese(&c.Expose, string(expose.Auto), string(expose.Auto), string(expose.All), string(expose.Proxy)), "which tools of pages clients list: auto (all or none of each site, within a budget), all, or proxy (none; the tool proxy reaches them)", IsFlag),
		set("expose-budget", number(&c.ExposeBudget, DefaultBudget, 1, maxNumber), "with expose auto: tokens that the tools of pages may cost; the same for resources, templates and prompts"),
		set("tab-names", oneOfThese(&c.TabNames, string(lists.TabNamesAuto), string(lists.TabNamesAuto), string(lists.TabNamesAlways), string(lists.TabNamesNever)), "when the names of single tabs are listed: auto, always or never"),
		set("name-limit", number(&c.NameLimit, naming.DefaultLimit, naming.MinLimit, 128), "longest tool name, without the client's prefix", IsFlag),
		set("plain-names", yesNo(&c.PlainNames), "list tools under the page's own names; for conformance suites", IsHidden),
		set("tools", list(&c.Tools, nil), "builtin tools: a name switches one on, -name off (such as -browser_page)", IsFlag),
		set("demo", yesNo(&c.Demo), "add a demo shop, so that there are tools at once", IsFlag))
	under(groupPolicy,
		set("policy", oneOfThese(&c.Policy, "", string(policy.ModeOpen), string(policy.ModeCareful), string(policy.ModeAsk), string(policy.ModeReadOnly)), "the mode, which decides where no rule does: open, careful, ask or read-only (default: the one of tabhub policy mode, else careful)", IsFlag),
		set("policy-file", text(&c.PolicyFile), "file with rules that override those of tabhub policy; the hub reads it again when it changes", isPath),
		set("ask", list(&c.Ask, nil, "browser", "client", "dashboard"), "where the hub asks you, in this order: browser (a window of a paired one), client (the MCP client, if no browser is paired or it comes first), dashboard (or tabhub approve --watch)"))
	under(groupCalls,
		set("call-timeout", period(&c.CallTimeout, spec.CallTimeout, 1), "how long a tool call may take without progress"),
		set("call-timeout-max", period(&c.CallTimeoutMax, spec.CallTimeoutMax, 1), "how long a tool call may take with progress"),
		set("person-timeout", period(&c.PersonTimeout, spec.PersonTimeout, 1), "how long a tool call may wait for you to submit a form in its tab"),
		set("task-after", period(&c.TaskAfter, methods.TaskAfter, 1), "how long a tool call may take until a client that supports tasks gets one in place of the answer"),
		set("label-results", yesNo(&c.LabelResults), "put the texts of pages between lines that name their site, for the model"))
	under(groupTabs,
		set("handover", oneOfThese(&c.Handover, string(call.HandoverWait), string(call.HandoverWait), string(call.HandoverFail), string(call.HandoverIgnore)), "what a client's calls do in a tab that it leases while you use that tab: wait (until you have finished), fail or ignore"),
		set("room", oneOfThese(&c.Room, string(group.Own), string(group.Own), string(group.None)), "where a client opens tabs: group (in a tab group of its own) or none (anywhere)"),
		set("room-end", oneOfThese(&c.GroupEnd, string(group.Keep), string(group.Keep), string(group.Close)), "what happens to these tabs when the client has ended: keep, or close (except those that you have used)"),
		set("uploads", list(&c.Uploads, nil), "folders and files that clients may put into pages (browser_page upload), each time as the rules say; none by default", IsFlag, isPath))
	under(groupBrowsers,
		set("browser-program", text(&c.Browser), "program file of the Chromium or Chrome to start (default: the first that is found)", isPath),
		set("launch-browser", yesNo(&c.LaunchBrowser), "start a browser of its own with the extension", IsFlag))
	c.LogKeep, c.LogMax, c.LogArguments = command.Age(record.DefaultKeep), record.DefaultMax, command.Age(record.DefaultArguments)
	under(groupRecords,
		set("log-keep", &c.LogKeep, "how long the hub keeps the record, such as 90d"),
		set("log-max", &c.LogMax, "how large the record may become, such as 256MiB; the oldest lines go first"),
		set("log-arguments", &c.LogArguments, "how long the record keeps what calls that act were given, and what those that cannot be undone answered, except what looks like a secret; 0 for not at all"),
		set("log-payloads", yesNo(&c.LogPayloads), "record the arguments and results of all calls, as long as the record, except what looks like a secret"),
		set("log-level", oneOfThese(&c.logLevel, "info", "debug", "info", "warn", "error"), "how much the hub logs: debug, info, warn or error", IsFlag),
		set("log-format", oneOfThese(&c.logFormat, formatText, formatText, formatJSON), "the format of the hub's log: text, or json (an object a line)"),
		set("metrics", oneOfThese(&c.metrics, "owner", "owner", "open"), "which requests may read /metrics: owner (with the hub's token) or open (of every program on this machine)"))
	under(groupProcess,
		set("idle-exit", period(&c.IdleExit, 0, 0), "end after so long without a client; 0 for never (a hub that stdio starts: 15m)", IsFlag))
	return all
}

func (s *Setting) Is(kind settingKind) bool { return s.Kind&kind != 0 }

// List returns the elements of a setting that is a list, else nil.
func (s *Setting) List() *listValue {
	l, _ := s.Value.(*listValue)
	return l
}

// set sets a value that stands at a place, such as a line of a file.
func (s *Setting) set(from string, words []string) error {
	if l := s.List(); l != nil {
		if err := l.Replace(words); err != nil {
			return command.Usagef("%s: %s: %w", from, s.Name, err)
		}
	} else if len(words) != 1 {
		return command.Usagef("%s: %s takes one value, not a list", from, s.Name)
	} else if err := s.Value.Set(words[0]); err != nil {
		return command.Usagef("%s: %s is %q; %w", from, s.Name, words[0], err)
	}
	s.From = from
	return nil
}

// words are the value of a setting, of a list each element.
func (s *Setting) words() []string {
	if l := s.List(); l != nil {
		return *l.to
	}
	return []string{s.Value.String()}
}

// resolve makes the path, or the paths, that a setting is absolute, as of a directory. A browser without a
// directory is in the PATH.
func (s *Setting) resolve(dir string) {
	if l := s.List(); l != nil && s.Is(isPath) {
		for i, path := range *l.to {
			if path, err := filepath.Abs(filepath.Join(dir, path)); err == nil && !filepath.IsAbs((*l.to)[i]) {
				(*l.to)[i] = path
			}
		}
		return
	}
	path := s.Value.String()
	if !s.Is(isPath) || path == "" || filepath.IsAbs(path) || s.Name == "browser-program" && filepath.Base(path) == path {
		return
	}
	if path, err := filepath.Abs(filepath.Join(dir, path)); err == nil {
		s.Value.Set(path)
	}
}

// Word is a value that the setting may have, as --set takes it, and example as the file does.
func (s *Setting) Word() string {
	switch v := s.Value.(type) {
	case *yesNoValue:
		return "true"
	case *listValue:
		return cmp.Or(v.String(), "…")
	}
	return cmp.Or(s.Value.String(), "…")
}

func (s *Setting) Example() string {
	switch s.Value.(type) {
	case *yesNoValue, *numberValue:
		return s.Word()
	case *listValue:
		return fmt.Sprintf("[%q]", s.Word())
	}
	return strconv.Quote(s.Word())
}

// New returns the settings of a command that may run a hub, as they are by default.
func New() *Config {
	c := new(Config)
	c.All = c.Settings()
	return c
}

// AddFlags adds the flags of the commands that may run a hub.
func (c *Config) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false // they are in groups
	f.StringArrayVar(&c.given, "set", nil, "set any setting, such as call-timeout=1m; may be repeated")
	command.GroupFlags(f, "Settings", "set")
	for _, s := range c.All {
		if s.Is(IsFlag) {
			f.VarPF(s.Value, s.Name, "", s.Help)
			if _, ok := s.Value.(*yesNoValue); ok {
				f.Lookup(s.Name).NoOptDefVal = "true"
			}
			command.GroupFlags(f, s.Group, s.Name)
		}
	}
}

// Load sets what no flag has set from --set, the environment and the file, and checks it all.
func (c *Config) Load(a *command.App, flags *pflag.FlagSet) error {
	if err := c.ReadAll(a, flags); err != nil {
		return err
	}
	return c.check()
}

// ReadAll is load without a look at how the settings go together. Without flags it is for a command
// that runs no hub.
func (c *Config) ReadAll(a *command.App, flags *pflag.FlagSet) error {
	defer func() {
		if c.logFormat == formatJSON {
			a.JSONLog = c.Logger(a)
		}
	}()
	if flags == nil {
		flags = pflag.NewFlagSet("", pflag.ContinueOnError)
	}
	for _, s := range c.All {
		if f := flags.Lookup(s.Name); f != nil && f.Changed {
			s.From = "--" + s.Name
			s.resolve("")
		}
	}
	lists := make(map[*Setting][]string)
	for _, word := range c.given {
		name, value, ok := strings.Cut(word, "=")
		s := c.Named(name)
		switch {
		case !ok:
			return command.Usagef("--set %s: write it as --set KEY=VALUE, such as --set call-timeout=1m", word)
		case s == nil:
			return command.Usagef("--set %s: %w", word, c.unknown(name))
		case s.From == "--"+name:
			return command.Usagef("--set %s: --%s is given, too; leave out one of them", word, name)
		case s.List() != nil:
			lists[s] = append(lists[s], splitList(value)...)
			continue
		}
		if err := s.set("--set", []string{value}); err != nil {
			return err
		}
		s.resolve("")
	}
	for s, words := range lists {
		if err := s.set("--set", words); err != nil {
			return err
		}
	}
	for _, s := range c.All {
		value := a.Env(command.EnvName(s.Name))
		if s.From != "" || value == "" {
			continue
		}
		words := []string{value}
		if s.List() != nil {
			words = splitList(value)
		}
		if err := s.set("$"+command.EnvName(s.Name), words); err != nil {
			return err
		}
		s.resolve("")
	}
	return c.readFile(a)
}

func (c *Config) Named(name string) *Setting {
	i := slices.IndexFunc(c.All, func(s *Setting) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return c.All[i]
}

// unknown says that there is no such setting, and which it may be.
func (c *Config) unknown(name string) error {
	near := slices.MinFunc(c.All, func(x, y *Setting) int { return cmp.Compare(distance(name, x.Name), distance(name, y.Name)) })
	if distance(name, near.Name) <= len(name)/3+1 {
		return fmt.Errorf("there is no setting %q; did you mean %s?", name, near.Name)
	}
	return fmt.Errorf("there is no setting %q; `tabhub serve --help` lists them", name)
}

// distance is how many characters have to be inserted, removed or replaced.
func distance(x, y string) int {
	row := make([]int, len(y)+1)
	for i := range row {
		row[i] = i
	}
	for i := range len(x) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(y) {
			change := diagonal
			if x[i] != y[j] {
				change++
			}
			diagonal, row[j+1] = row[j+1], min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}

// splitList returns the elements of a list that is written with commas.
func splitList(s string) (words []string) {
	for word := range strings.SplitSeq(s, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// ForHub returns the settings of this process for a hub that it starts, as flags, and its
// environment: what the command line says and, for one that does not inherit the environment, what
// that says. The hub reads the file itself. Addresses of NATS are in the environment: they may have
// a password, and others can read command lines.
func (c *Config) ForHub(configFile string, withEnv bool) (args, env []string) {
	env = os.Environ()
	if configFile != "" {
		if path, err := filepath.Abs(configFile); err == nil {
			args = append(args, "--config="+path)
		}
	}
	for _, s := range c.All {
		onLine := strings.HasPrefix(s.From, "--")
		switch {
		case !onLine && !(withEnv && strings.HasPrefix(s.From, "$")):
			continue
		case s.Name == "cluster" && !withEnv:
			env = append(env, command.EnvName(s.Name)+"="+strings.Join(s.words(), ","))
			continue
		}
		way := "--set=" + s.Name + "="
		if s.Is(IsFlag) {
			way = "--" + s.Name + "="
		}
		for _, word := range s.words() {
			args = append(args, way+word)
		}
	}
	return args, env
}
