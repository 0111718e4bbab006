package cli

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/describe"
	"tabhub/hub/face/admin"
	"tabhub/spec"
)

func CallCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "call NAME [ARGUMENTS...]",
		Short: "Call a tool, get a prompt, or read a resource",
		Long: `Call a tool, get a prompt, or read a resource of a page.

The arguments of a tool are a JSON object, or - to read it from stdin; those of a prompt are
written as KEY=VALUE. A resource has its URI for a name.`,
		Example: `  tabhub call website_tool_shop_example_com__search '{"query":"tea"}'
  tabhub call website_tool_shop_example_com__search - --json < arguments.json
  tabhub call website_prompt_shop_example_com__choose_gift occasion=birthday budget=30
  tabhub call tabhub://shop.example.com/shop://cart`,
		Args: command.Args(cobra.MinimumNArgs(1)),
	}
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		switch {
		case strings.Contains(pos[0], "://") && len(pos) == 1:
			return readResource(cmd.Context(), a, pos[0], *asJSON)
		case strings.HasPrefix(pos[0], "website_prompt_"):
			return getPrompt(cmd.Context(), a, pos[0], pos[1:], *asJSON)
		case len(pos) > 2:
			return command.Usagef("%q is one word too many; put the arguments of a tool into one JSON object, in quotes", pos[2])
		}
		arguments, err := arguments(a, pos[1:])
		if err != nil {
			return err
		}
		result, err := CallTool(cmd.Context(), a, admin.CallRequest{Name: pos[0], Arguments: arguments})
		if err != nil {
			return err
		}
		if *asJSON {
			return a.PrintAnswer(result, nil)
		}
		return printResult(a, result)
	}
	return cmd
}

func arguments(a *command.App, pos []string) (json.RawMessage, error) {
	if len(pos) == 0 {
		return nil, nil
	}
	text := []byte(pos[0])
	if pos[0] == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(a.In, spec.MaxFrame)); err != nil {
			return nil, err
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return nil, command.Usagef("the arguments must be a JSON object, such as '{\"query\":\"tea\"}'")
	}
	return text, nil
}

// errToolFailed makes the command fail like the tool whose words were printed.
var errToolFailed = errors.New("the tool reports an error")

// printResult prints the text of a result, and what else there is by kind.
func printResult(a *command.App, b []byte) error {
	var result struct {
		Content           []command.Content
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(b, &result); err != nil {
		return fmt.Errorf("the tool's result makes no sense: %w", err)
	}
	if f, ok := command.FailureOf(b); ok && a.OnTerminal() {
		return f
	}
	for i := range result.Content {
		printContent(a, &result.Content[i])
	}
	switch {
	case len(result.Content) > 0:
	case result.StructuredContent != nil:
		fmt.Fprintf(a.Out, "%s\n", describe.VisibleJSON(result.StructuredContent))
	case !result.IsError:
		a.Note("done; the tool has returned nothing")
	}
	if result.IsError {
		return errToolFailed
	}
	return nil
}

func printContent(a *command.App, c *command.Content) {
	switch c.Type {
	case "text":
		fmt.Fprintln(a.Out, c.Text)
	case "image", "audio":
		printBytes(a, c.Type, c.MimeType, c.Data)
	case "resource":
		fmt.Fprintf(a.Out, "[%s]\n%s\n", c.Resource.URI, c.Resource.Text)
	case "resource_link":
		fmt.Fprintf(a.Out, "[%s]\n", c.URI)
	default:
		fmt.Fprintf(a.Out, "[%s; --json prints it]\n", c.Type)
	}
}

// printBytes says what there is that is no text.
func printBytes(a *command.App, what, mimeType, data string) {
	fmt.Fprintf(a.Out, "[%s, %s, about %d bytes; --json prints it]\n", what, mimeType, base64.StdEncoding.DecodedLen(len(data)))
}
