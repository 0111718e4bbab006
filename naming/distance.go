package naming

// MaxDistance is how many bytes the names may have that Distance compares.
const MaxDistance = 256

// Distance returns the edit distance of a and b, or more than limit if it is more.
// Only what is near the diagonal can be within the limit, so it takes time in
// proportion to the limit: this is done for each of thousands of names.
func Distance(a, b string, limit int) int {
	over := limit + 1
	if d := len(a) - len(b); d > limit || -d > limit || len(b) > MaxDistance {
		return over
	}
	var room [2 * (MaxDistance + 1)]int
	prev, row := room[:MaxDistance+1], room[MaxDistance+1:]
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		low, high := max(1, i-limit), min(len(b), i+limit)
		row[low-1] = over
		if low == 1 {
			row[0] = i
		}
		least := row[low-1]
		for j := low; j <= high; j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j-1]+cost, prev[j]+1, row[j-1]+1)
			least = min(least, row[j])
		}
		if least > limit {
			return over
		}
		if high < len(b) {
			row[high+1] = over // the next row looks at it
		}
		prev, row = row, prev
	}
	return prev[len(b)]
}
