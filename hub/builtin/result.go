package builtin

import (
	"bytes"
	"encoding/json"

	"tabhub/spec/rawjson"
)

// Text returns a raw CallToolResult that is one block of text.
func Text(text string) json.RawMessage {
	b := append(make([]byte, 0, len(text)+len(text)/8+64), `{"content":[{"type":"text","text":`...)
	return append(rawjson.AppendString(b, text), "}]}"...)
}

// Image returns a raw CallToolResult that is an image. data is a JSON string of base64.
func Image(data json.RawMessage, mimeType string) json.RawMessage {
	b := append(make([]byte, 0, len(data)+96), `{"content":[{"type":"image","data":`...)
	b = append(append(b, data...), `,"mimeType":`...)
	return append(rawjson.AppendString(b, mimeType), "}]}"...)
}

// AsksBack reports whether a raw result of a page says that the page needs something of the
// client first: whether its resultType is input_required. The result may be large, and most
// do not hold the word.
func AsksBack(result json.RawMessage) bool {
	const word = `"input_required"`
	return bytes.Contains(result, []byte(word)) && string(rawjson.Get(result, "resultType")) == word
}
