package clientconf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlNotation is that of goose's config.yaml. An entry goes first in its section.
var yamlNotation = &notation{
	name: "YAML", separator: ": ",
	decode: decodeYAML, scan: scanYAML, begin: beginYAML, none: " {}",
}

func decodeYAML(text []byte) (map[string]any, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	file := make(map[string]any)
	if err := d.Decode(&file); err != nil && err != io.EOF {
		return nil, errors.New(strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	if err := d.Decode(new(any)); err != io.EOF {
		return nil, errors.New("it holds more than one document")
	}
	return file, nil
}

// scanYAML returns the members of mappings that are written as blocks. Comments right above a
// member are its own, in so far as the one before does not have them.
func scanYAML(text []byte) ([]span, error) {
	if bytes.ContainsAny(text, "\r\u0085\u2028\u2029") { // which end lines, too
		return nil, errors.New("cannot be found: lines end in an unusual way; save the file anew")
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	var spans []span
	if root.Kind == yaml.DocumentNode {
		starts := []int{0, 0} // of the lines, which are counted from 1
		for i, c := range text {
			if c == '\n' {
				starts = append(starts, i+1)
			}
		}
		scanMapping(text, starts, root.Content[0], nil, len(text), &spans)
	}
	return spans, nil
}

// scanMapping adds the members of a mapping that ends before an offset.
func scanMapping(text []byte, starts []int, m *yaml.Node, path []string, end int, spans *[]span) {
	if m.Kind != yaml.MappingNode || m.Style&yaml.FlowStyle != 0 {
		return
	}
	for i := 0; i < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		s := span{path: append(path[:len(path):len(path)], key.Value), start: starts[key.Line], end: end}
		if i+2 < len(m.Content) {
			s.end = starts[m.Content[i+2].Line]
		}
		s.head, s.end = lineEnd(text, s.start), lastOf(text, s.start, s.end)
		if value.Kind == yaml.ScalarNode && value.LineComment != "" {
			s.comment = " " + value.LineComment
		}
		if value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0 && len(value.Content) > 0 {
			s.open, s.indent = true, strings.Repeat(" ", value.Content[0].Column-1)
		}
		*spans = append(*spans, s)
		scanMapping(text, starts, value, s.path, s.end, spans)
	}
}

// lastOf returns where the last line ends, of those from start to end, that is not blank or a
// comment.
func lastOf(text []byte, start, end int) int {
	for at := end; at > start; {
		line := bytes.LastIndexByte(text[start:at-1], '\n') + 1 + start
		if s := bytes.TrimSpace(text[line:at]); len(s) > 0 && s[0] != '#' && line > start {
			return at
		}
		at = line
	}
	return lineEnd(text, start)
}

// beginYAML puts an entry first in its section, which is made if it is not there.
func beginYAML(text []byte, spans []span, section, name string) (start, end int, lines, indent string, err error) {
	for _, s := range spans {
		if len(s.path) != 1 || s.path[0] != section {
			continue
		}
		switch strings.Join(strings.Fields(string(text[s.start:s.end])), "") {
		case section + ":", section + ":{}", section + ":null", section + ":~":
			return s.start, s.end, section + ":\n  " + name + ":\n", "    ", nil
		}
		if !s.open {
			return 0, 0, "", "", fmt.Errorf("cannot be put into %q, which is written on one line; give it lines of its own", section)
		}
		return s.head, s.head, s.indent + name + ":\n", s.indent + "  ", nil
	}
	return len(text), len(text), section + ":\n  " + name + ":\n", "    ", nil
}
