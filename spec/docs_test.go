package spec_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Whoever follows a comment to the rule that it cites must find the section there.
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
		case path.Ext(name) != ".go" && path.Ext(name) != ".js":
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
