package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/hub"
	"tabhub/hub/consent"
	"tabhub/hub/httpd"
	"tabhub/hub/instance"
	"tabhub/hub/mcpserver"
	"tabhub/hub/policy"
	"tabhub/hub/record"
	"tabhub/hub/tenant"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/tabtransport/extension"
)

const (
	defaultListen = "127.0.0.1:3300"
	// relayListen is where pages that embed the webmcp.v1 widget look first.
	relayListen = "127.0.0.1:9333"
	defaultIdle = 15 * time.Minute
	// defaultBudget is how many tokens a list of what pages offer may cost.
	defaultBudget = 10_000
	// A user of a hub with accounts may make so many requests a second, and have so many
	// sockets and streams open.
	defaultUserRate    = 100
	defaultUserSockets = 256
)

// config is what the flags say.
type config struct {
	dataDir string

	listen       []string
	allowOrigins []string
	allowHosts   []string
	extensions   []string
	publicURL    string
	behindProxy  bool
	tlsCert      string
	tlsKey       string

	auth         string
	jwtSecret    string
	jwks         string
	jwtIssuer    string
	jwtAudiences []string

	limits  tenant.Limits
	cluster clusterConfig

	nameLimit      int
	tabNames       string
	plainNames     bool
	expose         string
	exposeBudget   int
	callTimeout    time.Duration
	callTimeoutMax time.Duration
	personTimeout  time.Duration
	taskAfter      time.Duration
	labelResults   bool
	handover       string
	room           string
	roomEnd        string

	policy     string
	policyFile string

	tools         []string
	ask           []string
	browser       string
	launchBrowser bool

	logKeep     age
	logMax      size
	logPayloads bool

	metrics   string
	demo      bool
	logLevel  string
	logFormat string
	auto      bool
	service   bool
	origin    program // of a hub that may be replaced by a newer program
	idleExit  time.Duration
}

