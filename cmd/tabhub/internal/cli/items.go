package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/face/admin"
)

// listResources lists the resources that pages offer, and the templates of their URIs.
func listResources(ctx context.Context, a *command.App, asJSON bool) error {
	return command.Show(ctx, a, "/api/resources", nil, asJSON, func(_ *command.App, all []admin.ItemReport) error {
		if len(all) == 0 {
			return printNone(ctx, a, "resources")
		}
		t := a.Table("URI", "DESCRIPTION")
		for _, r := range all {
			t.Row(r.Name, terminal.OneLine(description(r.Definition), maxDescription))
		}
		return t.Print()
	})
}

// listPrompts lists the prompts that pages offer, and their arguments.
func listPrompts(ctx context.Context, a *command.App, asJSON bool) error {
	return command.Show(ctx, a, "/api/prompts", nil, asJSON, func(_ *command.App, all []admin.ItemReport) error {
		if len(all) == 0 {
			return printNone(ctx, a, "prompts")
		}
		t := a.Table("NAME", "ARGUMENTS", "DESCRIPTION")
		for _, p := range all {
			var takes []string
			for _, arg := range promptArguments(p.Definition) {
				takes = append(takes, arg.String())
			}
			t.Row(p.Name, strings.Join(takes, " "), terminal.OneLine(description(p.Definition), maxDescription))
		}
		return t.Print()
	})
}

// readResource prints a resource.
func readResource(ctx context.Context, a *command.App, uri string, asJSON bool) error {
	b, err := a.Do(ctx, http.MethodGet, "/api/resource?uri="+url.QueryEscape(uri), nil)
	if err != nil || asJSON {
		return a.PrintAnswer(b, err)
	}
	var result struct {
		Contents []struct{ URI, MimeType, Text, Blob string }
	}
	if err := command.Decode(b, &result); err != nil {
		return err
	}
	for _, c := range result.Contents {
		if len(result.Contents) > 1 {
			fmt.Fprintf(a.Out, "[%s]\n", c.URI)
		}
		if c.Blob != "" {
			printBytes(a, "a resource", c.MimeType, c.Blob)
			continue
		}
		fmt.Fprintln(a.Out, c.Text)
	}
	return nil
}

// promptArgument is an argument of a prompt.
type promptArgument struct {
	Name, Description string
	Required          bool
}

// String puts the name in brackets if it may be left out.
func (p promptArgument) String() string {
	if p.Required {
		return p.Name
	}
	return "[" + p.Name + "]"
}

func promptArguments(definition json.RawMessage) []promptArgument {
	var p struct{ Arguments []promptArgument }
	json.Unmarshal(definition, &p)
	return p.Arguments
}

// getPrompt prints a prompt, with arguments as KEY=VALUE.
func getPrompt(ctx context.Context, a *command.App, name string, arguments []string, asJSON bool) error {
	in := admin.PromptRequest{Name: name}
	for _, pair := range arguments {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return command.Usagef("%q is no argument of a prompt; write it as KEY=VALUE", pair)
		}
		if in.Arguments == nil {
			in.Arguments = make(map[string]string)
		}
		in.Arguments[key] = value
	}
	b, err := a.Do(ctx, http.MethodPost, "/api/prompt", in)
	if err != nil || asJSON {
		return a.PrintAnswer(b, err)
	}
	var result struct {
		Messages []struct {
			Role    string
			Content command.Content
		}
	}
	if err := command.Decode(b, &result); err != nil {
		return err
	}
	for _, m := range result.Messages {
		fmt.Fprintf(a.Out, "[%s]\n", m.Role)
		printContent(a, &m.Content)
	}
	return nil
}
