package main

import (
	"math/rand/v2"
	"testing"
)

func TestRatio(t *testing.T) {
	const n = 100
	base, twice := make([]float64, n), make([]float64, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		base[i], twice[i] = 10+r.Float64(), 20+2*r.Float64()
	}
	if e := ratioOf(twice, base, 0.5); e.low < 1.95 || e.high > 2.05 || e.value < e.low || e.value > e.high {
		t.Errorf("twice as long: %v", e)
	}
	if e := ratioOf(base, base, 0.5); e.value != 1 || e.low >= 1 || e.high <= 1 {
		t.Errorf("as long: %v", e)
	}
	if got := quantile([]float64{5, 1, 4, 2, 3}, 0.95); got != 5 {
		t.Errorf("the 95th percentile is %v", got)
	}
}
