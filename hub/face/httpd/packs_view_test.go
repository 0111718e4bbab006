package httpd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/face/admin"
	"tabhub/hub/offer/pack"
	"tabhub/hub/packs"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/tabtransport/tabtest/chromium"
)

// packFile returns the body that adds a pack of two tools; order clicks a button.
func packFile(title, button string) string {
	doc := fmt.Sprintf(`{"tabhubPack":1,"name":"shop-tools","title":%q,"match":["https://shop.example/*"],"tools":[
		{"name":"read_heading","description":"Reads the heading.","annotations":{"readOnlyHint":true},"steps":[{"read":{"fields":{"heading":{"target":{"role":"heading"}}}}}],"examples":[{"gives":{"heading":"Shop"}}]},
		{"name":"order","description":"Orders what is in the cart.","steps":[{"click":{"target":{"role":"button","name":%q}}}]}]}`, title, button)
	body, _ := json.Marshal(admin.PackFile{File: "shop-tools.json", Text: doc})
	return string(body)
}

// onlyPack returns the pack that there is, nil for none.
func (d *testServer) onlyPack() *admin.PackReport {
	d.t.Helper()
	_, body, _ := d.ask("GET", "/api/packs?name=shop-tools", "")
	var packs []admin.PackReport
	if json.Unmarshal([]byte(body), &packs) != nil || len(packs) != 1 {
		return nil
	}
	return &packs[0]
}

// picture writes what a page shows to $TABHUB_PICTURES, wide and narrow, light and dark, for people to look at.
func picture(page *chromium.Page, name string) {
	dir := os.Getenv("TABHUB_PICTURES")
	if dir == "" {
		return
	}
	page.Eval(`document.querySelector("#toasts").replaceChildren()`)
	for _, width := range []int64{1280, 390} {
		page.Resize(width, 900)
		for _, dark := range []bool{false, true} {
			page.Dark(dark)
			page.Screenshot(filepath.Join(dir, fmt.Sprintf("%s-%d-%t.png", name, width, dark)))
		}
	}
	page.Resize(1280, 900)
	page.Dark(false)
}