// addHubFlags adds the flags of the commands that may run a hub.
func (c *config) addHubFlags(f *pflag.FlagSet) {
	f.SortFlags = false // they are in groups
	f.StringSliceVar(&c.listen, "listen", nil, "address to listen on; may be repeated (default "+defaultListen+", and "+relayListen+" if it is free)")
	f.StringSliceVar(&c.allowOrigins, "allow-origin", nil, "origin whose pages may join and connect; * for all; may be repeated")
	f.StringSliceVar(&c.allowHosts, "allow-host", nil, "further host name that the hub answers to; may be repeated")
	f.StringSliceVar(&c.extensions, "extension-id", nil, "id of a further browser extension that may join; may be repeated")
	f.StringVar(&c.publicURL, "public-url", "", "where clients reach the hub through a proxy")
	f.BoolVar(&c.behindProxy, "behind-proxy", false, "a proxy in front of the hub does TLS and sets X-Forwarded-Proto and -Host")
	f.StringVar(&c.tlsCert, "tls-cert", "", "certificate `file` (PEM)")
	f.StringVar(&c.tlsKey, "tls-key", "", "key `file` of the certificate (PEM)")
	f.StringVar(&c.auth, "auth", "token", "credential that clients show: token, jwt (several users) or none")
	f.StringVar(&c.jwtSecret, "jwt-secret", "", "with --auth jwt: `file` with the HS256 secret")
	f.StringVar(&c.jwks, "jwks", "", "with --auth jwt: key set, a file or an https address; needs --jwt-issuer and --jwt-audience")
	f.StringVar(&c.jwtIssuer, "jwt-issuer", "", "with --auth jwt: issuer (iss) that tokens must have")
	f.StringSliceVar(&c.jwtAudiences, "jwt-audience", nil, "with --auth jwt: audience (aud) that tokens must have; one of them, if it is repeated")
	f.IntVar(&c.limits.Rate, "user-rate", defaultUserRate, "with --auth jwt: how many requests a second a user may make, in the long run; 0 for any number")
	f.IntVar(&c.limits.Sockets, "user-sockets", defaultUserSockets, "with --auth jwt: how many WebSockets, event streams and bridges of a user's clients may be open, and as many of browsers and pages; 0 for any number")
	f.IntVar(&c.limits.Calls, "user-calls", spec.MaxCallsPerHub, "with --auth jwt: how many calls of a user may be under way")
	c.cluster.addFlags(f)
	f.IntVar(&c.nameLimit, "name-limit", 0, fmt.Sprintf("longest tool name, without what the client puts before it (default %d)", naming.DefaultLimit))
	f.StringVar(&c.tabNames, "tab-names", string(hub.TabNamesAuto), "when the names of single tabs are listed: auto, always or never")
	f.StringVar(&c.expose, "expose", string(mcpserver.ExposeAuto), "which tools of pages clients list: auto (of each site all or none, within a budget), all, or proxy (none, but the tool that reaches all)")
	f.IntVar(&c.exposeBudget, "expose-budget", defaultBudget, "with --expose auto: how many tokens the tools of pages may cost; the same for resources, templates and prompts")
	f.BoolVar(&c.plainNames, "plain-names", false, "list tools under the page's own names; for conformance suites")
	f.DurationVar(&c.callTimeout, "call-timeout", spec.CallTimeout, "how long a tool call may take without progress")
	f.DurationVar(&c.callTimeoutMax, "call-timeout-max", spec.CallTimeoutMax, "how long a tool call may take with progress")
	f.DurationVar(&c.personTimeout, "person-timeout", spec.PersonTimeout, "how long a tool call may wait for you to submit a form in its tab")
	f.DurationVar(&c.taskAfter, "task-after", mcpserver.TaskAfter, "how long a tool call may take until its client gets a task in place of the answer, if it takes one")
	f.StringVar(&c.handover, "handover", string(hub.HandoverWait), "what a client's calls do in a tab that it holds while you use it by hand: wait (until you have finished), fail or ignore")
	f.StringVar(&c.room, "room", string(hub.RoomGroup), "where the tabs go that a client opens: group (a tab group of its own) or none (anywhere)")
	f.StringVar(&c.roomEnd, "room-end", string(hub.RoomKeep), "what becomes of these tabs when the client has ended: keep, or close (but for those that you have used)")
	f.BoolVar(&c.labelResults, "label-results", false, "put the texts of pages that models read between lines that say whose they are")
	f.StringVar(&c.policy, "policy", "", "the `mode` that holds where no rule does: open, careful, ask or read-only (default: what tabhub policy mode has set, else careful)")
	f.StringVar(&c.policyFile, "policy-file", "", "`file` with rules that win over those of tabhub policy; read again when it changes")
	c.logKeep, c.logMax = age(record.DefaultKeep), record.DefaultMax
	f.Var(&c.logKeep, "log-keep", "how long the record of what was done is kept")
	f.Var(&c.logMax, "log-max", "how large the record may become; what is oldest goes")
	f.BoolVar(&c.logPayloads, "log-payloads", false, "record the arguments and results of calls, too, less what looks like a secret")
	f.StringSliceVar(&c.tools, "tools", nil, "the hub's own tools: a name switches one on, -name off (such as -browser_page)")
	f.StringSliceVar(&c.ask, "ask", []string{"browser", "client", "dashboard"}, "who asks you what the policy leaves to you, in this order: browser (a window of a paired one), client (the MCP client, if no browser is paired or it comes first), dashboard (that, or tabhub approve --watch)")
	f.StringVar(&c.browser, "browser-program", "", "program `file` of the Chromium or Chrome to start (default: the first that is found)")
	f.BoolVar(&c.launchBrowser, "launch-browser", false, "start a browser of its own with the extension")
	f.StringVar(&c.metrics, "metrics", "owner", "who may read /metrics: owner (with a credential) or open (every program on this machine)")
	f.BoolVar(&c.demo, "demo", false, "join a demo shop, so that there are tools at once")
	f.StringVar(&c.logLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&c.logFormat, "log-format", formatText, "how the hub's log is written: text, or json, an object a line")
	f.DurationVar(&c.idleExit, "idle-exit", 0, "end when there was no client for so long; 0 for never (a hub that stdio starts: 15m)")
	f.MarkHidden("plain-names")

	groupFlags(f, "Where the hub is, and who may come", "listen", "public-url", "behind-proxy", "tls-cert", "tls-key", "allow-origin", "allow-host", "extension-id")
	groupFlags(f, "Who clients are", "auth", "jwt-secret", "jwks", "jwt-issuer", "jwt-audience")
	groupFlags(f, "What a user may take", "user-rate", "user-sockets", "user-calls")
	groupFlags(f, "A cluster of hubs", clusterFlags...)
	groupFlags(f, "What clients list", "expose", "expose-budget", "tab-names", "name-limit", "plain-names", "tools", "demo")
	groupFlags(f, "What clients may do", "policy", "policy-file", "ask")
	groupFlags(f, "Calls", "call-timeout", "call-timeout-max", "person-timeout", "task-after", "label-results")
	groupFlags(f, "Tabs of clients", "handover", "room", "room-end")
	groupFlags(f, "Browsers that the hub starts", "browser-program", "launch-browser")
	groupFlags(f, "What is written down and counted", "log-keep", "log-max", "log-payloads", "log-level", "log-format", "metrics")
	groupFlags(f, "The process", "idle-exit")
}

