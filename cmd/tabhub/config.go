package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/hub/builtin/instance"
	"tabhub/hub/face/httpd"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/consent"
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

// config is how a hub is set up. settings.go says how its fields are set.
type config struct {
	all   []*setting // of which each sets a field
	given []string   // by --set
	read  string     // the configuration file that was read; "" if there is none

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
	idleExit  time.Duration
}

// check finds what is wrong with the settings together. Of one alone, its value says so.
func (c *config) check() error {
	for _, check := range []func() error{c.checkAccounts, c.checkOwnMachine, c.checkValues, c.cluster.check, c.checkDoors} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *config) checkAccounts() error {
	accounts := c.auth == "jwt"
	ofTokens := c.jwtSecret != "" || c.jwks != "" || c.jwtIssuer != "" || len(c.jwtAudiences) > 0
	ofShares := c.limits.Rate != defaultUserRate || c.limits.Sockets != defaultUserSockets || c.limits.Calls != spec.MaxCallsPerHub
	switch {
	case !accounts && ofTokens:
		return usagef("jwt-secret, jwks, jwt-issuer and jwt-audience are for --auth jwt; set that, or leave them out")
	case !accounts && ofShares:
		return usagef("user-rate, user-sockets and user-calls are for --auth jwt, where several users share the hub; leave them out")
	case accounts && (c.jwtSecret == "") == (c.jwks == ""):
		return usagef("--auth jwt needs either --jwt-secret FILE or the setting jwks, a file or an https address")
	case c.jwks != "" && (c.jwtIssuer == "" || len(c.jwtAudiences) == 0):
		return usagef("jwks needs jwt-issuer and jwt-audience, or tokens that the issuer of the keys made for other services would open this hub; set the iss and the aud of those that are for it")
	}
	return nil
}

// checkOwnMachine finds what is for a hub on one's own machine alone.
func (c *config) checkOwnMachine() error {
	proxied := c.behindProxy || c.publicURL != ""
	switch {
	case c.launchBrowser && c.auth == "jwt":
		return usagef("--launch-browser is for a hub on one's own machine, not for --auth jwt; leave out one of them")
	case c.metrics == "open" && proxied:
		return usagef("metrics open is for this machine only; through a proxy everybody would read them. Have Prometheus send the token (`tabhub token`) as authorization")
	case c.auth == "none" && proxied:
		return usagef("--auth none is for this machine only; a hub that others reach through a proxy needs --auth token or jwt")
	}
	return nil
}

func (c *config) checkValues() error {
	switch {
	case (c.tlsCert == "") != (c.tlsKey == ""):
		return usagef("--tls-cert and --tls-key go together; set both or neither")
	case c.callTimeoutMax < c.callTimeout:
		return usagef("call-timeout (%s) must not be above call-timeout-max (%s); change one of them", c.callTimeout, c.callTimeoutMax)
	case time.Duration(c.logKeep) < time.Hour:
		return usagef("log-keep is %s; it must be an hour or more, such as 90d", &c.logKeep)
	case c.logMax < 1<<20:
		return usagef("log-max is %s; it must be 1MiB or more", &c.logMax)
	}
	if _, err := consent.ParseAskers(c.ask); err != nil {
		return usagef("ask: %w", err)
	}
	if c.browser != "" || c.launchBrowser {
		if err := instance.Available(c.browser); err != nil {
			return &usageError{err}
		}
	}
	return nil
}

// checkDoors finds listeners that are open to more than they should be.
func (c *config) checkDoors() error {
	for _, addr := range c.listen {
		host, _, err := net.SplitHostPort(addr)
		switch {
		case err != nil:
			return usagef("--listen %q: %w", addr, checkAddress(addr))
		case isLoopback(host):
		case !c.reachable():
			return usagef("--listen %s is open to the network: it needs --tls-cert and --tls-key, or the setting behind-proxy", addr)
		case c.metrics == "open":
			return usagef("--listen %s is open to the network, and metrics open is for hubs that only this machine reaches. Have Prometheus send the token (`tabhub token`) as authorization", addr)
		case c.auth == "none":
			return usagef("--listen %s is open to the network: it needs a credential, not --auth none", addr)
		}
	}
	if _, err := httpd.NewGuard(c.guardOptions()); err != nil {
		return &usageError{err}
	}
	return nil
}

// checkAddress returns an error if that is no address to listen on.
func checkAddress(addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return errors.New("it is not an address; write it as 127.0.0.1:3300")
	}
	return nil
}

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

// level is how much the hub logs.
func (c *config) level() (l slog.Level) {
	_ = l.UnmarshalText([]byte(c.logLevel)) // its setting takes nothing else
	return l
}

// dir returns the data directory, which may not exist yet.
func (a *app) dir() (home.Dir, error) {
	if a.dataDir != "" {
		return home.Abs(a.dataDir)
	}
	d, err := home.Default(a.env)
	if err != nil {
		return "", &usageError{err}
	}
	return d, nil
}

// command is one of tabhub's commands, to be pasted: it is for the same data directory.
func (a *app) tabhub(words ...string) string {
	words = append([]string{"tabhub"}, words...)
	if a.dataDir != "" {
		words = append(words, "--data-dir", a.dataDir)
	}
	return shell.Here(words...)
}

// The values of log-format.
const (
	formatText = "text"
	formatJSON = "json"
)

// logger logs to stderr.
func (c *config) logger(a *app) *slog.Logger {
	o := &slog.HandlerOptions{Level: c.level()}
	if c.logFormat == formatJSON {
		return slog.New(slog.NewJSONHandler(visibleJSON{a.stderr}, o))
	}
	return slog.New(slog.NewTextHandler(a.err, o))
}

// say tells who started the command something, beside what is logged: in the log where
// programs read that.
func (a *app) say(level slog.Level, text string) {
	if a.jsonLog != nil {
		a.jsonLog.Log(context.Background(), level, text)
		return
	}
	a.note("%s", text)
}
