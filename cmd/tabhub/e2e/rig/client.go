package rig

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
)

// Sign makes a JSON Web Token (HS256) with any claims.
func Sign(secret []byte, claims map[string]any) string {
	body, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(body)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return text + "." + encode(mac.Sum(nil))
}

// Event is one event of an event stream.
type Event struct {
	Name string
	Data []byte
}

// Events reads an event stream to its end.
func Events(r io.Reader) func(yield func(Event) bool) {
	return func(yield func(Event) bool) {
		lines := bufio.NewReaderSize(r, 64<<10)
		var e Event
		for {
			line, err := lines.ReadBytes('\n')
			line = bytes.TrimRight(line, "\r\n")
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch {
			case err != nil:
				return
			case len(line) == 0 && (e.Name != "" || e.Data != nil):
				if !yield(e) {
					return
				}
				e = Event{}
			case string(field) == "event":
				e.Name = string(value)
			case string(field) == "data":
				if e.Data != nil {
					e.Data = append(e.Data, '\n')
				}
				e.Data = append(e.Data, value...)
			}
		}
	}
}