// check finds what is wrong with the flags alone.
func (c *config) check() error {
	switch {
	case c.auth != "token" && c.auth != "jwt" && c.auth != "none":
		return usagef("--auth is %q; it may be token, jwt or none", c.auth)
	case c.auth == "jwt" && (c.jwtSecret == "") == (c.jwks == ""):
		return usagef("--auth jwt needs either --jwt-secret FILE or --jwks FILE-OR-URL")
	case c.auth != "jwt" && (c.jwtSecret != "" || c.jwks != ""):
		return usagef("--jwt-secret and --jwks are for --auth jwt")
	case c.auth != "jwt" && (c.jwtIssuer != "" || len(c.jwtAudiences) > 0):
		return usagef("--jwt-issuer and --jwt-audience are for --auth jwt")
	case c.limits.Rate < 0 || c.limits.Sockets < 0 || c.limits.Calls < 1:
		return usagef("--user-calls must be above 0, and --user-rate and --user-sockets not below")
	case c.auth != "jwt" && (c.limits.Rate != defaultUserRate || c.limits.Sockets != defaultUserSockets || c.limits.Calls != spec.MaxCallsPerHub):
		return usagef("--user-rate, --user-sockets and --user-calls are for --auth jwt, where several users share the hub")
	case c.jwks != "" && (c.jwtIssuer == "" || len(c.jwtAudiences) == 0):
		return usagef("--jwks needs --jwt-issuer and --jwt-audience, or tokens that the issuer of the keys made for other services would open this hub; pass the iss and the aud of those that are for it")
	case c.logFormat != formatText && c.logFormat != formatJSON:
		return usagef("--log-format is %q; it may be text or json", c.logFormat)
	case (c.tlsCert == "") != (c.tlsKey == ""):
		return usagef("--tls-cert and --tls-key go together")
	case c.tabNames != string(hub.TabNamesAuto) && c.tabNames != string(hub.TabNamesAlways) && c.tabNames != string(hub.TabNamesNever):
		return usagef("--tab-names is %q; it may be auto, always or never", c.tabNames)
	case c.expose != string(mcpserver.ExposeAll) && c.expose != string(mcpserver.ExposeProxy) && c.expose != string(mcpserver.ExposeAuto):
		return usagef("--expose is %q; it may be all, proxy or auto", c.expose)
	case c.exposeBudget < 1:
		return usagef("--expose-budget is %d; it must be above 0", c.exposeBudget)
	case c.launchBrowser && c.auth == "jwt":
		return usagef("--launch-browser is for a hub on one's own machine, not for --auth jwt")
	case c.nameLimit != 0 && (c.nameLimit < naming.MinLimit || c.nameLimit > 128):
		return usagef("--name-limit is %d; it may be %d to 128", c.nameLimit, naming.MinLimit)
	case c.callTimeout <= 0 || c.callTimeoutMax < c.callTimeout:
		return usagef("--call-timeout (%s) must be above 0 and not above --call-timeout-max (%s)", c.callTimeout, c.callTimeoutMax)
	case time.Duration(c.logKeep) < time.Hour:
		return usagef("--log-keep is %s; it must be an hour or more, such as 90d", &c.logKeep)
	case c.logMax < 1<<20:
		return usagef("--log-max is %s; it must be 1MiB or more", &c.logMax)
	case c.personTimeout <= 0:
		return usagef("--person-timeout is %s; it must be above 0", c.personTimeout)
	case c.taskAfter <= 0:
		return usagef("--task-after is %s; it must be above 0", c.taskAfter)
	case !among(c.handover, hub.HandoverWait, hub.HandoverFail, hub.HandoverIgnore):
		return usagef("--handover is %q; it may be wait, fail or ignore", c.handover)
	case !among(c.room, hub.RoomGroup, hub.RoomNone):
		return usagef("--room is %q; it may be group or none", c.room)
	case !among(c.roomEnd, hub.RoomKeep, hub.RoomClose):
		return usagef("--room-end is %q; it may be keep or close", c.roomEnd)
	case c.metrics != "owner" && c.metrics != "open":
		return usagef("--metrics is %q; it may be owner or open", c.metrics)
	case c.metrics == "open" && (c.behindProxy || c.publicURL != ""):
		return usagef("--metrics open is for this machine only; through a proxy everybody would read them. Have Prometheus send the token (`tabhub token`) as authorization")
	case c.auth == "none" && (c.behindProxy || c.publicURL != ""):
		return usagef("--auth none is for this machine only; a hub that others reach through a proxy needs --auth token or jwt")
	}
	if err := c.cluster.check(); err != nil {
		return err
	}
	if _, err := consent.ParseAskers(c.ask); err != nil {
		return usagef("--ask: %w", err)
	}
	if c.policy != "" {
		if err := new(policy.Mode).UnmarshalText([]byte(c.policy)); err != nil {
			return usagef("--policy: %w", err)
		}
	}
	if c.browser != "" || c.launchBrowser {
		if err := instance.Available(c.browser); err != nil {
			return &usageError{err}
		}
	}
	for _, addr := range c.listen {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return usagef("--listen %q is not an address; write it as 127.0.0.1:3300", addr)
		}
		if !c.reachable() && !isLoopback(host) {
			return usagef("--listen %s is open to the network: it needs --tls-cert and --tls-key, or --behind-proxy", addr)
		}
		if c.metrics == "open" && !isLoopback(host) {
			return usagef("--listen %s is open to the network, and --metrics open is for hubs that only this machine reaches. Have Prometheus send the token (`tabhub token`) as authorization", addr)
		}
		if c.auth == "none" && !isLoopback(host) {
			return usagef("--listen %s is open to the network: it needs a credential, not --auth none", addr)
		}
	}
	if _, err := httpd.NewGuard(c.guardOptions()); err != nil {
		return &usageError{err}
	}
	_, err := c.level()
	return err
}

