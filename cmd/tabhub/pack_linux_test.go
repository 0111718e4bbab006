package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"tabhub/cmd/tabhub/internal/daemon"
	"tabhub/cmd/tabhub/internal/terminal/ptytest"
	"tabhub/hub/face/admin"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// shopTools is a pack; button is what its tool order clicks.
func shopTools(button string) string {
	return fmt.Sprintf(`{"tabhubPack":1,"name":"shop-tools","match":["https://shop.example.com/*"],"tools":[
	{"name":"read_heading","description":"Returns the heading.","annotations":{"readOnlyHint":true},
	 "outputSchema":{"type":"object","properties":{"heading":{"type":"string"}},"required":["heading"]},
	 "steps":[{"read":{"fields":{"heading":{"target":{"role":"heading"}}}}}],"examples":[{"gives":{"heading":"Shop"}}]},
	{"name":"order","description":"Orders what is in the cart.","steps":[{"click":{"target":{"role":"button","name":%q}}}],"examples":[{"input":{}}]}]}`, button)
}

func writePack(t *testing.T, button string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop-tools.json")
	if err := os.WriteFile(file, []byte(shopTools(button)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// onTerminal runs a command on a terminal where somebody types a line once they are asked.
func onTerminal(t *testing.T, p *daemon.Process, types string, args ...string) (code int, printed string) {
	t.Helper()
	screen, tty := ptytest.Open(t, 100)
	done := make(chan string)
	go func() {
		var all bytes.Buffer
		typed := false
		for b := make([]byte, 4096); ; {
			n, err := screen.Read(b)
			all.Write(b[:n])
			if !typed && strings.Contains(all.String(), "? y/N ") {
				typed = true
				io.WriteString(screen, types+"\n")
			}
			if err != nil { // nobody has the tty any more
				break
			}
		}
		done <- strings.ReplaceAll(all.String(), "\r\n", "\n")
	}()
	code = run(t.Context(), append(args, "--data-dir", string(p.Dir)), tty, tty, tty, noEnv)
	tty.Close()
	return code, <-done
}

// piped runs a command as a program does.
func piped(t *testing.T, p *daemon.Process, args ...string) (code int, printed string) {
	t.Helper()
	var b bytes.Buffer
	code = run(t.Context(), append(args, "--data-dir", string(p.Dir)), strings.NewReader("y\ny\n"), &b, &b, noEnv)
	return code, b.String()
}

func packOf(t *testing.T, p *daemon.Process) (pack admin.PackReport) {
	t.Helper()
	code, printed := piped(t, p, "pack", "list", "--json")
	var all []admin.PackReport
	if err := json.Unmarshal([]byte(printed), &all); code != 0 || err != nil {
		t.Fatalf("%d %s", code, printed)
	}
	if len(all) == 1 {
		pack = all[0]
	}
	return pack
}

// An owner adds a pack after they have read what it may do. What a program adds waits for that, whatever
// it writes to the command; so does a change.
func TestPackIsAcceptedOnATerminal(t *testing.T) {
	p, _ := serveTest(t)
	if code, printed := onTerminal(t, p, "", "pack", "add", writePack(t, "Order")); code != 0 || !strings.Contains(printed, "shop-tools was not added") {
		t.Fatalf("no answer: %d %s", code, printed)
	}
	if pack := packOf(t, p); pack.Name != "" {
		t.Fatalf("what was not accepted is there: %+v", pack)
	}
	if code, printed := piped(t, p, "pack", "add", writePack(t, "Order")); code != 0 || !strings.Contains(printed, "waits for you") {
		t.Fatalf("by a program: %d %s", code, printed)
	}
	if pack := packOf(t, p); pack.Active != nil || pack.Waiting == nil {
		t.Fatalf("by a program: %+v", pack)
	}
	code, printed := onTerminal(t, p, "y", "pack", "add", "shop-tools") // what waits
	if before, _, _ := strings.Cut(printed, "? y/N "); code != 0 || !strings.Contains(before, `"Order"`) || !strings.Contains(printed, "shop-tools is in use") {
		t.Fatalf("accepted: %d %s", code, printed)
	}
	first := packOf(t, p)
	if code, printed := piped(t, p, "policy", "set", "allow", "--pack", "shop-tools", "--class", "write"); code != 0 {
		t.Fatal(printed)
	}
	if code, printed := onTerminal(t, p, "n", "pack", "add", writePack(t, "Delete")); code != 0 || !strings.Contains(printed, "would change") || !strings.Contains(printed, "Delete") || !strings.Contains(printed, "what you have allowed is asked about again") || !strings.Contains(printed, "shop-tools stays as it was") {
		t.Fatalf("a change: %d %s", code, printed)
	}
	if now := packOf(t, p); now.Active.Hash != first.Active.Hash || now.Waiting != nil {
		t.Errorf("after no: %+v", now)
	}
	if code, printed := piped(t, p, "pack", "add", writePack(t, "Order")); code != 0 || !strings.Contains(printed, "is in use as it is; nothing of it waits") {
		t.Errorf("again: %d %s", code, printed)
	}
}

// An author sees by the exit code and the words of `tabhub pack test` whether the site is still as the
// pack expects. What acts is not done unless they say so, of each.
func TestPackTest(t *testing.T) {
	p, _ := serveTest(t, "--policy", "open")
	var answer atomic.Pointer[spec.RunResult]
	var acted atomic.Int32
	var off []spec.PackOff
	browser, err := tabtransport.Join(t.Context(), p.Tabs.Transport(spec.LocalUser), tabtransport.Conn{
		Attested: true, Dialect: "tabhub.v1", Pairing: "p-1",
		Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, BrowserID: "b-1", BrowserName: "Chromium on Linux", Capabilities: []spec.Capability{spec.CapPacks}},
	}, func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
		if _, ok := in.Request.(*spec.ListPacks); ok {
			b, err := json.Marshal(spec.ListPacksResult{Off: off})
			return spec.Response{Result: b}, err
		}
		r, ok := in.Request.(*spec.Run)
		if !ok {
			return spec.Response{}, spec.Errorf(spec.CodeInternal, "not in this test")
		}
		result := answer.Load()
		if r.ToolName == "order" {
			acted.Add(1)
			result = &spec.RunResult{Steps: []spec.StepReport{{Verb: "click", Did: spec.DidYes, Words: `clicked button "Order"`}}, Value: json.RawMessage(`{}`)}
		}
		b, err := json.Marshal(result)
		return spec.Response{Result: b}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Close)
	if code, printed := onTerminal(t, p, "y", "pack", "add", writePack(t, "Order")); code != 0 {
		t.Fatal(printed)
	}
	if code, printed := piped(t, p, "pack", "test", "shop-tools"); code != 1 || !strings.Contains(printed, "no tab offers it: open a page that https://shop.example.com/* matches") {
		t.Errorf("without a tab: %d %s", code, printed)
	}
	ref := fmt.Sprintf(`"pack":{"name":"shop-tools","hash":%q},"origin":"https://shop.example.com"`, packOf(t, p).Active.Hash)
	m := &spec.Register{Kind: spec.KindTool, TabURL: "https://shop.example.com/cart", Title: "Shop", Items: []json.RawMessage{
		json.RawMessage(`{"name":"read_heading",` + ref + `}`), json.RawMessage(`{"name":"order",` + ref + `}`),
	}}
	if registered, err := browser.Ask(t.Context(), 1, m); err != nil {
		t.Fatal(err)
	} else if strings.Contains(string(registered), `"reason"`) {
		t.Fatalf("%s", registered)
	}
	read := spec.StepReport{Verb: "read", Did: spec.DidYes}
	answer.Store(&spec.RunResult{Steps: []spec.StepReport{read}, Value: json.RawMessage(`{"heading":"Shop"}`)})
	if code, printed := piped(t, p, "pack", "test", "shop-tools"); code != 0 || !strings.Contains(printed, "ok  read_heading") || !strings.Contains(printed, "left out  order") {
		t.Errorf("as expected: %d %s", code, printed)
	}
	if code, printed := piped(t, p, "pack", "test", "shop-tools", "--tab", "1"); code != 0 {
		t.Errorf("in tab 1: %d %s", code, printed)
	}
	answer.Store(&spec.RunResult{Steps: []spec.StepReport{read}, Value: json.RawMessage(`{"heading":"Store"}`)})
	if code, printed := piped(t, p, "pack", "test", "shop-tools"); code != 1 || !strings.Contains(printed, `heading is "Store"; the example has "Shop"`) || !strings.Contains(printed, "1 of 1 example failed") {
		t.Errorf("another result: %d %s", code, printed)
	}
	answer.Store(&spec.RunResult{Steps: []spec.StepReport{{Verb: "read", Did: spec.DidNo}}, Failed: &spec.StepFailure{Step: 0, Code: spec.StepNotFound, Message: "no heading", Found: []string{`button "Order"`}}})
	if code, printed := piped(t, p, "pack", "test", "shop-tools"); code != 1 || !strings.Contains(printed, "no heading") || !strings.Contains(printed, `button "Order"`) {
		t.Errorf("the page has changed: %d %s", code, printed)
	}
	if code, printed := onTerminal(t, p, "n", "pack", "test", "shop-tools", "--act"); code != 1 || acted.Load() != 0 {
		t.Errorf("acts after no: %d %s", code, printed)
	}
	if code, printed := onTerminal(t, p, "y", "pack", "test", "shop-tools", "--act"); code != 1 || acted.Load() != 1 || !strings.Contains(printed, "order {} · ") {
		t.Errorf("acts after yes: %d %d %s", code, acted.Load(), printed)
	}

	// Where a browser waits for its user, the list says so.
	pack := packOf(t, p)
	off = []spec.PackOff{{PackRef: spec.PackRef{Name: "shop-tools", Hash: pack.Active.Hash}, Why: "its popup asks you"}}
	if code, printed := piped(t, p, "pack", "list"); code != 0 || !strings.Contains(printed, "shop-tools is not offered in Chromium on Linux: its popup asks you") {
		t.Errorf("%d %s", code, printed)
	}
}

// What a person has shown twice becomes a draft with an argument, which waits for them.
func TestPackRecord(t *testing.T) {
	p, _ := serveTest(t)
	tenant, err := p.Tenants.Get(t.Context(), spec.LocalUser)
	if err != nil {
		t.Fatal(err)
	}
	var shown atomic.Value
	browser, err := tabtransport.Join(t.Context(), p.Tabs.Transport(spec.LocalUser), tabtransport.Conn{
		Attested: true, Dialect: "tabhub.v1", Pairing: "p-1",
		Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, BrowserID: "b-1", BrowserName: "Chromium on Linux", Capabilities: []spec.Capability{spec.CapPacks}},
	}, func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
		if r, ok := in.Request.(*spec.Record); ok {
			value, _ := json.Marshal(shown.Load())
			search := spec.Step{Fill: &spec.FillStep{Fields: []spec.FillField{{Target: spec.Target{Label: "Search"}, Value: value}}}}
			go tenant.Hub.Packs.Recorded(&spec.Recorded{Name: r.Name, URL: "https://shop.example.com/", Title: "Shop", Steps: []spec.Step{search}}, "window")
		}
		return spec.Response{Result: json.RawMessage(`{}`)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Close)
	shown.Store("tea")
	if code, printed := piped(t, p, "pack", "record", "shop-search", "--again"); code != 1 || !strings.Contains(printed, "there is no pack shop-search") {
		t.Errorf("again: %d %s", code, printed)
	}
	code, printed := piped(t, p, "pack", "record", "shop-search")
	if code != 0 || !strings.Contains(printed, "Chromium on Linux asks you whether to record") || !strings.Contains(printed, `"tea"`) || !strings.Contains(printed, "waiting for you") {
		t.Fatalf("%d %s", code, printed)
	}
	if code, printed := piped(t, p, "pack", "record", "shop-search"); code != 1 || !strings.Contains(printed, "--again") {
		t.Errorf("%d %s", code, printed)
	}
	shown.Store("coffee")
	if code, printed := piped(t, p, "pack", "record", "shop-search", "--again"); code != 0 || !strings.Contains(printed, "the argument ") || !strings.Contains(printed, "waiting for you") {
		t.Errorf("again: %d %s", code, printed)
	}
	if pack := packOf(t, p); pack.Active != nil {
		t.Error("what was recorded is in use before its owner has accepted it")
	}
}