// A pack gives its tools only after the owner has read on the dashboard what it may do, and said yes; a
// change waits with the difference, and what was in use stays so.
func TestPacksOnTheDashboard(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := d.openSignedIn(chromium.Shared(t, chromium.Options{}))
	shot := func(name string) { picture(page, "packs-"+name) }
	awaitView(page, "sites?show=packs")
	page.WaitFor(`document.querySelector("#no-packs")?.checkVisibility()`)
	shot("none")
	twice := func(name string) {
		t.Helper()
		button := fmt.Sprintf(`[...document.querySelectorAll("#pack-parts button")].find(b => b.textContent.startsWith(%q))`, name)
		page.WaitFor(button + `?.checkVisibility()`)
		page.Eval(button + `.click()`)
		page.WaitFor(button + fmt.Sprintf(`?.textContent === %q`, name+"?"))
		page.Eval(button + `.click()`)
	}

	// A file that is no pack says where it is wrong.
	choose := func(body string) {
		t.Helper()
		var in admin.PackFile
		if err := json.Unmarshal([]byte(body), &in); err != nil {
			t.Fatal(err)
		}
		page.Eval(fmt.Sprintf(`(input => { const all = new DataTransfer(); all.items.add(new File([%q], %q)); input.files = all.files })(document.querySelector("#pack-form [name=file]"))`, in.Text, in.File))
		page.Click("#pack-form button")
	}
	choose(strings.Replace(packFile("Shop tools", "Order"), "click", "klick", 1))
	page.WaitFor(`document.querySelector("#pack-form .answer").textContent.includes("tools[1].steps[0]")`)
	choose(packFile(hostileText, "Order"))
	page.WaitFor(`document.querySelector("#pack-state")?.textContent === "waiting for you"`)
	page.WaitFor(`document.querySelector("#pack-parts").textContent.includes("onerror=") || document.querySelector("#pack-parts").textContent.includes("Order")`)
	if p := d.onlyPack(); p == nil || p.Active != nil {
		t.Fatalf("before the owner has said yes: %+v", p)
	}
	wantInert(t, page)
	shot("waits")
	twice("Accept")
	page.WaitFor(`document.querySelector("#pack-state").textContent === "in use"`)
	first := d.onlyPack()
	if first.Active == nil || first.Waiting != nil || first.Active.By != "dashboard" {
		t.Fatalf("after yes: %+v", first)
	}
	shot("used")

	// A change waits, and is rejected; another one is accepted.
	change := func(button string) {
		t.Helper()
		if status, body := d.askOwner("PUT", "/api/packs", packFile("Shop", button)); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		page.WaitFor(fmt.Sprintf(`document.querySelector("#pack-state").textContent.includes("a change waits for you") && document.querySelector("#pack-parts .change") && document.querySelector("#pack-parts").textContent.includes(%q)`, button))
	}
	change("Order all")
	awaitView(page, "now")
	page.WaitFor(`document.querySelector("#packs-wait").textContent === "The pack shop-tools waits for you" && document.querySelector("#packs-wait").checkVisibility()`)
	page.Click("#packs-wait a")
	page.WaitFor(`document.querySelector("#packs")?.rows.length === 1 && !document.querySelector("#packs-wait").checkVisibility()`)
	page.Click("#packs a")
	page.WaitFor(`document.querySelector("#pack-parts .change")`)
	shot("change")
	twice("Reject")
	page.WaitFor(`document.querySelector("#pack-state").textContent === "in use"`)
	if p := d.onlyPack(); p.Active.Hash != first.Active.Hash {
		t.Error("a rejected version is in use")
	}
	change("Order it")
	twice("Accept")
	page.WaitFor(`document.querySelector("#pack-state").textContent === "in use"`)
	if p := d.onlyPack(); p.Active.Hash == first.Active.Hash {
		t.Error("the accepted version is not in use")
	}

	// What reads is tried; no tab offers it here.
	page.Eval(`[...document.querySelectorAll("#pack-parts button")].find(b => b.textContent === "Test what reads").click()`)
	page.WaitFor(`document.querySelector("#pack-parts").textContent.includes("No tab offers it")`)
	awaitView(page, "sites?show=packs")
	page.WaitFor(`document.querySelector("#packs").rows.length === 1`)
	shot("list")
	page.Click("#packs a")
	twice("Remove")
	page.WaitFor(`document.querySelector("#pack-gone").checkVisibility()`)
	if p := d.onlyPack(); p != nil {
		t.Errorf("after its removal: %+v", p)
	}
	wantInert(t, page)
}

// The owner decides about the version that they have read: another one that has come meanwhile is not
// accepted in its place.
func TestPackThatHasChangedIsNotAccepted(t *testing.T) {
	d := openSignIn(t, nil)
	ask := d.openWriter()
	add := func(button string) admin.PackAdded {
		t.Helper()
		status, body := ask("PUT", "/api/packs", packFile("Shop", button))
		var added admin.PackAdded
		if err := json.Unmarshal([]byte(body), &added); status != http.StatusOK || err != nil {
			t.Fatalf("%d %s", status, body)
		}
		return added
	}
	read, now := add("Order"), add("Delete all")
	about := func(p admin.PackAdded) string {
		return fmt.Sprintf(`{"name":"shop-tools","hash":%q}`, p.Pack.Waiting.Hash)
	}
	if status, body := ask("POST", "/api/packs/accept", about(read)); status != http.StatusConflict {
		t.Errorf("%d %s", status, body)
	}
	if p := d.onlyPack(); p.Active != nil || p.Waiting.Hash != now.Pack.Waiting.Hash {
		t.Errorf("there is %+v", p)
	}
	if status, body := ask("POST", "/api/packs/accept", about(now)); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	if status, body := ask("DELETE", "/api/packs?name=other", ""); status != http.StatusNotFound {
		t.Errorf("%d %s", status, body)
	}
}

