package clientconf

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlNotation is that of Codex's config.toml. An entry is a table of its own, at the end.
var tomlNotation = &notation{
	name: "TOML", separator: " = ",
	decode: decodeTOML, scan: scanTOML,
	begin: func(text []byte, _ []span, section, name string) (int, int, string, string, error) {
		lines := "[" + section + "." + name + "]\n" // what clients take as a name needs no quotes
		if len(bytes.TrimSpace(text)) > 0 {
			lines = "\n" + lines
		}
		return len(text), len(text), lines, "", nil
	},
}

func decodeTOML(text []byte) (map[string]any, error) {
	file := make(map[string]any)
	err := toml.Unmarshal(text, &file)
	if where, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := where.Position()
		return nil, fmt.Errorf("line %d, column %d: %s", line, column, strings.TrimPrefix(where.Error(), "toml: "))
	}
	return file, err
}

// scanTOML returns tables with what stands in them, and what stands in them. The comments
// between two tables belong to neither.
func scanTOML(text []byte) (spans []span, err error) {
	p := unstable.Parser{}
	p.Reset(text)
	var within []string // the table's path
	table := -1         // and its place in spans
	for p.NextExpression() {
		e := p.Expression()
		var path []string
		first := 0
		for keys := e.Key(); keys.Next(); path = append(path, string(keys.Node().Data)) {
			if path == nil {
				first = int(keys.Node().Raw.Offset)
			}
		}
		s := span{path: path, start: bytes.LastIndexByte(text[:first], '\n') + 1, head: lineEnd(text, first), open: true}
		s.end = s.head
		if e.Kind == unstable.KeyValue {
			s.path, s.open = slices.Concat(within, path), false
			last := int(e.Raw.Offset + e.Raw.Length)
			s.end = lineEnd(text, last-1)
			s.comment = strings.TrimRight(string(text[last:s.end]), " \t\n")
			if table >= 0 {
				spans[table].end = s.end
			}
		} else {
			within, table = path, len(spans)
		}
		spans = append(spans, s)
	}
	return spans, p.Error()
}

// lineEnd returns where the line ends that an offset is in.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}
