package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// The hub opens tabs for cached tools through an extension, next to its clients.
func TestHubRequests(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		ctx := t.Context()
		if _, err := (driver{r.relay, "ann", "ext-1"}).request(ctx, "createTab", nil); !errors.Is(err, tabtransport.ErrNotConnected) {
			t.Errorf("without an extension: %v", err)
		}
		ext, id := r.extension(t, "token of ann", "chrome")
		mcp, conn := r.connected(t, "token of ann", id)
		mcp.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
		ext.expect(`{"jsonrpc":"2.0","id":"` + conn + `:1","method":"getTabs"}`)

		type outcome struct {
			result json.RawMessage
			err    error
		}
		request := func(ctx context.Context, user spec.UserID) <-chan outcome {
			done := make(chan outcome, 1)
			go func() {
				b, err := driver{r.relay, user, id}.request(ctx, "createTab", json.RawMessage(`{"url":"https://example.com"}`))
				done <- outcome{b, err}
			}()
			return done
		}
		done := request(ctx, "ann")
		m := ext.message()
		if m.Method != "createTab" || string(m.Params) != `{"url":"https://example.com"}` || strings.HasPrefix(string(m.ID), `"`+conn) || !strings.HasPrefix(string(m.ID), `"conn-`) {
			t.Fatalf("%+v", m)
		}
		if s := r.relay.Stats(); s.InFlight != 2 { // and the client's
			t.Errorf("%+v", s)
		}
		ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tabId":7}}`, m.ID))
		if o := <-done; o.err != nil || string(o.result) != `{"tabId":7}` {
			t.Fatalf("%+v", o)
		}
		mcp.quiet(time.Second)

		done = request(ctx, "ann")
		m = ext.message()
		ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"message":"No window","stack":"secret path"}}`, m.ID))
		if o := <-done; o.err == nil || o.err.Error() != "No window (-32000)" {
			t.Errorf("%+v", o)
		}

		if o := <-request(ctx, "eve"); !errors.Is(o.err, tabtransport.ErrNotConnected) {
			t.Errorf("another user: %+v", o)
		}

		cancelled, cancel := context.WithCancel(ctx)
		done = request(cancelled, "ann")
		m = ext.message()
		cancel()
		if o := <-done; !errors.Is(o.err, context.Canceled) {
			t.Errorf("%+v", o)
		}
		ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":"late"}`, m.ID))

		done = request(ctx, "ann")
		ext.message()
		time.Sleep(151 * time.Second)
		if o := <-done; !errors.Is(o.err, tabtransport.ErrTimeout) {
			t.Errorf("%+v", o)
		}

		done = request(ctx, "ann")
		ext.message()
		ext.ws.NetConn().Close()
		if o := <-done; !errors.Is(o.err, tabtransport.ErrLost) {
			t.Errorf("%+v", o)
		}
		if o := <-request(ctx, "ann"); !errors.Is(o.err, tabtransport.ErrNotConnected) {
			t.Errorf("%+v", o)
		}
		// Shipped extensions tell of a failure in a result, too.
		again, _ := r.extension(t, "token of ann", "chrome")
		for result, want := range map[string]string{
			`{"error":"No tab attached"}`:        "No tab attached (-32000)",
			`{"success":false}`:                  "Extension failed without a message (-32000)",
			`{"success":true,"error":null}`:      "",
			`{"error":{"of":"a page"},"data":1}`: "",
			`["success"]`:                        "",
		} {
			done = request(ctx, "ann")
			again.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, again.message().ID, result))
			if o := <-done; want == "" && (o.err != nil || string(o.result) != result) || want != "" && (o.err == nil || o.err.Error() != want) {
				t.Errorf("%s: %+v", result, o)
			}
		}
		again.ws.NetConn().Close()
		again.next()
		synctest.Wait()
		if s := r.relay.Stats(); s.InFlight != 0 || s.Connections != 1 {
			t.Errorf("%+v", s)
		}
		if all := r.relay.Extensions("ann"); len(all) != 1 || all[0].Connected || all[0].Clients != 1 {
			t.Errorf("%+v", all)
		}
	})
}
