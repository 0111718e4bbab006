package browsertool_test

import (
	"strings"
	"testing"
	"testing/synctest"
)

// A list without tabs is a list: models and programs take null for a failure.
func TestListWithoutTabs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRig(t)
		if got := w.call("browser_tab", `{"action":"list"}`).Content[0].Text; !strings.Contains(got, `"tabs":[]`) || !strings.Contains(got, `"browsers":[]`) {
			t.Errorf("%s", got)
		}
	})
}
