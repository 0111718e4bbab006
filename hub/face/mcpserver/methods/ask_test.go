package methods

import (
	"strings"
	"testing"

	"tabhub/spec"
)

// A client's user reads what a lasting yes is about, and it counts as that whichever question it answers.
func TestAnswersSayWhatTheyAreAbout(t *testing.T) {
	tool := &spec.AskTool{Kind: spec.KindTool, Name: "order", Class: "write"}
	ofPack := *tool
	ofPack.Pack = &spec.AskPack{Name: "shop-tools"}
	act := &spec.AskTool{Name: "browser_page click", Class: "act", Steps: []string{`click button "Order"`}}
	form := string(elicitation(&spec.Ask{Tool: act, AboutSite: true, Reaches: []spec.Reach{spec.ReachOnce, spec.ReachSession}}))
	if !strings.Contains(form, `"Yes, this once","Yes, for this site, this session","No, not this time"`) {
		t.Errorf("the form about an act: %s", form)
	}
	if got, err := reachOf([]byte(`{"action":"accept","content":{"` + answerMember + `":"Yes, for this site, this session"}}`)); err != nil || got.Reach != spec.ReachSession {
		t.Errorf("the answer about an act is %v, %v", got, err)
	}
	for want, q := range map[string]*spec.Ask{
		"Yes, always for this client with this tool at this site": {Tool: &ofPack},
		"Yes, always for this client at this site":                {Tool: tool, AboutSite: true},
		"Yes, always for this client with this pack at this site": {Tool: &ofPack, AboutSite: true},
	} {
		q.Reaches = []spec.Reach{spec.ReachOnce, spec.ReachApp}
		if form := string(elicitation(q)); !strings.Contains(form, `"Yes, this once","`+want+`","No, not this time"`) {
			t.Errorf("the form does not offer %q: %s", want, form)
		}
		got, err := reachOf([]byte(`{"action":"accept","content":{"` + answerMember + `":"` + want + `"}}`))
		if err != nil || got.Reach != spec.ReachApp {
			t.Errorf("%q is %v, %v", want, got, err)
		}
	}
}
