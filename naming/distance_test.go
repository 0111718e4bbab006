package naming

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// editDistance is the textbook's.
func editDistance(a, b string) int {
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case a[0] == b[0]:
		return editDistance(a[1:], b[1:])
	}
	return 1 + min(editDistance(a[1:], b), editDistance(a, b[1:]), editDistance(a[1:], b[1:]))
}

func TestDistance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		var b strings.Builder
		for range random.IntN(7) {
			b.WriteByte("abc"[random.IntN(3)])
		}
		return b.String()
	}
	for range 3000 {
		a, b := word(), word()
		want := editDistance(a, b)
		for limit := range 8 {
			got := Distance(a, b, limit)
			if want <= limit && got != want || want > limit && got <= limit {
				t.Fatalf("Distance(%q, %q, %d) = %d, the distance is %d", a, b, limit, got, want)
			}
		}
	}
	long := strings.Repeat("x", MaxDistance)
	if got := Distance(long, long[1:]+"y", 16); got != 1 {
		t.Errorf("distance of the longest: %d", got)
	}
}