// among reports whether the value of a flag is one of the choices.
func among[T ~string](value string, choices ...T) bool { return slices.Contains(choices, T(value)) }

// guardOptions says whom the hub listens to, less the verifier.
func (c *config) guardOptions() httpd.GuardOptions {
	return httpd.GuardOptions{
		Accounts:     c.auth == "jwt",
		AllowOrigins: c.allowOrigins,
		AllowHosts:   c.allowHosts,
		Companion:    extension.ID,
		Extensions:   c.extensions,
		PublicURL:    c.publicURL,
		BehindProxy:  c.behindProxy,
		OpenMetrics:  c.metrics == "open",
	}
}

// reachable reports whether the hub may be reached from other machines.
func (c *config) reachable() bool { return c.tlsCert != "" || c.behindProxy }

// isLoopback reports whether a host to listen on is of this machine only.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (c *config) level() (slog.Level, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(c.logLevel)); err != nil {
		return l, usagef("--log-level is %q; it may be debug, info, warn or error", c.logLevel)
	}
	return l, nil
}

// dir returns the data directory, which may not exist yet.
func (a *app) dir() (home.Dir, error) {
	if a.config.dataDir != "" {
		return home.Abs(a.config.dataDir)
	}
	d, err := home.Default(a.env)
	if err != nil {
		return "", &usageError{err}
	}
	return d, nil
}

// command is one of tabhub's commands, to be pasted: it is for the same data directory.
func (c *config) command(words ...string) string {
	words = append([]string{"tabhub"}, words...)
	if c.dataDir != "" {
		words = append(words, "--data-dir", c.dataDir)
	}
	return shell.Here(words...)
}

// The values of --log-format.
const (
	formatText = "text"
	formatJSON = "json"
)

// logger logs to stderr.
func (a *app) logger() *slog.Logger {
	level, err := a.config.level()
	if err != nil {
		level = slog.LevelInfo // checked before
	}
	o := &slog.HandlerOptions{Level: level}
	if a.config.logFormat == formatJSON {
		return slog.New(slog.NewJSONHandler(visibleJSON{a.stderr}, o))
	}
	return slog.New(slog.NewTextHandler(a.err, o))
}

// say tells who started the command something, beside what is logged: in the log where
// programs read that.
func (a *app) say(level slog.Level, text string) {
	if a.config.logFormat == formatJSON {
		a.logger().Log(context.Background(), level, text)
		return
	}
	a.note("%s", text)
}

// flagsOfChild returns the flags of the command line and the environment for a hub that this process
// starts, and its environment. The addresses of NATS are in that: they may have a password, and
// others can read command lines.
func flagsOfChild(f *pflag.FlagSet) (args, env []string) {
	const name = "cluster"
	args = slices.DeleteFunc(passOn(f), func(arg string) bool { return strings.HasPrefix(arg, "--"+name+"=") })
	env = os.Environ()
	if nats := f.Lookup(name); nats.Changed {
		list := nats.Value.String() // in brackets
		env = append(env, envName(name)+"="+list[1:len(list)-1])
	}
	return args, env
}

// passOn returns the flags of the command line and the environment, for a hub that
// this process starts, or has the system start.
func passOn(f *pflag.FlagSet) []string {
	var args []string
	f.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "standalone", "browser", "data-dir", "help", "auto", "service":
			return
		case "tls-cert", "tls-key", "jwt-secret", "jwks", "browser-program", "policy-file", "cluster-secret", "cluster-creds", "cluster-ca":
			// The hub runs in another directory; a browser without one is in the PATH.
			inPath := f.Name == "browser-program" && filepath.Base(f.Value.String()) == f.Value.String()
			if path, err := filepath.Abs(f.Value.String()); err == nil && !inPath && !strings.Contains(f.Value.String(), "://") {
				args = append(args, "--"+f.Name+"="+path)
				return
			}
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				args = append(args, "--"+f.Name+"="+v)
			}
			return
		}
		args = append(args, "--"+f.Name+"="+f.Value.String())
	})
	return args
}
