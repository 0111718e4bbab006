package cli

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/face/admin"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/storage"
)

func SiteCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "site [DOMAIN]",
		Short: "Show or change the settings of a site",
		Long: `Show or change the settings of a site.

With --cache on, the site's tools stay listed when its last tab closes, and a call
opens the site again. A client that has read a site with --private on does something at
another one only if you say so, each time or by "tabhub policy flow".

--check says which arguments of a call are refused: with strict all that do not fit the
tool's schema; with off none; and with lenient, the default, what the page could not judge
itself: a missing argument, one of another type, and one that the schema does not know.
Other values, such as one that misses a pattern, go to the page, and if it fails, its
answer says what did not fit.`,
		Example: `  tabhub site
  tabhub site shop.example.com --cache on --call-timeout 2m
  tabhub site mail.example.com --private on`,
		Args: command.Args(cobra.MaximumNArgs(1)),
	}
	asJSON := command.JSONFlag(cmd)
	cache := cmd.Flags().String("cache", "", "keep the tools when the last tab closes: on, off or default")
	timeout := cmd.Flags().Duration("call-timeout", 0, "how long a call may take without progress; 0 for the default")
	check := cmd.Flags().String("check", "", "which arguments are refused: strict, lenient (the default) or off")
	private := cmd.Flags().String("private", "", "ask before a client that has read it does something at another site: on or off")
	settings := []string{"cache", "call-timeout", "check", "private"}
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		change := slices.ContainsFunc(settings, cmd.Flags().Changed)
		if len(pos) > 0 && !naming.IsDomain(spec.Domain(pos[0])) {
			if key, err := naming.DomainOf(pos[0], true); err == nil {
				return command.Usagef("%q is an address; its site is %s", pos[0], key)
			}
			return command.Usagef("%q is no site; write it as `tabhub tabs` shows it, such as example.com or localhost:5173", pos[0])
		}
		if *timeout < 0 || *timeout > spec.CallTimeoutMax {
			return command.Usagef("--call-timeout is %s; it may be up to %s, or 0 for the default", *timeout, spec.CallTimeoutMax)
		}
		if change && len(pos) == 0 {
			return command.Usagef("which site? It is used as `tabhub site DOMAIN --cache on`")
		}
		if *private != "" {
			if err := setPrivate(cmd.Context(), a, pos[0], *private); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(settings[:3], cmd.Flags().Changed) {
			err := changeSite(cmd.Context(), a, pos[0], func(s *admin.SiteSettings) error {
				if cmd.Flags().Changed("call-timeout") {
					s.CallTimeoutMs = timeout.Milliseconds()
				}
				if err := setCheck(s, *check); err != nil {
					return err
				}
				return setCache(s, *cache)
			})
			if err != nil {
				return err
			}
		}
		return command.Show(cmd.Context(), a, "/api/site", nil, *asJSON && len(pos) == 0, func(_ *command.App, sites []admin.SiteReport) error {
			if len(pos) > 0 {
				sites = []admin.SiteReport{settingsOf(sites, spec.Domain(pos[0]))}
			}
			if *asJSON {
				return a.PrintValue(sites)
			}
			return printSites(a, sites)
		})
	}
	return cmd
}

func setCache(s *admin.SiteSettings, value string) error {
	switch value {
	case "":
	case "on":
		s.Cache = new(true)
	case "off":
		s.Cache = new(false)
	case "default":
		s.Cache = nil
	default:
		return command.Usagef("--cache is %q; it may be on, off or default", value)
	}
	return nil
}

func setCheck(s *admin.SiteSettings, value string) error {
	switch check := storage.ArgumentCheck(value); check {
	case "":
	case storage.CheckStrict, storage.CheckOff:
		s.Check = check
	case storage.CheckLenient:
		s.Check = ""
	default:
		return command.Usagef("--check is %q; it may be strict, lenient or off", value)
	}
	return nil
}

// changeSite changes what f changes of a site's settings, and keeps the rest.
func changeSite(ctx context.Context, a *command.App, domain string, f func(*admin.SiteSettings) error) error {
	var s admin.SiteSettings
	err := command.Show(ctx, a, "/api/site", nil, false, func(_ *command.App, sites []admin.SiteReport) error {
		s = settingsOf(sites, spec.Domain(domain)).SiteSettings
		return nil
	})
	if err != nil {
		return err
	}
	if err := f(&s); err != nil {
		return err
	}
	return a.Send(ctx, http.MethodPut, "/api/site", s)
}

// settingsOf returns those of a site among all, which are the defaults if it has none.
func settingsOf(sites []admin.SiteReport, domain spec.Domain) admin.SiteReport {
	if i := slices.IndexFunc(sites, func(s admin.SiteReport) bool { return s.Domain == domain }); i >= 0 {
		return sites[i]
	}
	return admin.SiteReport{SiteSettings: admin.SiteSettings{Domain: domain}}
}

// setPrivate makes a site private, or no longer.
func setPrivate(ctx context.Context, a *command.App, site, value string) error {
	if value != "on" && value != "off" {
		return command.Usagef("--private is %q; it may be on or off", value)
	}
	return a.Send(ctx, http.MethodPut, "/api/policy/private", admin.PrivateSetting{Site: site, Private: value == "on"})
}

func printSites(a *command.App, sites []admin.SiteReport) error {
	if len(sites) == 0 {
		a.Note("no site has settings of its own; `tabhub site DOMAIN --cache on` gives it one")
		return nil
	}
	t := a.Table("DOMAIN", "CACHE", "CALL TIMEOUT", "CHECK", "PRIVATE")
	for _, s := range sites {
		cache, timeout := "default", "default"
		if s.Cache != nil {
			cache = map[bool]string{true: "on", false: "off"}[*s.Cache]
		}
		if s.CallTimeoutMs > 0 {
			timeout = (time.Duration(s.CallTimeoutMs) * time.Millisecond).String()
		}
		private := map[bool]string{true: "yes", false: "no"}[s.Private]
		t.Row(s.Domain, cache, timeout, cmp.Or(s.Check, storage.CheckLenient), private)
	}
	return t.Print()
}
