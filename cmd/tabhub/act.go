package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/httpd"
	"tabhub/spec"
	"tabhub/tabtransport/extension"
)

func (a *app) callCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "call NAME [ARGUMENTS]",
		Short: "Call a tool; ARGUMENTS is a JSON object, or - to read it from stdin",
		Args:  args(cobra.RangeArgs(1, 2)),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		arguments, err := a.arguments(pos[1:])
		if err != nil {
			return err
		}
		r, err := a.remote()
		if err != nil {
			return err
		}
		b, err := r.do(cmd.Context(), http.MethodPost, "/api/call", httpd.CallRequest{Name: pos[0], Arguments: arguments})
		if err != nil {
			return err
		}
		if *asJSON {
			return a.printJSON(append(bytes.TrimSpace(b), '\n'))
		}
		return a.printResult(b)
	}
	return cmd
}

func (a *app) arguments(pos []string) (json.RawMessage, error) {
	if len(pos) == 0 {
		return nil, nil
	}
	text := []byte(pos[0])
	if pos[0] == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(a.in, spec.MaxFrame)); err != nil {
			return nil, err
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return nil, usagef("the arguments must be a JSON object, such as '{\"query\":\"tea\"}'")
	}
	return text, nil
}

// errToolFailed makes the command fail like the tool whose words were printed.
var errToolFailed = errors.New("the tool reports an error")

// printResult prints the text of a result, and what else there is by kind.
func (a *app) printResult(b []byte) error {
	var result struct {
		Content []struct {
			Type, Text, Data, MimeType, URI string
			Resource                        struct{ URI, Text string }
		}
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(b, &result); err != nil {
		return fmt.Errorf("the tool's result makes no sense: %w", err)
	}
	for _, c := range result.Content {
		switch c.Type {
		case "text":
			fmt.Fprintln(a.out, c.Text)
		case "image", "audio":
			n := base64.StdEncoding.DecodedLen(len(c.Data))
			fmt.Fprintf(a.out, "[%s, %s, about %d bytes; --json prints it]\n", c.Type, c.MimeType, n)
		case "resource":
			fmt.Fprintf(a.out, "[%s]\n%s\n", c.Resource.URI, c.Resource.Text)
		case "resource_link":
			fmt.Fprintf(a.out, "[%s]\n", c.URI)
		default:
			fmt.Fprintf(a.out, "[%s; --json prints it]\n", c.Type)
		}
	}
	if len(result.Content) == 0 && result.StructuredContent != nil {
		fmt.Fprintf(a.out, "%s\n", result.StructuredContent)
	}
	if result.IsError {
		return errToolFailed
	}
	return nil
}

func (a *app) siteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "site [DOMAIN]",
		Short: "Show or change the settings of a site",
		Long: `Show or change the settings of a site.

With --cache on, the site's tools stay listed when its last tab closes, and a call
opens the site again.`,
		Args: args(cobra.MaximumNArgs(1)),
	}
	asJSON := jsonFlag(cmd)
	cache := cmd.Flags().String("cache", "", "keep the tools when the last tab closes: on, off or default")
	timeout := cmd.Flags().Duration("call-timeout", 0, "how long a call may take without progress; 0 for the default")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		change := cmd.Flags().Changed("cache") || cmd.Flags().Changed("call-timeout")
		if change && len(pos) == 0 {
			return usagef("which site? It is used as `tabhub site DOMAIN --cache on`")
		}
		if change {
			err := a.changeSite(cmd.Context(), pos[0], func(s *httpd.SiteSettings) error {
				if cmd.Flags().Changed("call-timeout") {
					s.CallTimeoutMs = timeout.Milliseconds()
				}
				return setCache(s, *cache)
			})
			if err != nil {
				return err
			}
		}
		return show(cmd.Context(), a, "/api/site", nil, *asJSON, func(sites []httpd.SiteSettings) error {
			return a.printSites(sites, pos)
		})
	}
	return cmd
}

func setCache(s *httpd.SiteSettings, value string) error {
	switch value {
	case "":
	case "on":
		s.Cache = new(true)
	case "off":
		s.Cache = new(false)
	case "default":
		s.Cache = nil
	default:
		return usagef("--cache is %q; it may be on, off or default", value)
	}
	return nil
}

