package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/storage/private"
)

// maxConfigFile is how large a configuration file may be.
const maxConfigFile = 1 << 20

// readFile sets what nothing else has set from the configuration file, if there is one. A file
// that others may write to is refused; so is one that others may read, if an address of NATS in it has
// a password.
func (c *Config) readFile(a *command.App) error {
	path := a.ConfigFile
	if path == "" {
		dir, err := a.Dir()
		if err != nil {
			return err
		}
		path = dir.Config()
		if _, err := os.Stat(path); err != nil { // what is wrong with the directory, the hub says
			return nil
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return command.Usage(err)
	}
	body, err := private.Read(path)
	if err != nil {
		return command.Usagef("the configuration file cannot be used: %w", err)
	}
	if len(body) > maxConfigFile {
		return command.Usagef("the configuration file %s is larger than 1 MiB", path)
	}
	lines, err := parseConfig(path, body)
	if err != nil {
		return err
	}
	for _, line := range lines {
		s := c.Named(line.key)
		if s == nil {
			return command.Usagef("%s: %w", line.at, c.unknown(line.key))
		}
		if s.From != "" { // what goes before is checked; this is, too
			s = New().Named(line.key)
		}
		if err := s.set(line.at, line.words); err != nil {
			return err
		}
		s.resolve(filepath.Dir(path))
	}
	c.Read = path
	if k := c.Named("cluster"); strings.HasPrefix(k.From, path) && c.Cluster.HasPassword() {
		if _, err := private.ReadSecret(path); err != nil {
			return command.Usagef("%s has a password in it: %w", k.From, err)
		}
	}
	return nil
}

// configLine is a key of a configuration file and its value.
type configLine struct {
	at, key string
	words   []string // the value, or the elements of a list
}

// parseConfig reads the lines of a configuration file: keys without a table, each once.
func parseConfig(path string, body []byte) (lines []configLine, err error) {
	if err := toml.Unmarshal(body, new(map[string]any)); err != nil {
		if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
			row, _ := bad.Position()
			return nil, command.Usagef("%s:%d: %s; write a line as call-timeout = \"30s\"", path, row, strings.TrimPrefix(bad.Error(), "toml: "))
		}
		return nil, command.Usagef("%s: %w", path, err)
	}
	p := unstable.Parser{}
	p.Reset(body)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Comment {
			continue
		}
		var keys []string
		line := configLine{}
		for k := e.Key(); k.Next(); {
			if keys == nil {
				line.at = fmt.Sprintf("%s:%d", path, p.Shape(k.Node().Raw).Start.Line)
			}
			keys = append(keys, string(k.Node().Data))
		}
		line.key = strings.Join(keys, ".")
		if e.Kind != unstable.KeyValue || len(keys) != 1 {
			return nil, command.Usagef("%s: %s: there are no tables; write each setting in a line of its own, such as call-timeout = \"30s\"", line.at, line.key)
		}
		value := e.Value()
		if value.Kind == unstable.Array {
			for each := value.Children(); each.Next(); {
				line.words = append(line.words, string(each.Node().Data))
			}
		} else {
			line.words = []string{string(value.Data)}
		}
		lines = append(lines, line)
	}
	return lines, nil
}
