package settings

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/builtin/instance"
	"tabhub/hub/face/httpd"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/tabtransport/extension"
)

const (
	DefaultListen = "127.0.0.1:3300"
	// relayListen is where pages that embed the webmcp.v1 widget look first.
	RelayListen = "127.0.0.1:9333"
	DefaultIdle = 15 * time.Minute
	// defaultBudget is how many tokens a list of what pages offer may cost.
	DefaultBudget = 10_000
	// A user of a hub with accounts may make so many requests a second, and have so many
	// sockets and streams open.
	defaultUserRate    = 100
	defaultUserSockets = 256
)

// Config is how a hub is set up. settings.go says how its fields are set.
type Config struct {
	All   []*Setting // of which each sets a field
	given []string   // by --set
	Read  string     // the configuration file that was read; "" if there is none

	Listen       []string
	AllowOrigins []string
	AllowHosts   []string
	extensions   []string
	PublicURL    string
	BehindProxy  bool
	TlsCert      string
	TlsKey       string

	Auth         string
	JwtSecret    string
	Jwks         string
	JwtIssuer    string
	JwtAudiences []string

	Limits  tenant.Limits
	Cluster clusterConfig

	NameLimit      int
	TabNames       string
	PlainNames     bool
	Expose         string
	ExposeBudget   int
	CallTimeout    time.Duration
	CallTimeoutMax time.Duration
	PersonTimeout  time.Duration
	TaskAfter      time.Duration
	LabelResults   bool
	Handover       string
	Room           string
	GroupEnd       string

	Policy     string
	PolicyFile string

	Tools         []string
	Ask           []string
	Browser       string
	LaunchBrowser bool
	Uploads       []string

	LogKeep      command.Age
	LogMax       command.Size
	LogArguments command.Age
	LogPayloads  bool

	metrics   string
	Demo      bool
	logLevel  string
	logFormat string
	IdleExit  time.Duration
}

// check finds what is wrong with the settings together. Of one alone, its value says so.
func (c *Config) check() error {
	accounts, proxied := c.Auth == "jwt", c.BehindProxy || c.PublicURL != ""
	for _, wrong := range []struct {
		is   bool
		text string
	}{
		{!accounts && (c.JwtSecret != "" || c.Jwks != "" || c.JwtIssuer != "" || len(c.JwtAudiences) > 0),
			"jwt-secret, jwks, jwt-issuer and jwt-audience are for --auth jwt; set that, or leave them out"},
		{!accounts && (c.Limits.Rate != defaultUserRate || c.Limits.Sockets != defaultUserSockets || c.Limits.Calls != spec.MaxCallsPerHub),
			"user-rate, user-sockets and user-calls are for --auth jwt, where several users share the hub; leave them out"},
		{accounts && (c.JwtSecret == "") == (c.Jwks == ""),
			"--auth jwt needs either --jwt-secret FILE or the setting jwks, a file or an https address"},
		{c.Jwks != "" && (c.JwtIssuer == "" || len(c.JwtAudiences) == 0),
			"jwks needs jwt-issuer and jwt-audience, or tokens that the issuer of the keys made for other services would open this hub; set the iss and the aud of those that are for it"},
		{accounts && c.LaunchBrowser,
			"--launch-browser is for a hub on one's own machine, not for --auth jwt; leave out one of them"},
		{accounts && len(c.Uploads) > 0,
			"uploads are files of one's own machine, not for --auth jwt; leave out one of them"},
		{c.metrics == "open" && proxied,
			"metrics open is for this machine only; through a proxy everybody would read them. Have Prometheus send the token (`tabhub token`) as authorization"},
		{c.Auth == "none" && proxied,
			"--auth none is for this machine only; a hub that others reach through a proxy needs --auth token or jwt"},
		{(c.TlsCert == "") != (c.TlsKey == ""),
			"--tls-cert and --tls-key go together; set both or neither"},
		{c.CallTimeoutMax < c.CallTimeout,
			fmt.Sprintf("call-timeout (%s) must not be above call-timeout-max (%s); change one of them", c.CallTimeout, c.CallTimeoutMax)},
		{time.Duration(c.LogKeep) < time.Hour,
			fmt.Sprintf("log-keep is %s; it must be an hour or more, such as 90d", &c.LogKeep)},
		{c.LogMax < 1<<20,
			fmt.Sprintf("log-max is %s; it must be 1MiB or more", &c.LogMax)},
	} {
		if wrong.is {
			return command.Usagef("%s", wrong.text)
		}
	}
	if _, err := consent.ParseAskers(c.Ask); err != nil {
		return command.Usagef("ask: %w", err)
	}
	if c.Browser != "" || c.LaunchBrowser {
		if err := instance.Available(c.Browser); err != nil {
			return command.Usage(err)
		}
	}
	if err := c.Cluster.check(); err != nil {
		return err
	}
	return c.checkDoors()
}

