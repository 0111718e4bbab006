package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Quantile returns the value below which the part q of the samples lies.
func Quantile(samples []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// Estimate is a number with the interval that it lies in with 95 % confidence.
type Estimate struct{ Value, Low, High float64 }

func (e Estimate) String() string { return fmt.Sprintf("%.3f (%.3f to %.3f)", e.Value, e.Low, e.High) }

// Compare estimates a statistic of two series of samples that were taken in turn. The
// interval is that of the statistic of pairs drawn from them again and again.
func Compare(a, b []float64, statistic func(a, b []float64) float64) Estimate {
	const rounds = 2000
	found := make([]float64, rounds)
	as, bs := make([]float64, len(a)), make([]float64, len(b))
	for i := range found {
		for j := range as {
			n := rand.IntN(len(a))
			as[j], bs[j] = a[n], b[n]
		}
		found[i] = statistic(as, bs)
	}
	return Estimate{Value: statistic(a, b), Low: Quantile(found, 0.025), High: Quantile(found, 0.975)}
}

// MedianRatio is the statistic of how many times b the values of a are.
func MedianRatio(a, b []float64) float64 { return Quantile(a, 0.5) / Quantile(b, 0.5) }

// MedianDifference is the statistic of how much more than b the values of a are.
func MedianDifference(a, b []float64) float64 { return Quantile(a, 0.5) - Quantile(b, 0.5) }
