//go:build nightly

package e2e

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tabhub/tabtransport/tabtest/chromium"
)

var pictures = flag.String("pictures", "", "directory to write README's pictures to")

// maxPicture is the largest size of a picture in README, in bytes.
const maxPicture = 150_000

// README's pictures must show what tabhub does today: a shop's tab, a client that calls its
// tools, and the dashboard, which shows that and asks.
func TestPicture(t *testing.T) {
	t.Parallel()
	themes := []string{"light", "dark"}
	if *pictures == "" {
		themes = themes[:1] // whether it can be taken, one says
	}
	for _, theme := range themes {
		t.Run(theme, func(t *testing.T) {
			p := newPlace(t, "TABHUB_POLICY=careful", "TABHUB_ASK=dashboard")
			dir := t.TempDir()
			if *pictures != "" {
				dir, p.listen = *pictures, "127.0.0.1:3300" // as readers will see it
			}
			p.serve()
			file := filepath.Join(dir, "picture-"+theme+".png")
			p.takePicture(p.browseWith(chromium.Options{Dark: theme == "dark"}), file)
			if size := shrink(t, file); size > maxPicture {
				t.Errorf("%s has %d bytes", file, size)
			}
		})
	}
}

// takePicture has a client call tools of a tab until it shows what is to be seen, and writes
// the picture.
func (p *place) takePicture(b *chromium.Browser, file string) {
	shop := b.Open("http://" + p.tabsAt() + "/demo")
	shop.Resize(700, 620)
	shop.WaitFor(`tabhub.status.state === "open" && tabhub.status.by === "extension"`)
	shop.Eval(`document.querySelector(".brand p").remove()`)

	dashboard := b.Open(strings.TrimSpace(p.succeed("dashboard", "--print")))
	dashboard.AwaitDocument("http:")
	dashboard.Resize(880, 1090)
	dashboard.WaitFor(`document.querySelector("#count-tabs")?.textContent === "1"`) // the page is the extension's alone

	p.env = append(p.env, "TABHUB_TOKEN="+strings.TrimSpace(p.succeed("token", "mint", "--name", "my agent")))
	client := p.hostAs("agent")
	name := func(tool string) string {
		named := func(name string) bool { return strings.HasSuffix(name, "_"+tool) }
		names := slices.DeleteFunc(slices.Collect(maps.Keys(client.tools())), func(name string) bool { return !named(name) })
		return slices.MinFunc(names, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	}
	var calls strings.Builder
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"search_products", map[string]any{"query": "mug"}},
		{"add_to_cart", map[string]any{"productId": 1, "quantity": 2}},
	} {
		args, err := json.Marshal(c.args)
		if err != nil {
			p.t.Fatal(err)
		}
		result := string(client.do(name(c.tool), c.args))
		if len(result) > 90 {
			result = result[:90] + "…"
		}
		fmt.Fprintf(&calls, "<b>%s</b> %s\n<span>→ %s</span>\n", name(c.tool), html.EscapeString(string(args)), html.EscapeString(result))
	}

	ctx, stop := context.WithCancel(p.t.Context())
	var going sync.WaitGroup
	defer going.Wait()
	defer stop()
	for _, c := range []*mcp.CallToolParams{
		{Name: name("wrap_gift"), Arguments: map[string]any{"productId": 1, "seconds": 10}},
		{Name: name("checkout"), Arguments: map[string]any{"note": "Gift wrapped, please"}},
	} {
		going.Go(func() { _, _ = client.session.CallTool(ctx, c) })
	}
	dashboard.Front()
	dashboard.WaitFor(`[...document.querySelectorAll("#calls progress")].some((bar) => bar.value > 0)`)
	dashboard.WaitFor(`document.querySelector("#questions button")?.ariaDisabled === "false"`)
	decided := inline(p.t, dashboard)
	shop.Front()

	template, err := os.ReadFile("testdata/picture.html")
	if err != nil {
		p.t.Fatal(err)
	}
	whole := filepath.Join(p.t.TempDir(), "picture.html")
	text := strings.NewReplacer("{calls}", calls.String(), "{address}", p.listen+"/demo", "{dashboard}", decided, "{shop}", inline(p.t, shop)).Replace(string(template))
	if err := os.WriteFile(whole, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	picture := b.Open("file://" + whole)
	var height int64
	picture.Into(`Math.ceil(document.body.getBoundingClientRect().height)`, &height)
	picture.Resize(1280, height)
	picture.Screenshot(file)
}

// inline returns what a page shows, in base64.
func inline(t testing.TB, page *chromium.Page) string {
	file := filepath.Join(t.TempDir(), "part.png")
	page.Screenshot(file)
	part, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(part)
}

// shrink writes a picture anew with 256 of its most frequent colours, few that are alike, and
// returns its size.
func shrink(t *testing.T, file string) int64 {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	whole, err := png.Decode(in)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[color.RGBA]int)
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(whole.At(x, y)).(color.RGBA) }
	bounds := whole.Bounds()
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			count[at(x, y)]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int { return cmp.Compare(count[b], count[a]) })
	var palette color.Palette
	alike := make(map[[3]uint8]int) // how many of the palette
	for _, c := range frequent {
		if like := [3]uint8{c.R >> 5, c.G >> 5, c.B >> 5}; len(palette) < 256 && alike[like] < 6 {
			alike[like]++
			palette = append(palette, c)
		}
	}
	nearest := make(map[color.RGBA]uint8)
	for c := range count {
		nearest[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(bounds, palette)
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			small.SetColorIndex(x, y, nearest[at(x, y)])
		}
	}
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(out, small); err != nil {
		t.Fatal(err)
	}
	fi, err := out.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return fi.Size()
}
