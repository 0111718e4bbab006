package spec_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The section of the rules that a comment cites must exist.
func TestCitedSectionsExist(t *testing.T) {
	// A citation may go on in the next line of a comment.
	citation := regexp.MustCompile(`spec/([\w/]+\.md),\s+(?://\s+)?"([^"\n]+)"(?: and "([^"\n]+)")?`)
	headings := map[string]string{}
	cited := 0
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case path.Ext(name) != ".go" && path.Ext(name) != ".ts":
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, m := range citation.FindAllStringSubmatch(string(source), -1) {
			if headings[m[1]] == "" {
				doc, err := os.ReadFile(m[1])
				if err != nil {
					t.Errorf("%s cites spec/%s: %v", name, m[1], err)
					continue
				}
				headings[m[1]] = strings.Join(regexp.MustCompile(`(?m)^##+ .*$`).FindAllString(string(doc), -1), "\n") + "\n"
			}
			for _, section := range m[2:] {
				if section == "" {
					continue
				}
				cited++
				if !strings.Contains(headings[m[1]], "# "+section+"\n") {
					t.Errorf("%s cites spec/%s, %q, which is not there", name, m[1], section)
				}
			}
		}
		return nil
	})
	if err != nil || cited == 0 {
		t.Errorf("%d citations, %v", cited, err)
	}
}

// The files that ARCHITECTURE.md names must exist, by the end of their path.
func TestArchitectureNamesFilesThatExist(t *testing.T) {
	doc, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	var there strings.Builder
	err = filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		there.WriteString(filepath.ToSlash(name) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)+|[\\w-]+\\.(?:go|ts|md|txtar))`").FindAllStringSubmatch(string(doc), -1)
	for _, m := range named {
		if !strings.Contains(there.String(), "/"+m[1]+"\n") && !messages[m[1]] {
			t.Errorf("ARCHITECTURE.md names %s, which is not there", m[1])
		}
	}
	if len(named) < 50 {
		t.Errorf("ARCHITECTURE.md names %d files", len(named))
	}
}

// messages look like paths, too.
var messages = map[string]bool{"browser/registerTools": true, "browser/ask": true, "browser/run": true, "notifications/tools/list_changed": true, "tools/list": true}

// A link must lead to a file, and to the heading that it names.
func TestLinksLeadSomewhere(t *testing.T) {
	anchors := make(map[string]map[string]bool) // by file
	code := regexp.MustCompile("`[^`]*`")
	link := regexp.MustCompile(`(?:\]\(|(?:src|srcset|href)=")([^)\s"]+)`)
	followed := 0
	var files []string
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case path.Ext(name) == ".md" && !d.IsDir():
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		for _, line := range proseLines(t, name) {
			for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
				target, anchor, _ := strings.Cut(m[1], "#")
				if strings.Contains(target, ":") {
					continue // elsewhere
				}
				followed++
				file := name
				if target != "" {
					file = filepath.Join(filepath.Dir(name), filepath.FromSlash(target))
				}
				if _, err := os.Stat(file); err != nil {
					t.Errorf("%s links to %s: %v", name, m[1], err)
					continue
				}
				if anchor == "" {
					continue
				}
				if anchors[file] == nil {
					anchors[file] = anchorsOf(proseLines(t, file))
				}
				if !anchors[file][anchor] {
					t.Errorf("%s links to %s, which has no such heading", name, m[1])
				}
			}
		}
	}
	if followed < 50 {
		t.Errorf("%d links were followed", followed)
	}
}

// proseLines returns the lines of a document that are in no fenced block.
func proseLines(t *testing.T, file string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fenced := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			lines = append(lines, line)
		}
	}
	return lines
}

// anchorsOf makes the anchors of a document's headings as GitHub does.
func anchorsOf(lines []string) map[string]bool {
	drop := regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	text := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	seen, count := make(map[string]bool), make(map[string]int)
	for _, line := range lines {
		title := strings.TrimLeft(line, "#")
		if len(title) == len(line) || !strings.HasPrefix(title, " ") {
			continue
		}
		title = text.ReplaceAllString(strings.TrimSpace(title), "$1")
		anchor := strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
		if n := count[anchor]; n > 0 {
			seen[fmt.Sprintf("%s-%d", anchor, n)] = true
		} else {
			seen[anchor] = true
		}
		count[anchor]++
	}
	return seen
}
