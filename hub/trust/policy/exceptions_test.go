package policy_test

import (
	"slices"
	"strings"
	"testing"
)

// The owner learns where a new rule does not hold.
func TestExceptions(t *testing.T) {
	for _, test := range []struct {
		rules []string // r0 is what is asked about
		want  string
	}{
		{[]string{"deny site=shop.example.com"}, ""},
		{[]string{"deny site=shop.example.com", "allow client=claude,site=shop.example.com,tool=buy,pin"}, "r1"},
		{[]string{"deny site=*.example.com", "allow site=shop.example.com", "allow site=bank.example.org", "deny site=bank.example.com"}, "r1"},
		{[]string{"deny client=claude", "allow client=cursor,tool=buy", "allow client=claude,tool=b*"}, "r2"},
		{[]string{"deny site=shop.example.com", "allow client=claude,tool=buy"}, ""},
		{[]string{"allow client=claude,tool=buy", "deny site=shop.example.com"}, "preset:unverified r1"},
		{[]string{"allow client=claude,site=shop.example.com,tool=buy"}, ""},
		{[]string{"allow client=claude"}, "preset:destructive preset:late preset:relay preset:unverified"},
		{[]string{"allow client=claude", "deny pack=shop-tools"}, "preset:destructive preset:late preset:relay preset:unverified r1"},
		{[]string{"allow pack=shop-tools"}, "preset:destructive preset:late preset:pack preset:unverified"},
		{[]string{"allow pack=*,class=write", "ask pack=notes", "deny site=shop.example.com"}, "preset:pack preset:unverified r1 r2"},
		{[]string{"allow pack=notes", "deny pack=shop-tools"}, "preset:destructive preset:late preset:pack preset:unverified"},
		{[]string{"allow client=claude,class=act"}, "preset:unverified"},
		{[]string{"allow class=act"}, "preset:act preset:unverified"}, // which say as much
		{[]string{"allow client=claude,class=act", "deny class=destructive", "deny site=shop.example.com,class=act", "allow site=bank.example.com", "deny class=read"}, "preset:unverified r2"},
		{[]string{"deny client=claude,class=destructive", "allow client=claude,site=shop.example.com,class=act", "allow client=claude,site=shop.example.com"}, "r1"},
		{[]string{"ask client=claude,session=s1", "allow client=claude,session=s2,tool=buy"}, ""},
	} {
		var got []string
		for _, r := range set(t, "", test.rules...).Exceptions("r0", now) {
			got = append(got, r.ID)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q: %q, want %q", test.rules, got, test.want)
		}
	}
}
