package wsserver_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"tabhub/tabtransport/wsserver/wstest"
)

func TestTranscripts(t *testing.T) { wstest.ReplayFiles(t, "../../spec/testdata/*.txtar") }

// TestProtocolDocument replays the examples of the protocol document.
func TestProtocolDocument(t *testing.T) {
	doc, err := os.ReadFile("../../spec/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```transcript\n(.*?)^```").FindAllSubmatch(doc, -1)
	if len(blocks) == 0 {
		t.Fatal("no examples")
	}
	for _, block := range blocks {
		name, _, _ := strings.Cut(strings.TrimPrefix(string(block[1]), "# "), "\n")
		t.Run(name, func(t *testing.T) { wstest.Replay(t, string(block[1])) })
	}
}