// changeSite changes what f changes of a site's settings, and keeps the rest.
func (a *app) changeSite(ctx context.Context, domain string, f func(*httpd.SiteSettings) error) error {
	s := httpd.SiteSettings{Domain: spec.Domain(domain)}
	err := show(ctx, a, "/api/site", nil, false, func(sites []httpd.SiteSettings) error {
		for _, known := range sites {
			if known.Domain == s.Domain {
				s = known
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := f(&s); err != nil {
		return err
	}
	r, err := a.remote()
	if err != nil {
		return err
	}
	_, err = r.do(ctx, http.MethodPut, "/api/site", s)
	return err
}

func (a *app) printSites(sites []httpd.SiteSettings, only []string) error {
	return a.table("DOMAIN\tCACHE\tCALL TIMEOUT", func(w io.Writer) {
		for _, s := range sites {
			if len(only) > 0 && string(s.Domain) != only[0] {
				continue
			}
			cache, timeout := "default", "default"
			if s.Cache != nil {
				cache = map[bool]string{true: "on", false: "off"}[*s.Cache]
			}
			if s.CallTimeoutMs > 0 {
				timeout = (time.Duration(s.CallTimeoutMs) * time.Millisecond).String()
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", s.Domain, cache, timeout)
		}
	})
}

// stopWait is how long stop waits for the hub to end.
const stopWait = 15 * time.Second

func (a *app) stopCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "End the hub",
		Long: `End the hub. Calls that are under way are answered first. Clients stay connected;
their next request starts a hub again.`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.dir()
			if err != nil {
				return err
			}
			if !dir.Held(home.HubLock) {
				fmt.Fprintln(a.err, "no hub is running")
				return nil
			}
			if err := a.askToStop(cmd.Context()); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), stopWait)
			defer cancel()
			lock, err := dir.Lock(ctx, home.HubLock)
			if err != nil {
				return fmt.Errorf("the hub has not ended within %s; %s may say why", stopWait, dir.LogFile())
			}
			lock.Unlock()
			return nil
		},
	}
}

// askToStop asks the hub, and if that cannot be asked over the network, its process.
func (a *app) askToStop(ctx context.Context) error {
	r, err := a.remote()
	if err != nil {
		return err
	}
	_, err = r.do(ctx, http.MethodPost, "/api/stop", map[string]string{"reason": "stop"})
	if err == nil {
		return nil
	}
	p, e := os.FindProcess(r.hub.PID)
	if e != nil {
		return err
	}
	if e := p.Signal(os.Interrupt); e != nil {
		return fmt.Errorf("%w; and process %d cannot be told to end: %w", err, r.hub.PID, e)
	}
	return nil
}

func (a *app) tokenCommand() *cobra.Command {
	var asURL bool
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print the token that clients send",
		Args:  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			dir, err := a.dir()
			if err != nil {
				return err
			}
			token, err := dir.Token()
			if err != nil {
				return err
			}
			if !asURL {
				fmt.Fprintln(a.out, token)
				return nil
			}
			h, err := dir.Running()
			if err != nil {
				return errors.New("no hub is running, so there is no dashboard; start one with `tabhub serve`")
			}
			fmt.Fprintf(a.out, "%s/?token=%s\n", h.URL(), token)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asURL, "url", false, "print the dashboard's address with the token")
	cmd.AddCommand(a.mintCommand(), &cobra.Command{
		Use:   "rotate",
		Short: "Replace the token; clients that send the old one are refused from then on",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.rotateToken(cmd.Context()) },
	})
	return cmd
}

// rotateToken has the hub replace the token, or does so if none runs.
func (a *app) rotateToken(ctx context.Context) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	if err := dir.Make(); err != nil {
		return err
	}
	lock, err := dir.TryLock(home.HubLock)
	switch {
	case err == nil:
		defer lock.Unlock()
		_, err = dir.NewToken()
	case errors.Is(err, home.ErrHeld):
		var r *remote
		if r, err = a.remote(); err == nil {
			_, err = r.do(ctx, http.MethodPost, "/api/token", nil)
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(a.err, "the token is replaced; `tabhub token` prints it. Clients over HTTP must be told, `tabhub stdio` finds it.")
	return nil
}

func (a *app) extensionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "extension DIR",
		Short: "Write the browser extension to a directory, for \"Load unpacked\"",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, pos []string) error {
			if err := extension.Write(pos[0]); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "The extension is in %s.\nOpen chrome://extensions, switch on Developer mode, choose \"Load unpacked\" and this directory.\n", pos[0])
			return nil
		},
	}
}
