package natsd

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	three := []string{"a:1", "b:1", "c:1"}
	for _, test := range []struct {
		peers  []string
		listen string
		want   string // in the error; "" none
	}{
		{nil, "", ""},
		{three, "0.0.0.0:6222", ""},
		{append(three[:3:3], "d:1", "e:1"), ":6222", ""},
		{three[:1], ":6222", "it must be 3 or 5"},
		{three[:2], ":6222", "it must be 3 or 5"},
		{[]string{"a:1", "b:1", "a:1"}, ":6222", "a:1 is there twice"},
		{[]string{"a:1", "b", "c:1"}, ":6222", `"b" is not an address`},
		{[]string{"a:1", "nats://b:1", "c:1"}, ":6222", `"nats://b:1" is not an address`},
		{three, "6222", `"6222" is not an address to listen on`},
	} {
		err := Check(test.peers, test.listen)
		if err == nil && test.want != "" || err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("Check(%q, %q) = %v, want %q", test.peers, test.listen, err, test.want)
		}
	}
}
