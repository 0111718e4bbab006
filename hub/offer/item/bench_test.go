package item

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"tabhub/spec"
)

// BenchmarkToolResult is what a call's answer costs before it goes to the client: a small one, a
// text of 64 KiB with line breaks, an image of 1 MiB.
func BenchmarkToolResult(b *testing.B) {
	text, _ := json.Marshal(strings.Repeat("It is what \"a page\" says.\nAnd on. ", 64<<10/34))
	image := base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 1<<20)...))
	for _, c := range []struct{ name, result string }{
		{"small", `{"content":[{"type":"text","text":"hello"}]}`},
		{"structured", `{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}`},
		{"text", `{"content":[{"type":"text","text":` + string(text) + `}]}`},
		{"image", `{"content":[{"type":"image","mimeType":"image/png","data":"` + image + `"}]}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			it := &Item{Provenance: Provenance{Domain: "example.com"}}
			resp := spec.Response{Result: json.RawMessage(c.result)}
			b.SetBytes(int64(len(c.result)))
			b.ReportAllocs()
			for b.Loop() {
				it.ToolResult(resp, "")
			}
		})
	}
}
