package bridge

import (
	"bytes"

	"tabhub/spec/rawjson"
)

// message is what the bridge must know of a JSON-RPC message. Its fields are slices
// of the line.
type message struct {
	id       []byte // nil: a notification, or what is no id
	method   []byte // nil: a response
	response bool
}

// parseMessage finds the id and the method of a JSON object and reads no further: the hub
// checks the rest. It returns the zero message for what is not an object.
func parseMessage(line []byte) message {
	var m message
	i := space(line, 0)
	if i >= len(line) || line[i] != '{' {
		return m
	}
	for i++; ; i++ {
		i = space(line, i)
		if i >= len(line) || line[i] != '"' {
			return m
		}
		end := skip(line, i)
		key := line[i+1 : max(i+1, end-1)]
		i = space(line, end)
		if i >= len(line) || line[i] != ':' {
			return m
		}
		i = space(line, i+1)
		switch string(key) {
		case "result", "error":
			m.response = true
			if m.id != nil {
				return m
			}
		}
		end = skip(line, i)
		switch string(key) {
		case "id":
			if isID(line[i:end]) {
				m.id = line[i:end]
			}
		case "method":
			if end-i >= 2 && line[i] == '"' {
				m.method = line[i+1 : end-1]
				if bytes.IndexByte(m.method, '\\') >= 0 {
					s, _ := rawjson.String(line[i:end])
					m.method = []byte(s)
				}
			}
		}
		if m.id != nil && (m.method != nil || m.response) {
			return m
		}
		i = space(line, end)
		if i >= len(line) || line[i] != ',' {
			return m
		}
	}
}

// isID reports whether a value can be an id. null cannot: the hub answers with it
// what it cannot tell the id of.
func isID(v []byte) bool {
	return len(v) > 0 && (v[0] == '"' || v[0] == '-' || v[0] >= '0' && v[0] <= '9')
}

// elements calls f for each object in a JSON array, which is how a batch comes. It
// reports whether line is an array.
func elements(line []byte, f func(element []byte)) bool {
	i := space(line, 0)
	if i >= len(line) || line[i] != '[' {
		return false
	}
	for i++; ; i++ {
		i = space(line, i)
		end := skip(line, i)
		if end > i && line[i] == '{' {
			f(line[i:end])
		}
		i = space(line, end)
		if i >= len(line) || line[i] != ',' {
			return true
		}
	}
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skip returns the end of the value that begins at i.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
				if depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return i
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		quote := bytes.IndexByte(b[i:], '"')
		if quote < 0 {
			return len(b)
		}
		i += quote
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
	return len(b)
}
