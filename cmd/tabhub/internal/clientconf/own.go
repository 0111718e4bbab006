package clientconf

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Edited reports whether the client's file is JSON, which Add and Remove edit. What others have
// is changed by a command of theirs, or by the user.
func (c Client) Edited() bool { return c.snippet == nil }

// Lister returns the words of the client's own command that lists its servers, where the file is
// not Edited. It is empty if there is none.
func (c Client) Lister() []string {
	if c.list == nil {
		return nil
	}
	return append([]string{c.program}, c.list...)
}

// Listed returns what Lister's command has printed as a configuration in JSON, which the methods
// of Client take.
func (c Client) Listed(out []byte) ([]byte, error) {
	type server struct {
		Name    string            `json:"name"`
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitempty"`
		Env     map[string]string `json:"env,omitempty"`
		URL     string            `json:"url,omitempty"`
	}
	var list []struct {
		server
		Transport *server `json:"transport"` // has the rest in later versions
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("its list is not understood: %w", err)
	}
	section := make(map[string]any)
	for _, said := range list {
		s := said.server
		if said.Transport != nil {
			s = *said.Transport
		}
		entry := map[string]any{}
		if s.URL != "" {
			entry[c.url] = s.URL
		} else {
			entry["command"], entry["args"] = s.Command, append([]string{}, s.Args...)
		}
		if len(s.Env) > 0 {
			entry["env"] = s.Env
		}
		section[said.Name] = entry
	}
	return marshal(map[string]any{c.section: section}), nil
}

// Text returns a configuration that has nothing but an entry, in the notation of the client's
// file.
func (c Client) Text(name string, e Entry) string {
	if c.snippet != nil {
		return c.snippet(name, e)
	}
	text, _ := c.Add(nil, name, e) // there is nothing that it could not read
	return string(text)
}

// codexEntry is TOML, whose strings and lists may be written as those of JSON.
func codexEntry(name string, e Entry) string {
	head := "[mcp_servers." + name + "]\n"
	if e.URL != "" {
		return head + "url = " + string(marshal(e.URL)) + "\n"
	}
	return head + "command = " + string(marshal(e.Command)) + "\nargs = " + string(compact(append([]string{}, e.Args...))) + "\n" +
		pairs("env = {", e.Env, " = ", "}\n")
}

// gooseEntry is YAML, whose strings, lists and mappings may be written as those of JSON.
func gooseEntry(name string, e Entry) string {
	lines := []string{"extensions:", "  " + string(marshal(name)) + ":", "    name: " + string(marshal(name)), "    enabled: true", "    timeout: 300"}
	if e.URL != "" {
		lines = append(lines, "    type: streamable_http", "    uri: "+string(marshal(e.URL)))
	} else {
		lines = append(lines, "    type: stdio", "    cmd: "+string(marshal(e.Command)), "    args: "+string(compact(append([]string{}, e.Args...))))
	}
	return strings.Join(lines, "\n") + "\n" + pairs("    envs: {", e.Env, ": ", "}\n")
}

// pairs returns an environment on one line, nothing if it is empty.
func pairs(begin string, env map[string]string, separator, end string) string {
	if len(env) == 0 {
		return ""
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(env)) {
		all = append(all, key+separator+string(marshal(env[key])))
	}
	return begin + strings.Join(all, ", ") + end
}