// The owner is asked on the dashboard what a pack is to do, answers there, and sees at the site and at the tool whose
// tool it is. A rule that they make in the tool's row is about the pack.
func TestPackIsAskedAboutOnTheDashboard(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := d.openSignedIn(chromium.Shared(t, chromium.Options{}))
	page.Resize(1280, 900)
	doc, err := pack.Parse([]byte(`{"tabhubPack":1,"name":"shop-tools","match":["https://shop.example/*"],"tools":[{"name":"order","title":"Order the cart",
		"description":"Orders what is in the cart.","inputSchema":{"type":"object","properties":{"note":{"type":"string"}}},
		"steps":[{"fill":{"fields":[{"target":{"label":"Note"},"value":{"arg":"note"}}]}},{"click":{"target":{"role":"button","name":"Order"}}}]}]}`))
	if err == nil {
		_, err = d.tenant.Hub.Packs.Add(doc, packs.AddOptions{By: consent.ByDashboard, Accept: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	done := json.RawMessage(`{"steps":[{"verb":"fill","did":"yes"},{"verb":"click","did":"yes"}]}`)
	d.join("Chromium 156", "https://shop.example/", "Shop", answering(string(done)), `{"name":"order","pack":{"name":"shop-tools","hash":"`+doc.Hash+`"},"frameId":0,"origin":"https://shop.example"}`)
	awaitView(page, "now")
	by := &consent.Caller{Principal: &policy.Principal{ID: "c-claude", Name: "claude"}, Session: "s"}
	called := make(chan error, 1)
	go func() {
		_, err := d.tenant.Hub.Calls.Call(t.Context(), call.Request{Name: "pack_shop-tools_shop_example__order", Args: json.RawMessage(`{"note":"<b>by the door</b>"}`), By: by})
		called <- err
	}()
	page.WaitFor(`document.querySelector("#questions article")?.textContent.includes("claude wants to run order of your pack shop-tools (added by you on ")`)
	page.WaitFor(`document.querySelector("#questions article").textContent.includes("The pack calls it Order the cart")`)
	page.WaitFor(`document.querySelector("#questions .steps").children.length === 2 && document.querySelector("#questions .steps").textContent.includes("<b>by the door</b>")`)
	picture(page, "question-of-a-pack")
	page.Eval(`document.querySelector("#questions select").value = "app"`)
	page.WaitFor(`document.querySelector(".answer-yes").ariaDisabled === "false"`)
	page.Click(".answer-yes")
	if err := <-called; err != nil {
		t.Error(err)
	}
	awaitView(page, "sites?site=shop.example")
	page.WaitFor(`document.querySelector("#access")?.textContent.includes("of the pack shop-tools") && document.querySelector("#rules").textContent.includes("of the pack shop-tools · write")`)
	page.Eval(`(s => { s.value = "deny"; s.dispatchEvent(new Event("change")) })(document.querySelector("[aria-label='Your rule for order']"))`)
	page.WaitFor(`document.querySelector("#rules").rows.length === 2 && document.querySelector("#access .chip").textContent === "deny"`)
	if rules := d.tenant.Hub.Rules.Policy().Document().Rules; len(rules) != 2 || rules[1].Pack != "shop-tools" || rules[1].Tool != "order" || rules[0].Client != "c-claude" {
		t.Errorf("the rules are %+v", rules)
	}
	picture(page, "site-with-a-pack")
	page.Click("#access a")
	page.WaitFor(`document.querySelector("#where")?.textContent.includes("shop-tools, which you have added")`)
	picture(page, "tool-of-a-pack")
	page.Click("#where a[href^='#sites?show=packs']")
	page.WaitFor(`document.querySelector("#pack-parts")?.textContent.includes("clicks button")`)
}
