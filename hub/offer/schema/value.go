package schema

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// values calls f for v and all values within it.
func values(v *rawjson.Value, f func(v *rawjson.Value)) {
	f(v)
	for i := range v.Elements {
		values(&v.Elements[i], f)
	}
	for i := range v.Members {
		values(&v.Members[i].Value, f)
	}
}

// measure returns an error if a number in v costs more than its size says.
func measure(v *rawjson.Value) (err error) {
	values(v, func(v *rawjson.Value) {
		if v.Kind == rawjson.KindNumber {
			err = cmp.Or(err, keyword.CheckNumber(v.Text))
		}
	})
	return err
}

func isInt(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil || keyword.Rat(text).IsInt()
}

// isMultipleOf reports whether a is a multiple of b, which is not 0.
func isMultipleOf(a, b *big.Rat) bool { return new(big.Rat).Quo(a, b).IsInt() }

// typeOf returns the type of a value; a number is a number, whole or not.
func typeOf(v *rawjson.Value) keyword.Types {
	return [...]keyword.Types{
		rawjson.KindNull: keyword.Null, rawjson.KindBool: keyword.Boolean, rawjson.KindNumber: keyword.Float,
		rawjson.KindString: keyword.String, rawjson.KindArray: keyword.Array, rawjson.KindObject: keyword.Object,
	}[v.Kind]
}

// equal reports whether two values are the same for JSON Schema: 1 is 1.0.
func equal(a, b rawjson.Value) bool {
	switch {
	case a.Kind != b.Kind:
		return false
	case a.Kind == rawjson.KindNumber:
		return a.Text == b.Text || keyword.Rat(a.Text).Cmp(keyword.Rat(b.Text)) == 0
	}
	return a.Text == b.Text && slices.EqualFunc(a.Elements, b.Elements, equal) &&
		slices.EqualFunc(a.Members, b.Members, func(a, b rawjson.Member) bool { return a.Name == b.Name && equal(a.Value, b.Value) })
}

// duplicates returns two elements that are equal.
func duplicates(all []rawjson.Value) (i, j int, found bool) {
	for j := range all {
		if i := slices.IndexFunc(all[:j], func(v rawjson.Value) bool { return equal(v, all[j]) }); i >= 0 {
			return i, j, true
		}
	}
	return 0, 0, false
}
