// Package transcript plays transcripts of protocols, the sections of txtar files: each
// line is one step of a test, each message of a peer is written out.
package transcript

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/txtar"
)

// Player takes the steps of one section.
type Player interface {
	// Step takes a step; an error fails the test.
	Step(verb, rest string) error
	// Rest returns what has been received and no step has mentioned.
	Rest() []string
}

// Next takes the first of what has been received; it is "nothing" if there is none.
func Next(list *[]string) string {
	if len(*list) == 0 {
		return "nothing"
	}
	first := (*list)[0]
	*list = (*list)[1:]
	return first
}

// Run plays each section of the files that match a pattern as a test of its own.
func Run(t *testing.T, pattern string, start func(t *testing.T, v Vars) Player) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+f.Name, func(t *testing.T) {
				Play(t, string(f.Data), start)
			})
		}
	}
}

// Play plays one section in a testing/synctest bubble: each step waits until the bubble is
// idle. Empty lines and lines that begin with # are skipped. A string "$name" stands for the
// value that Vars has for it.
func Play(t *testing.T, script string, start func(t *testing.T, v Vars) Player) {
	synctest.Test(t, func(t *testing.T) {
		v := Vars{}
		p := start(t, v)
		for i, line := range strings.Split(script, "\n") {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			synctest.Wait()
			for name, value := range v {
				line = strings.ReplaceAll(line, `"$`+name+`"`, strconv.Quote(value))
			}
			verb, rest, _ := strings.Cut(line, " ")
			if err := p.Step(verb, rest); err != nil {
				t.Fatalf("line %d: %s\n%v", i+1, line, err)
			}
		}
		synctest.Wait()
		if rest := p.Rest(); len(rest) > 0 {
			t.Errorf("the transcript does not mention %q", rest)
		}
	})
}

// Vars are strings that a transcript cannot know, such as ids, by name.
type Vars map[string]string

// Expect compares two messages as JSON. A string "$name" in want stands for any string,
// which is that one from then on.
func (v Vars) Expect(want, got string) error {
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil || !v.match(w, g) {
		return fmt.Errorf("got %s", got)
	}
	return nil
}

func (v Vars) match(want, got any) bool {
	switch w := want.(type) {
	case string:
		g, ok := got.(string)
		if name, isVar := strings.CutPrefix(w, "$"); isVar && ok {
			v[name] = g
			return true
		}
		return ok && w == g
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(w) != len(g) {
			return false
		}
		for k, wv := range w {
			if gv, there := g[k]; !there || !v.match(wv, gv) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			return false
		}
		for i := range w {
			if !v.match(w[i], g[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(want, got)
}
