//go:build nightly && unix

package cluster

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// parse reads a history as these tests write it: a line is one event, each a millisecond after
// the one before it, in the words "kind user by op name call text". A "-" is an empty word.
func parse(t *testing.T, text string) []Event {
	t.Helper()
	var events []Event
	for line := range strings.Lines(text) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 7)
		if len(words) == 1 && words[0] == "" {
			continue
		}
		for len(words) < 7 {
			words = append(words, "-")
		}
		for i := range words {
			if words[i] == "-" {
				words[i] = ""
			}
		}
		e := Event{At: time.Duration(len(events)) * time.Millisecond, Kind: Kind(words[0]), User: words[1], By: words[2], Op: words[3], Name: words[4], Call: words[5], Text: words[6]}
		switch e.Kind {
		case List:
			e.Names, e.Name = []string{e.Name}, ""
		case Line:
			e.N, e.Name = digits(e.Name), ""
		case Wrote: // kind user node epoch name id sequence
			e = Event{At: e.At, Kind: Wrote, User: words[1], By: words[2], Name: words[4], Call: words[5], N: digits(words[6]), Epoch: digits(words[3])}
		case Invoke:
			e.Again = e.Text == "again"
		case Fault, Kill, Heal, Calm:
			e = Event{At: e.At, Kind: e.Kind, Text: e.User}
		}
		events = append(events, e)
	}
	return events
}

