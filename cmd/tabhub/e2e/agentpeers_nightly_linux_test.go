//go:build nightly

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

func init() {
	alone = true
	ways = append(ways,
		way{lookAndAct + ", Playwright MCP", "", startPlaywright(), withAgent(func(m *meter) eyes { return &playwright{m: m} })},
		way{lookAndAct + ", Playwright MCP with --codegen none --snapshot-mode none", "", startPlaywright("--codegen", "none", "--snapshot-mode", "none"), withAgent(func(m *meter) eyes { return &playwright{m: m} })},
		way{lookAndAct + ", chrome-devtools-mcp", "", startDevtools, withAgent(func(m *meter) eyes { return &devtools{m: m} })},
	)
}

func startPlaywright(more ...string) func(t *testing.T) *meter {
	return func(t *testing.T) *meter {
		args := []string{nodeModule(t, "@playwright/mcp/cli.js"), "--headless", "--isolated", "--no-sandbox", "--executable-path", chromium.Require(t), "--output-dir", t.TempDir()}
		cmd := node(t, append(args, more...)...)
		cmd.Dir = taskFiles(t) // from which it uploads
		m := measure(t, cmd)
		m.files = cmd.Dir
		return m
	}
}

func startDevtools(t *testing.T) *meter {
	cmd := node(t, nodeModule(t, "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"), "--headless", "--isolated", "--performanceCrux=false", "--executablePath", chromium.Require(t), "--chromeArg=--no-sandbox")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS=1", "CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS=1")
	cmd.Dir = taskFiles(t)
	m := measure(t, cmd)
	m.files = cmd.Dir
	return m
}

