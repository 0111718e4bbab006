package largepages

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

//go:embed pages
var files embed.FS

// Page is one of the ten.
type Page struct {
	// Name is the page's path below the server's URL.
	Name string
	// Button is the name of one button on it. A click on it is counted in the page's clicked.
	Button string
	// Around is what stands around the button, as a look says it; "" if nothing does.
	Around string
}

// Pages are the ten. The last takes a browser the longest.
var Pages = []Page{
	{"flat", "Order 19995", ""},
	{"deep", "Order", ""},
	{"origins", "Order 49", `"Frame 49"`},
	{"unicode", "Order", ""},
	{"canvas", "Zoom in", `toolbar "Map"`},
	{"virtual", "Remove row 7", `table "Rows"`},
	{"endless", "Like 7", `article "Post 7"`},
	{"table", "Edit 4999", `table "Orders"`},
	{"components", "Order 2999", ""},
	{"frames", "Order 499", `"Frame 499"`},
}

// New starts a server of the pages, which ends with the test, and returns its URL. The frames of other origins
// are at names below localhost.
func New(t testing.TB) string {
	html := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, "<!doctype html><meta charset=utf-8>", text)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{page}", func(w http.ResponseWriter, r *http.Request) {
		page, err := fs.ReadFile(files, "pages/"+r.PathValue("page")+".html")
		if err != nil {
			http.NotFound(w, r)
			return
		}
		html(w, "<script>"+watch+"</script>"+string(page))
	})
	mux.HandleFunc("GET /frame/{n}", func(w http.ResponseWriter, r *http.Request) {
		html(w, strings.ReplaceAll(`<title>Frame N</title><p>Text of frame N</p><button onclick="top.postMessage('clicked', '*')">Order N</button>`, "N", r.PathValue("n")))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// watch is the script of each page that notes what a person would notice: the longest time from one frame to
// the next, in ms, and how many were longer than 50. watched gives that since it was called last.
const watch = `
let noted = { longest: 0, slow: 0 }, last = performance.now();
requestAnimationFrame(function frame(now) {
	noted.longest = Math.max(noted.longest, now - last);
	noted.slow += now - last > 50;
	last = now;
	requestAnimationFrame(frame);
});
globalThis.watched = () => {
	const was = noted;
	noted = { longest: 0, slow: 0 };
	return was;
};
globalThis.clicked = 0;
addEventListener("message", ({ data }) => (clicked += data === "clicked"));
`
