package browsertool

import "testing"

// An address with a blank is taken as in a browser's address bar, if not in its host.
func TestAddressWithBlanks(t *testing.T) {
	for raw, want := range map[string]string{
		"https://e.com/a b?q=red shoes|blue#x y":  "https://e.com/a%20b?q=red%20shoes|blue#x%20y",
		"https://e.com?q=a b":                     "https://e.com?q=a%20b",
		"https://e.com/ --no-sandbox":             "https://e.com/%20--no-sandbox", // one argument of a browser that is started
		" https://e.com/ä?q=ü ":                   "https://e.com/ä?q=ü",
		"https://e .com/":                         "",
		"https://e.com b":                         "",
		"java script://e.com/ b":                  "",
		" javascript:alert(1)//http://e.com/?a b": "",
		"https://e.com\\@bank.example/?q=a b":     "",
	} {
		got := encodeBlanks(raw)
		if err := checkURL(got); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
}
