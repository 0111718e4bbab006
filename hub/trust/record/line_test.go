package record

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// setAll sets all fields of a struct to something that is not their zero value.
func setAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 28, 12, 0, 0, 120, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				setAll(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAll(v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		for i := range v.Len() {
			setAll(v.Index(i))
		}
	case reflect.String:
		v.SetString("a<\"\\\n\u2028é\xff" + v.Type().Name())
	case reflect.Uint64, reflect.Uint8:
		v.SetUint(7)
	case reflect.Int, reflect.Int64:
		v.SetInt(1 << 40)
	default:
		panic(v.Kind())
	}
}

// A field that a line does not have is missing in the record of everybody.
func TestLineHasAllFields(t *testing.T) {
	var all Line
	setAll(reflect.ValueOf(&all).Elem())
	for _, want := range []Line{all, {}, {Entry: Entry{Time: all.Time}}} {
		line := want.appendJSON(nil)
		var got, same Line
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		std, _ := json.Marshal(want)
		if err := json.Unmarshal(std, &same); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, same) {
			t.Errorf("%s\nis not %s", line, std)
		}
	}
}
