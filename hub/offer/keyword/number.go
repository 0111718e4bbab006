package keyword

import (
	"errors"
	"math/big"
	"strings"
)

// maxDigits bounds a number's digits, and its exponent's value.
const maxDigits = 400

// errNumber refuses numbers that no program means, and for which exact arithmetic would need
// megabytes.
var errNumber = errors.New("has a number that is out of any range")

// CheckNumber returns an error for a number that costs more than its length says.
func CheckNumber(s string) error {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	exponent = strings.TrimLeft(exponent, "+-0")
	if len(mantissa) > maxDigits || len(exponent) > 3 || len(exponent) == 3 && exponent > "400" {
		return errNumber
	}
	return nil
}

// Rat returns the exact value of a number that CheckNumber accepts.
func Rat(text string) *big.Rat {
	r, _ := new(big.Rat).SetString(text)
	return r
}
