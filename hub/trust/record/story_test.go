package record

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

// A story tells what happened in the order in which it did. The dashboard is held to the same.
func TestStory(t *testing.T) {
	b, err := os.ReadFile("../../face/admin/dashboard/testdata/story.json")
	if err != nil {
		t.Fatal(err)
	}
	type step struct {
		Is StepKind  `json:"is"`
		At time.Time `json:"at,omitzero"`
	}
	var cases []struct {
		Name  string
		Lines []Line
		Steps []step
		Took  time.Duration
		You   time.Duration
	}
	if err := json.Unmarshal(b, &cases); err != nil || len(cases) == 0 {
		t.Fatal(err, len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			var got []step
			for _, s := range Story(c.Lines) {
				got = append(got, step{s.Is, s.At})
			}
			is, _ := json.Marshal(got)
			if want, _ := json.Marshal(c.Steps); string(is) != string(want) {
				t.Errorf("got\n%s, want\n%s", is, want)
			}
			for i := range c.Lines {
				if l := &c.Lines[i]; isCall(*l) && (l.Took() != c.Took || l.Asked != c.You) {
					t.Errorf("it took %v, and the owner %v", l.Took(), l.Asked)
				}
			}
		})
	}
}