func nodeModule(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(nodeClients + "/node_modules/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// playwright is Playwright MCP.
type playwright struct {
	m       *meter
	url     string
	focused string // reference of what was clicked or filled in last
}

var (
	yamlLine  = regexp.MustCompile(`^( *)- (.*)$`)
	yamlKey   = regexp.MustCompile(`^([a-z]+)(?: "((?:[^"\\]|\\.)*)")?((?: \[[^\]]*\])*)(?::(?: (.*))?)?$`)
	yamlRef   = regexp.MustCompile(`\[ref=(\w+)\]`)
	pageURL   = regexp.MustCompile(`- Page URL: (\S+)`)
	unescaped = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
)

func (p *playwright) call(tool string, args map[string]any) (string, error) {
	said, failed := p.m.call(tool, args)
	if failed {
		return said, fmt.Errorf("%s: %s", tool, said)
	}
	return said, nil
}

func (p *playwright) view(said string) (v view) {
	for line := range strings.Lines(said) {
		parts := yamlLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if parts == nil {
			continue
		}
		key := parts[2]
		if strings.HasPrefix(key, "'") { // a key of YAML with a colon in it
			if end := strings.LastIndex(key, "'"); end > 0 {
				key = strings.ReplaceAll(key[1:end], "''", "'") + key[end+1:]
			}
		}
		m := yamlKey.FindStringSubmatch(key)
		if m == nil {
			continue
		}
		n := seen{depth: len(parts[1]) / 2, role: m[1], name: unescaped.Replace(m[2]), text: m[4]}
		if s, err := strconv.Unquote(n.text); err == nil {
			n.text = s
		}
		if ref := yamlRef.FindStringSubmatch(m[3]); ref != nil {
			n.ref = ref[1]
		}
		v = append(v, n)
	}
	return v
}

func (p *playwright) open(url string) error {
	p.url = url
	_, err := p.call("browser_navigate", map[string]any{"url": url})
	return err
}

func (p *playwright) look() (view, error) {
	said, err := p.call("browser_snapshot", map[string]any{})
	return p.view(said), err
}

func (p *playwright) search(words []string) (view, error) {
	args := map[string]any{"text": words[0]}
	if len(words) > 1 {
		for i, w := range words {
			words[i] = regexp.QuoteMeta(w)
		}
		args = map[string]any{"regex": strings.Join(words, "|")}
	}
	said, err := p.call("browser_find", args)
	return p.view(said), err
}

func (p *playwright) await(text string) (view, error) {
	if _, err := p.call("browser_wait_for", map[string]any{"text": text}); err != nil {
		return nil, err
	}
	return p.search([]string{text})
}

func (p *playwright) act(i *intent, on []seen, changes bool) (view, bool, error) {
	args := map[string]any{}
	if len(on) > 0 {
		args["target"] = on[0].ref
	}
	tool := "browser_click"
	switch i.verb {
	case "double":
		args["doubleClick"] = true
	case "right":
		args["button"] = "right"
	case "hover":
		tool = "browser_hover"
	case "select":
		tool, args["values"] = "browser_select_option", []string{i.value}
	case "drag":
		tool, args = "browser_drag", map[string]any{"startTarget": on[0].ref, "endTarget": on[1].ref}
	case "press", "scroll":
		if len(on) > 0 && p.focused != on[0].ref {
			if _, err := p.call(tool, args); err != nil {
				return nil, false, err
			}
			p.focused = on[0].ref
		}
		key := map[string]string{"end": "End", "": "PageDown", "Control+a": "ControlOrMeta+a"}[i.value]
		if key == "" {
			key = i.value
		}
		tool, args = "browser_press_key", map[string]any{"key": key}
	case "fill":
		tool = "browser_fill_form"
		var all []map[string]any
		for n, f := range i.fields {
			kind := "textbox"
			switch on[n].role {
			case "checkbox", "radio", "combobox", "slider":
				kind = on[n].role
			}
			all = append(all, map[string]any{"target": on[n].ref, "name": on[n].name, "type": kind, "value": f.value})
		}
		// A combobox that takes text is typed into.
		if len(all) == 1 && (all[0]["type"] == "textbox" || all[0]["type"] == "combobox" && on[0].text == "") {
			tool, args["text"] = "browser_type", i.fields[0].value
		} else {
			args = map[string]any{"fields": all}
		}
	}
	if tool == "browser_click" || tool == "browser_type" {
		p.focused = on[0].ref
	}
	said, err := p.call(tool, args)
	if err == nil && i.verb == "scroll" { // which goes on after the key
		_, err = p.call("browser_wait_for", map[string]any{"time": 0.5})
	}
	if err == nil && i.verb == "upload" {
		said, err = p.call("browser_file_upload", map[string]any{"paths": []string{filepath.Join(p.m.files, i.value)}})
	}
	if err == nil && i.dialog != nil {
		args := map[string]any{"accept": i.dialog.accept}
		if i.dialog.text != "" {
			args["promptText"] = i.dialog.text
		}
		said, err = p.call("browser_handle_dialog", args)
	}
	moved := false
	if at := pageURL.FindStringSubmatch(said); at != nil {
		moved, p.url = at[1] != p.url, at[1]
	}
	return p.view(said), moved, err
}

// devtools is chrome-devtools-mcp.
type devtools struct {
	m       *meter
	focused string
	closer  bool // the next look
}

var devtoolsLine = regexp.MustCompile(`^( *)uid=(\S+)(?: ([A-Za-z]+))?(?: "([^"]*)")?(.*)$`)
var devtoolsValue = regexp.MustCompile(` value="([^"]*)"`)

func (d *devtools) call(tool string, args map[string]any) (string, error) {
	args["pageId"] = 1
	said, failed := d.m.call(tool, args)
	if failed {
		return said, fmt.Errorf("%s: %s", tool, said)
	}
	return said, nil
}

func (d *devtools) view(said string) (v view) {
	for line := range strings.Lines(said) {
		m := devtoolsLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		n := seen{depth: len(m[1]) / 2, ref: m[2], role: m[3], name: strings.TrimSpace(m[4])}
		if value := devtoolsValue.FindStringSubmatch(m[5]); value != nil {
			n.text = value[1]
		}
		if n.role == "" {
			n.role, n.name, n.text = "text", "", n.name
		}
		v = append(v, n)
	}
	return v
}

func (d *devtools) open(url string) error {
	_, err := d.call("navigate_page", map[string]any{"type": "url", "url": url})
	return err
}

// look looks closer if a look has not shown what there must be: lists of options are left out otherwise.
func (d *devtools) look() (view, error) {
	args := map[string]any{}
	if d.closer {
		args["verbose"] = true
	}
	d.closer = false
	said, err := d.call("take_snapshot", args)
	return d.view(said), err
}

// search looks at all: there is no tool that searches.
func (d *devtools) search([]string) (view, error) { return d.look() }

func (d *devtools) await(text string) (view, error) {
	d.closer = true
	said, err := d.call("wait_for", map[string]any{"text": []string{text}})
	return d.view(said), err
}

func (d *devtools) act(i *intent, on []seen, changes bool) (view, bool, error) {
	args := map[string]any{"includeSnapshot": changes}
	if len(on) > 0 {
		args["uid"] = on[0].ref
	}
	tool := "click"
	switch i.verb {
	case "double":
		args["dblClick"] = true
	case "hover":
		tool = "hover"
	case "select":
		tool, args["value"] = "fill", i.value
	case "drag":
		tool, args = "drag", map[string]any{"from_uid": on[0].ref, "to_uid": on[1].ref, "includeSnapshot": changes}
	case "upload":
		tool, args["filePaths"] = "upload_file", []string{filepath.Join(d.m.files, i.value)}
	case "press", "scroll", "right":
		if len(on) > 0 && d.focused != on[0].ref {
			if _, err := d.call(tool, map[string]any{"uid": on[0].ref}); err != nil {
				return nil, false, err
			}
			d.focused = on[0].ref
		}
		key := i.value
		switch {
		case i.verb == "right": // no tool presses the right button
			key = "ContextMenu"
		case i.value == "end":
			key = "End"
		case i.value == "":
			key = "PageDown"
		case i.value == "Control+a":
			key = "Control+A"
		}
		tool, args = "press_key", map[string]any{"key": key, "includeSnapshot": changes}
	case "fill":
		tool = "fill_form"
		var all []map[string]any
		for n, f := range i.fields {
			all = append(all, map[string]any{"uid": on[n].ref, "value": f.value})
		}
		args = map[string]any{"elements": all, "includeSnapshot": changes}
		if len(all) == 1 {
			tool, args = "fill", map[string]any{"uid": on[0].ref, "value": i.fields[0].value, "includeSnapshot": changes}
		}
	}
	if i.dialog != nil {
		delete(args, "includeSnapshot")
	}
	if tool == "click" || tool == "fill" {
		d.focused = on[0].ref
	}
	said, err := d.call(tool, args)
	if i.dialog != nil {
		args := map[string]any{"action": map[bool]string{true: "accept", false: "dismiss"}[i.dialog.accept]}
		if i.dialog.text != "" {
			args["promptText"] = i.dialog.text
		}
		said, err = d.call("handle_dialog", args)
	}
	return d.view(said), false, err
}