func digits(word string) (n uint64) {
	for _, c := range word {
		n = n*10 + uint64(c-'0')
	}
	return n
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, history string
		want          []string
	}{
		{"a call that is answered", `
			invoke ann c1 op1 shop_buy
			run ann a op1 buy x1 done-1
			ok ann c1 op1 - K1 done-1`, nil},
		{"a call that ran twice", `
			invoke ann c1 op1 shop_buy
			run ann a op1 buy x1 done-1
			run ann b op1 buy x2 done-2
			ok ann c1 op1 - K1 done-2`, []string{RuleOnce}},
		{"a call that may run twice", `
			invoke ann c1 op1 shop_look - again
			run ann a op1 look x1 done-1
			run ann a op1 look x2 done-2
			ok ann c1 op1 - K1 done-2`, nil},
		{"an answer without a run", `
			invoke ann c1 op1 shop_buy
			ok ann c1 op1 - K1 done-1`, []string{RuleAnswer}},
		{"an answer before the run", `
			invoke ann c1 op1 shop_buy
			ok ann c1 op1 - K1 done-1
			run ann a op1 buy x1 done-1`, []string{RuleOrder}},
		{"what was not sent, and ran", `
			invoke ann c1 op1 shop_buy
			fail ann c1 op1 - - not-sent
			run ann a op1 buy x1 done-1`, []string{RuleUnsent}},
		{"what may have taken effect", `
			invoke ann c1 op1 shop_buy
			info ann c1 op1 - - reset
			invoke ann c1 op2 shop_buy
			info ann c1 op2 - - reset
			run ann a op2 buy x1 done-1`, nil},
		{"what the hub says later is true", `
			invoke ann c1 op1 shop_buy
			run ann a op1 buy x1 done-1
			info ann c1 op1 - - reset
			asked ann c1 op1 ended K1 done-1
			invoke ann c1 op2 shop_buy
			info ann c1 op2 - - reset
			asked ann c1 op2 not_sent K2
			invoke ann c1 op3 shop_buy
			run ann a op3 buy x3 done-3
			info ann c1 op3 - - reset
			asked ann c1 op3 unknown`, nil},
		{"what the hub says later is not true", `
			invoke ann c1 op1 shop_buy
			run ann a op1 buy x1 done-1
			info ann c1 op1 - - reset
			asked ann c1 op1 not_sent K1
			invoke ann c1 op2 shop_buy
			info ann c1 op2 - - reset
			asked ann c1 op2 ended K2 done-2`, []string{RuleUnsent, RuleAnswer}},
		{"a call without an end, and one with two", `
			invoke ann c1 op1 shop_buy
			invoke ann c2 op2 shop_buy
			run ann a op2 buy x2 done-2
			ok ann c2 op2 - K2 done-2
			info ann c2 op2 - - reset`, []string{RuleEnd, RuleEnd}},
		{"another user's page", `
			invoke ann c1 op1 shop_buy
			run bob a op1 buy x1 done-1
			ok ann c1 op1 - K1 done-1`, []string{RuleUser}},
		{"another user's list", `
			list ann c1 - shop_only_ann
			list ann c1 - shop_tab2_only_bob`, []string{RuleUser}},
		{"a run without a call", `
			run ann a op1 buy x1 done-1`, []string{RuleInvented}},
		{"a name that goes to the tab in front", `
			invoke ann c1 op1 shop_buy
			run ann a op1 buy x1 done-1
			ok ann c1 op1 - K1 done-1
			invoke ann c1 op2 shop_buy
			run ann b op2 buy x2 done-2
			ok ann c1 op2 - K2 done-2`, nil},
		{"a number of two tabs", `
			invoke ann c1 op1 shop_tab2_buy
			run ann a op1 buy x1 done-1
			ok ann c1 op1 - K1 done-1
			invoke ann c1 op2 shop_tab2_buy
			run ann b op2 buy x2 done-2
			ok ann c1 op2 - K2 done-2`, []string{RuleName}},
		{"a tab with two numbers", `
			invoke ann c1 op1 shop_tab2_buy
			run ann a op1 buy x1 done-1
			ok ann c1 op1 - K1 done-1
			invoke ann c1 op2 shop_tab3_buy
			run ann a op2 buy x2 done-2
			ok ann c1 op2 - K2 done-2`, []string{RuleName}},
		{"a record that does not have it", `
			invoke ann c1 op1 shop_buy
			run ann a op1 buy x1 done-1
			ok ann c1 op1 - K1 done-1
			line ann - - 1 - ok`, []string{RuleRecord}},
		{"a record that has lost it with its node", `
			invoke ann c1 op1 shop_buy
			run ann a op1 buy x1 done-1
			ok ann c1 op1 - K1 done-1
			fault killed
			kill n1
			line ann - - 1 - ok`, nil},
		{"a record that has it twice, with a fork", `
			invoke ann c1 op1 shop_buy
			run ann a op1 buy x1 done-1
			ok ann c1 op1 - K1 done-1
			line ann - - 1 K1 ok
			line ann - - 1 K1 ok`, []string{RuleRecord, RuleChain}},
		{"a record with a gap", `
			line ann - - 1 - ok
			line ann - - 3 - ok`, []string{RuleChain}},
		{"a journal that goes from node to node", `
			wrote ann n1 5 claim a 5
			wrote ann n1 5 flush b 6
			wrote bob n1 7 claim c 7
			wrote ann n1 5 release d 8
			wrote ann n2 9 claim e 9
			wrote ann n2 9 flush f 11
			wrote bob n1 7 flush g 10`, nil},
		{"a superseded node that writes", `
			wrote ann n1 5 claim a 5
			wrote ann n2 6 claim b 6
			wrote ann n1 5 flush c 7`, []string{RuleFence}},
		{"a flush that was stored twice", `
			wrote ann n1 5 claim a 5
			wrote ann n1 5 flush b 6
			wrote ann n1 5 flush b 7`, []string{RuleFence}},
		{"calm", `
			fault killed
			invoke ann c1 op1 shop_buy
			info ann c1 op1 - - reset
			heal
			calm
			invoke ann c1 op2 shop_buy
			run ann a op2 buy x2 done-2
			ok ann c1 op2 - K2 done-2
			fault killed
			invoke ann c1 op3 shop_buy
			info ann c1 op3 - - reset
			heal
			calm
			invoke ann c1 op4 shop_buy
			run ann a op4 buy x4 done-4
			ok ann c1 op4 - K4 done-4`, nil},
		{"no calm", `
			invoke ann c1 op1 shop_buy
			run ann a op1 buy x1 done-1
			ok ann c1 op1 - K1 done-1
			calm
			invoke ann c2 op2 shop_buy
			info ann c2 op2 - - reset`, []string{RuleWorks, RuleWorks, RuleWorks}},
	} {
		t.Run(strings.ReplaceAll(test.name, " ", "_"), func(t *testing.T) {
			found := Check(parse(t, test.history))
			var got []string
			for _, v := range found {
				got = append(got, v.Rule)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
				for _, v := range found {
					t.Log(v)
				}
			}
		})
	}
}
