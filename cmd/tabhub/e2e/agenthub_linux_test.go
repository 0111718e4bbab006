package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"tabhub/spec/rawjson"
)

// browserPage is the tool browser_page of a hub. It uses one tab.
type browserPage struct {
	m      *meter
	looked bool // at all of what the tab shows, so that there is what changes are told from
}

var (
	pageToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[|,:>=]|[^\s"|,>]+`)
	pageRef   = regexp.MustCompile(`^[a-z]{3,}\d+$`)
)

// lines reads the lines of a snapshot.
func (b *browserPage) lines(said string) (v view) {
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\n")
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, `Page "`) { // gone, and the head
			continue
		}
		if rest, ok := strings.CutPrefix(line, "* "); ok {
			v = append(v, seen{depth: depth, role: "listitem"})
			depth, line = depth+1, rest
		}
		n, begun, value := seen{depth: depth}, false, false
		row, first := false, ""
		end := func() {
			if begun && row && n.role == "text" { // it has no reference: it is called what it is
				if first == "" {
					first = n.text
				}
				n.role, n.name, n.text = "cell", n.text, ""
				n.ref = fmt.Sprintf("cell %q in row %q", n.name, first+"...")
			}
			if begun {
				v = append(v, n)
			}
			row = row || n.role == "row"
			n, begun, value = seen{depth: depth}, false, false
		}
		var tokens []string
		for _, token := range pageToken.FindAllString(line, -1) {
			if word := strings.TrimSuffix(token, ":"); word != "" && word != token {
				tokens = append(tokens, word)
				token = ":"
			}
			tokens = append(tokens, token)
		}
		for _, token := range tokens {
			var text string
			quoted := token[0] == '"' && json.Unmarshal([]byte(token), &text) == nil
			switch {
			case token == "|" || token == ",":
				end()
			case token == ":" || token == ">":
				end()
				depth++
				n.depth = depth
			case token == "=":
				value = true
			case quoted && !begun:
				n.role, n.text, begun = "text", text, true
			case quoted && value:
				n.text, value = text, false
			case quoted && n.name == "" && n.ref == "":
				n.name = text
			case !begun && !quoted:
				n.role, begun = token, true
			case pageRef.MatchString(token) && n.ref == "":
				n.ref = token
			}
		}
		end()
	}
	return v
}

func (b *browserPage) call(args map[string]any) (string, error) {
	said, failed := b.m.call("browser_page", args)
	if failed {
		return said, fmt.Errorf("%s", said)
	}
	return said, nil
}

func (b *browserPage) open(url string) error {
	if b.m.tab {
		_, err := b.call(map[string]any{"action": "goto", "url": url})
		return err
	}
	said, failed := b.m.call("browser_tab", map[string]any{"action": "new", "url": url, "active": true})
	if failed {
		return fmt.Errorf("%s", said)
	}
	b.m.tab = true
	_, err := b.call(map[string]any{"action": "wait", "for": "rest"})
	return err
}

func (b *browserPage) look() (view, error) {
	said, err := b.call(map[string]any{"action": "snapshot"})
	b.looked = err == nil
	return b.lines(said), err
}

func (b *browserPage) search(words []string) (view, error) {
	if len(words) > 1 { // they are what has come
		said, err := b.call(map[string]any{"action": "snapshot", "changes": true})
		b.looked = err == nil
		return b.lines(said), err
	}
	said, err := b.call(map[string]any{"action": "snapshot", "find": words[0]})
	return b.lines(said), err
}

func (b *browserPage) await(text string) (view, error) {
	if _, err := b.call(map[string]any{"action": "wait", "for": "rest"}); err != nil {
		return nil, err
	}
	return b.search([]string{text})
}

func (b *browserPage) act(i *intent, on []seen, changes bool) (view, bool, error) {
	args := map[string]any{"action": i.verb}
	if len(on) > 0 {
		args["ref"] = on[0].ref
	}
	// Where much has changed since it looked, and where one element is looked for, it is cheaper to search.
	b.looked = b.looked && !i.leads && !i.renews && !i.seeks
	if changes && b.looked {
		args["changes"] = true
	}
	switch i.verb {
	case "double":
		args["action"], args["count"] = "click", 2
	case "right":
		args["action"], args["button"] = "click", "right"
	case "fill":
		var all []map[string]any
		for n, f := range i.fields {
			var value any = f.value
			if on[n].role == "checkbox" || on[n].role == "radio" {
				value = f.value == "true"
			}
			all = append(all, map[string]any{"ref": on[n].ref, "value": value})
		}
		if len(all) == 1 {
			args["value"] = all[0]["value"]
			break
		}
		delete(args, "ref")
		args["fields"] = all
	case "select":
		args["value"] = i.value
	case "press":
		args["key"] = i.value
	case "drag":
		args["to"] = on[1].ref
	case "upload":
		args["files"] = []string{i.value}
	case "scroll":
		args["pages"] = 1
		if i.value == "end" {
			args["pages"] = 20
		}
	}
	if i.dialog != nil {
		answer := map[string]any{"action": "dialog", "accept": i.dialog.accept}
		if i.dialog.text != "" {
			answer["value"] = i.dialog.text
		}
		if _, err := b.call(answer); err != nil {
			return nil, false, err
		}
	}
	said, err := b.call(args)
	if err != nil {
		return nil, false, err
	}
	did, changed, _ := strings.Cut(said, "\n")
	moved := rawjson.Get([]byte(did), "url") != nil
	b.looked = b.looked && !moved
	return b.lines(changed), moved, nil
}
