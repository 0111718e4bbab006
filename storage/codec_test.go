package storage

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"
)

// TestEveryFieldIsKept notices a field that was added to a type and not to its
// encoding.
func TestEveryFieldIsKept(t *testing.T) {
	keeps(t, appendTab, decodeTab)
	keeps(t, appendName, decodeName)
	keeps(t, appendNumber, decodeNumber)
	keeps(t, appendBrowser, decodeBrowser)
	keeps(t, appendSite, decodeSite)
	keeps(t, appendRecord, func(b []byte) (Record, error) {
		rs, err := decodeBlock(b)
		if len(rs) != 1 {
			return Record{}, errors.Join(err, errDecode)
		}
		return rs[0], err
	})
}

func keeps[T any](t *testing.T, encode func([]byte, *T) []byte, decode func([]byte) (T, error)) {
	var full T
	fillIn(t, reflect.ValueOf(&full).Elem())
	b := encode(nil, &full)
	got, err := decode(b)
	if err != nil || !reflect.DeepEqual(got, full) {
		t.Errorf("%+v became %+v, %v", full, got, err)
	}
	for n := range b {
		if _, err := decode(b[:n]); err == nil {
			t.Errorf("%T: the first %d of %d bytes decode", full, n, len(b))
		}
	}
	if _, err := decode(append(b, 0)); err == nil {
		t.Errorf("%T: bytes after the end are not noticed", full)
	}
}

// fillIn sets v, and all in it, to values that are not zero.
func fillIn(t *testing.T, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Unix(12345, 6789).UTC()
		return
	case *json.RawMessage:
		*x = json.RawMessage(`{"a": 1}`)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.Type().Name())
	case reflect.Int, reflect.Int64:
		v.SetInt(-1 << 40)
	case reflect.Uint8:
		v.SetUint(200)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillIn(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fillIn(t, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fillIn(t, v.Field(i))
		}
	default:
		t.Fatalf("a %v is not known here", v.Type())
	}
}

func FuzzDecode(f *testing.F) {
	now := time.Unix(1, 2)
	f.Add(appendTab(nil, &Tab{Domain: "d", Key: "k", Tools: []json.RawMessage{json.RawMessage("{}")}, LastUpdated: now}))
	f.Add(appendName(nil, &Name{Public: "p", Tab: 3}))
	f.Add(appendNumber(nil, &Number{Domain: "d", Index: 1, LastSeen: now}))
	f.Add(appendBrowser(nil, &Browser{ID: "b", SecretHash: []byte{1}, LastSeen: now}))
	f.Add(appendSite(nil, &Site{Domain: "d", Cache: new(true)}))
	f.Add(appendRecord(appendRecord(nil, &Record{Tool: "t", Time: now}), &Record{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		again(t, b, decodeTab, appendTab)
		again(t, b, decodeName, appendName)
		again(t, b, decodeNumber, appendNumber)
		again(t, b, decodeBrowser, appendBrowser)
		again(t, b, decodeSite, appendSite)
		if _, err := decodeBlock(b); err != nil && !errors.Is(err, errDecode) {
			t.Error(err)
		}
	})
}

// again checks that what decodes is the same when it is encoded and decoded again.
func again[T any](t *testing.T, b []byte, decode func([]byte) (T, error), encode func([]byte, *T) []byte) {
	v, err := decode(b)
	if err != nil {
		return
	}
	e := encode(nil, &v)
	w, err := decode(e)
	if err != nil || string(encode(nil, &w)) != string(e) {
		t.Errorf("%+v is not %+v: %v", w, v, err)
	}
}
