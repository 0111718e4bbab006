package recordcli

import (
	"bytes"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/trust/record"
)

// The head that is printed must cover each line that was checked, or a line could be cut off
// unnoticed after the owner has noted it.
func TestPrintedHeadIsTheLatest(t *testing.T) {
	var out bytes.Buffer
	r := &record.Report{Last: record.Head{N: 5}, Attested: record.Head{N: 4}}
	if err := printReport(&command.App{Out: &out}, "dir", r, nil); err != nil || !strings.Contains(out.String(), "the head is 5:") {
		t.Errorf("printed %q, %v; want the head of line 5", out.String(), err)
	}
}
