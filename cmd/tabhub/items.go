package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/httpd"
)

func (a *app) resourcesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "resources",
		Short:   "List the resources that pages offer, and the templates of their URIs",
		Example: "  tabhub resources\n  tabhub resources --json",
		Args:    args(cobra.NoArgs),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return show(cmd.Context(), a, "/api/resources", nil, *asJSON, func(all []httpd.ItemReport) error {
			if len(all) == 0 {
				return a.printNone(cmd.Context(), "resources")
			}
			t := a.table("URI", "DESCRIPTION")
			for _, r := range all {
				t.Row(r.Name, terminal.OneLine(description(r.Definition), maxDescription))
			}
			return t.Print()
		})
	}
	return cmd
}

func (a *app) readCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "read URI",
		Short: "Read a resource of a page",
		Example: `  tabhub read tabhub://shop.example.com/shop://cart
  tabhub read --json tabhub://shop.example.com/shop://products/7`,
		Args: args(cobra.ExactArgs(1)),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		r, err := a.remote()
		if err != nil {
			return err
		}
		b, err := r.do(cmd.Context(), http.MethodGet, "/api/resource?uri="+url.QueryEscape(pos[0]), nil)
		if err != nil || *asJSON {
			return a.printAnswer(b, err)
		}
		var result struct {
			Contents []struct{ URI, MimeType, Text, Blob string }
		}
		if err := decode(b, &result); err != nil {
			return err
		}
		for _, c := range result.Contents {
			if len(result.Contents) > 1 {
				fmt.Fprintf(a.out, "[%s]\n", c.URI)
			}
			if c.Blob != "" {
				a.printBytes("a resource", c.MimeType, c.Blob)
				continue
			}
			fmt.Fprintln(a.out, c.Text)
		}
		return nil
	}
	return cmd
}

func (a *app) promptsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "prompts",
		Short:   "List the prompts that pages offer, and their arguments",
		Example: "  tabhub prompts\n  tabhub prompts --json",
		Args:    args(cobra.NoArgs),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return show(cmd.Context(), a, "/api/prompts", nil, *asJSON, func(all []httpd.ItemReport) error {
			if len(all) == 0 {
				return a.printNone(cmd.Context(), "prompts")
			}
			t := a.table("NAME", "ARGUMENTS", "DESCRIPTION")
			for _, p := range all {
				t.Row(p.Name, strings.Join(promptArguments(p.Definition), " "), terminal.OneLine(description(p.Definition), maxDescription))
			}
			return t.Print()
		})
	}
	return cmd
}

// promptArguments returns the arguments of a prompt, those in brackets that may be left out.
func promptArguments(definition json.RawMessage) (names []string) {
	var p struct {
		Arguments []struct {
			Name     string
			Required bool
		}
	}
	json.Unmarshal(definition, &p)
	for _, arg := range p.Arguments {
		if !arg.Required {
			arg.Name = "[" + arg.Name + "]"
		}
		names = append(names, arg.Name)
	}
	return names
}

func (a *app) promptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "prompt NAME [KEY=VALUE...]",
		Short:   "Get a prompt of a page, with arguments",
		Example: `  tabhub prompt website_prompt_shop_example_com__choose_gift occasion=birthday budget=30`,
		Args:    args(cobra.MinimumNArgs(1)),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		in := httpd.PromptRequest{Name: pos[0]}
		for _, pair := range pos[1:] {
			key, value, ok := strings.Cut(pair, "=")
			if !ok || key == "" {
				return usagef("%q is no argument; write it as KEY=VALUE", pair)
			}
			if in.Arguments == nil {
				in.Arguments = make(map[string]string)
			}
			in.Arguments[key] = value
		}
		r, err := a.remote()
		if err != nil {
			return err
		}
		b, err := r.do(cmd.Context(), http.MethodPost, "/api/prompt", in)
		if err != nil || *asJSON {
			return a.printAnswer(b, err)
		}
		var result struct {
			Messages []struct {
				Role    string
				Content content
			}
		}
		if err := decode(b, &result); err != nil {
			return err
		}
		for _, m := range result.Messages {
			fmt.Fprintf(a.out, "[%s]\n", m.Role)
			a.printContent(&m.Content)
		}
		return nil
	}
	return cmd
}
