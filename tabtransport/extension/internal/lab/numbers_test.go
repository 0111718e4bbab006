package lab

import (
	"math/rand/v2"
	"testing"
)

// Whoever compares two series is told how much one differs, and whether that may be chance.
func TestCompare(t *testing.T) {
	const n = 100
	base, twice, same := make([]float64, n), make([]float64, n), make([]float64, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		base[i], twice[i] = 10+r.Float64(), 20+2*r.Float64()
		same[n-1-i] = base[i]
	}
	if e := Compare(twice, base, MedianRatio); e.Low < 1.95 || e.High > 2.05 || e.Value < e.Low || e.Value > e.High {
		t.Errorf("twice as long: %v", e)
	}
	if e := Compare(same, base, MedianDifference); e.Value != 0 || e.Low >= 0 || e.High <= 0 {
		t.Errorf("as long: a difference of %v", e)
	}
}

func TestQuantile(t *testing.T) {
	samples := []float64{5, 1, 4, 2, 3}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 0.95: 5, 1: 5} {
		if got := Quantile(samples, q); got != want {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
}
