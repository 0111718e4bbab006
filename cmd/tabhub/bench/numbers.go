package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// quantile returns the value below which the part q of the samples lies.
func quantile(samples []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// estimate is a number with the interval that it lies in with 95 % confidence.
type estimate struct{ value, low, high float64 }

func (e estimate) String() string { return fmt.Sprintf("%.3f (%.3f to %.3f)", e.value, e.low, e.high) }

// ratioOf estimates how many times b a quantile of a is. The interval is that of samples drawn from
// them again and again.
func ratioOf(a, b []float64, q float64) estimate {
	const rounds = 2000
	found := make([]float64, rounds)
	as, bs := make([]float64, len(a)), make([]float64, len(b))
	for i := range found {
		for j := range as {
			as[j] = a[rand.IntN(len(a))]
		}
		for j := range bs {
			bs[j] = b[rand.IntN(len(b))]
		}
		found[i] = quantile(as, q) / quantile(bs, q)
	}
	return estimate{quantile(a, q) / quantile(b, q), quantile(found, 0.025), quantile(found, 0.975)}
}
