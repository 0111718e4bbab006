package clientconf

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Edited reports whether the client's file is JSON, which Add and Remove edit. Other files are
// changed by the client's command, or by the user.
func (c Client) Edited() bool { return c.snippet == nil }

// Read returns the text of the client's file at path, nothing if there is none. For a client
// that is not Edited it returns the file's servers as JSON, with the member names of other clients.
func (c Client) Read(path string) ([]byte, error) {
	text, err := read(path)
	if c.decode == nil || len(text) == 0 || err != nil {
		return text, err
	}
	var file map[string]any
	if err := c.decode(text, &file); err != nil {
		return nil, fmt.Errorf("it cannot be parsed: %w", err)
	}
	section, _ := file[c.section].(map[string]any)
	for _, said := range section {
		if entry, ok := said.(map[string]any); ok && entry["cmd"] != nil { // by goose
			entry["command"], entry["env"] = entry["cmd"], entry["envs"]
		}
	}
	return json.Marshal(map[string]any{c.section: section})
}

// Text returns a configuration with only an entry, as text of the client's file.
func (c Client) Text(name string, e Entry) string {
	if c.snippet != nil {
		return c.snippet(name, e)
	}
	text, _ := c.Add(nil, name, e) // an empty text has no errors
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
