package storage_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"tabhub/storage"
)

// changes returns what s holds.
func changes(s *storage.State) []storage.Change {
	return slices.Concat(boxed(s.Tabs), boxed(s.Names), boxed(s.Numbers), boxed(s.Browsers), boxed(s.Sites), boxed(s.Settings), boxed(s.Documents))
}

func boxed[T storage.Change](values []T) []storage.Change {
	var all []storage.Change
	for _, v := range values {
		all = append(all, v)
	}
	return all
}

// decode decodes one value that c has, or would have.
func decode(c storage.Change, b []byte) (storage.Change, error) {
	var s storage.State
	if err := s.Decode(storage.KeyOf(c).Bucket, b); err != nil {
		return nil, err
	}
	return changes(&s)[0], nil
}

// TestEveryFieldIsKept notices a field that was added to a type and not to its
// encoding.
func TestEveryFieldIsKept(t *testing.T) {
	keeps[storage.Tab](t)
	keeps[storage.Name](t)
	keeps[storage.Number](t)
	keeps[storage.Browser](t)
	keeps[storage.Site](t)
	keeps[storage.Settings](t)
	keeps[storage.Document](t)
}

func keeps[T storage.Change](t *testing.T) {
	var full T
	fillIn(t, reflect.ValueOf(&full).Elem())
	b := storage.Encode(full)
	got, err := decode(full, b)
	if err != nil || !reflect.DeepEqual(got, storage.Change(full)) {
		t.Errorf("%+v became %+v, %v", full, got, err)
	}
	for n := range b {
		if name, ok := storage.Change(full).(storage.Name); ok && len(b)-n == len(name.Pack)+1 {
			continue // a page's name
		}
		if _, err := decode(full, b[:n]); err == nil {
			t.Errorf("%T: the first %d of %d bytes: %v", full, n, len(b), err)
		}
	}
	if _, err := decode(full, append(b, 0)); err == nil {
		t.Errorf("%T: bytes after the end are not noticed", full)
	}
}

// TestKeys: what replaces what. A key that two values share is one of them lost.
func TestKeys(t *testing.T) {
	for _, same := range [][2]storage.Change{
		{storage.Tab{Domain: "d", Key: "k", Title: "t"}, storage.DeleteTab{Domain: "d", Key: "k"}},
		{storage.Number{Domain: "d", Key: "k", Index: 1}, storage.DeleteNumber{Domain: "d", Key: "k"}},
		{storage.Name{Public: "p", Item: "i"}, storage.DeleteName{Public: "p"}},
		{storage.Document{Kind: "k", ID: "i"}, storage.DeleteDocument{Kind: "k", ID: "i"}},
	} {
		if a, b := storage.KeyOf(same[0]), storage.KeyOf(same[1]); a != b || storage.Encode(same[1]) != nil {
			t.Errorf("%T does not delete %T", same[1], same[0])
		}
	}
	seen := map[string]storage.Change{}
	for _, c := range []storage.Change{
		storage.Tab{Domain: "a", Key: "bc"}, storage.Tab{Domain: "ab", Key: "c"}, storage.Tab{Domain: "abc"},
		storage.Number{Domain: "a", Key: "bc"}, storage.Document{Kind: "a", ID: "bc"}, storage.Document{Kind: "ab", ID: "c"}, storage.Name{Public: "abc"}, storage.Browser{ID: "abc"}, storage.Site{Domain: "abc"},
	} {
		k := storage.KeyOf(c)
		id := fmt.Sprintf("%s %x", k.Bucket, k.Bytes())
		if seen[id] != nil || !slices.Contains(storage.Buckets(), k.Bucket) {
			t.Errorf("%T has the key %s, as %T has", c, id, seen[id])
		}
		seen[id] = c
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
	f.Add(storage.Encode(storage.Tab{Domain: "d", Key: "k", Tools: []json.RawMessage{json.RawMessage("{}")}, LastUpdated: now}))
	f.Add(storage.Encode(storage.Name{Public: "p", Tab: 3}))
	f.Add(storage.Encode(storage.Name{Public: "p", Pack: "k"}))
	f.Add(storage.Encode(storage.Number{Domain: "d", Index: 1, LastSeen: now}))
	f.Add(storage.Encode(storage.Browser{ID: "b", SecretHash: []byte{1}, LastSeen: now}))
	f.Add(storage.Encode(storage.Site{Domain: "d", Cache: new(true)}))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, bucket := range storage.Buckets() {
			var s storage.State
			if s.Decode(bucket, b) == nil {
				same(t, changes(&s))
			}
		}
	})
}

// same checks that what was decoded is the same when it is encoded and decoded again.
func same(t *testing.T, decoded []storage.Change) {
	for _, v := range decoded {
		e := storage.Encode(v)
		w, err := decode(v, e)
		if err != nil || string(storage.Encode(w)) != string(e) {
			t.Errorf("%+v is not %+v: %v", w, v, err)
		}
	}
}