// checkDoors finds listeners that are open to more than they should be.
func (c *Config) checkDoors() error {
	for _, addr := range c.Listen {
		host, _, err := net.SplitHostPort(addr)
		switch {
		case err != nil:
			return command.Usagef("--listen %q: %w", addr, checkAddress(addr))
		case IsLoopback(host):
		case !c.Reachable():
			return command.Usagef("--listen %s is open to the network: it needs --tls-cert and --tls-key, or the setting behind-proxy", addr)
		case c.metrics == "open":
			return command.Usagef("--listen %s is open to the network, and metrics open is for hubs that only this machine reaches. Have Prometheus send the token (`tabhub token`) as authorization", addr)
		case c.Auth == "none":
			return command.Usagef("--listen %s is open to the network: it needs a credential, not --auth none", addr)
		}
	}
	if _, err := httpd.NewGuard(c.GuardOptions()); err != nil {
		return command.Usage(err)
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

// GuardOptions says which requests the hub admits, without the verifier.
func (c *Config) GuardOptions() httpd.GuardOptions {
	return httpd.GuardOptions{
		Accounts:     c.Auth == "jwt",
		AllowOrigins: c.AllowOrigins,
		AllowHosts:   c.AllowHosts,
		Companion:    extension.ID,
		Extensions:   c.extensions,
		PublicURL:    c.PublicURL,
		BehindProxy:  c.BehindProxy,
		OpenMetrics:  c.metrics == "open",
	}
}

// Reachable reports whether the hub may be reached from other machines.
func (c *Config) Reachable() bool { return c.TlsCert != "" || c.BehindProxy }

// IsLoopback reports whether a host to listen on is of this machine only.
func IsLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// level is how much the hub logs.
func (c *Config) level() (l slog.Level) {
	_ = l.UnmarshalText([]byte(c.logLevel)) // its setting takes nothing else
	return l
}

// The values of log-format.
const (
	formatText = "text"
	formatJSON = "json"
)

// Logger logs to stderr.
func (c *Config) Logger(a *command.App) *slog.Logger {
	o := &slog.HandlerOptions{Level: c.level()}
	if c.logFormat == formatJSON {
		return slog.New(slog.NewJSONHandler(command.VisibleJSON{W: a.Stderr}, o))
	}
	return slog.New(slog.NewTextHandler(a.Err, o))
}

// BaseURL is the address of a hub's endpoints.
func (c *Config) BaseURL(addr string) string {
	if c.PublicURL != "" {
		return strings.TrimRight(c.PublicURL, "/")
	}
	if c.TlsCert != "" {
		return "https://" + addr
	}
	return "http://" + addr
}

// Issuer is where clients get the tokens of a hub with accounts, "" if jwt-issuer is a
// name only.
func (c *Config) Issuer() string {
	if c.Auth == "jwt" && strings.HasPrefix(c.JwtIssuer, "https://") {
		return c.JwtIssuer
	}
	return ""
}
