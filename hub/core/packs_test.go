package core

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/offer/item"
	"tabhub/hub/offer/pack"
	"tabhub/hub/state"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

// added are the packs of an owner.
type added struct {
	mu    sync.Mutex
	packs map[spec.PackRef]*pack.Pack
	asked func() // is called each time after a pack was looked up, if not nil
}

func (a *added) Pack(ref spec.PackRef) *pack.Pack {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.packs[ref]
	if a.asked != nil {
		a.asked()
	}
	return p
}

func (a *added) PackAdded(string) time.Time { return time.Time{} }

func (a *added) set(packs ...*pack.Pack) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.packs = map[spec.PackRef]*pack.Pack{}
	for _, p := range packs {
		a.packs[p.Ref()] = p
	}
}

// shopPack has a tool that orders and one that reads.
func shopPack(t *testing.T, button string) *pack.Pack {
	t.Helper()
	p, err := pack.Parse([]byte(`{"tabhubPack":1,"name":"shop","match":["https://shop.com/*"],"tools":[
		{"name":"order","description":"Orders the cart","steps":[{"click":{"target":{"role":"button","name":"` + button + `"}}}]},
		{"name":"find","description":"Finds products","annotations":{"readOnlyHint":true},"steps":[{"read":{"fields":{"title":{"target":{"role":"heading"}}}}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// packFixture is a Core with packs, over a store.
type packFixture struct {
	t     *testing.T
	store storage.DomainToolStorage
	packs *added
	peers *tabtransport.Peers
	at    string // the origin that the browser says
	*Core
}

// restart opens the Core anew, as the next process would.
func (f *packFixture) restart() {
	f.t.Helper()
	synctest.Wait()
	f.Core.Supersede(ErrClosed)
	f.open()
}

func (f *packFixture) open() {
	f.t.Helper()
	f.peers = tabtransport.NewPeers()
	c, err := Open(f.t.Context(), Options{User: spec.LocalUser, Transport: f.peers, Store: f.store})
	if err != nil {
		f.t.Fatal(err)
	}
	c.Options.Packs = f.packs
	c.Restore(Hooks{
		Listed: func() {}, Leased: func() {}, Ended: func(agents.Ended) {}, Registered: func(spec.TabAddr) {}, Updated: func(spec.TabAddr, string) {},
		Superseded: func(error) {}, InFlight: func() []spec.PeerID { return nil },
	})
	c.Serve()
	f.Core = c
	f.t.Cleanup(func() { c.Supersede(ErrClosed) })
}

func (f *packFixture) browser(attested bool) tabtest.End {
	f.t.Helper()
	c := tabtransport.Conn{
		Origin: "chrome-extension://x", Attested: attested, Dialect: spec.Subprotocol,
		Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, BrowserID: "program", Session: "s1", Capabilities: []spec.Capability{spec.CapPacks}},
	}
	if attested {
		c.Hello.BrowserID, c.Pairing = "paired", "p1"
	}
	e, err := tabtest.Local(f.peers)(f.t, c)
	if err != nil {
		f.t.Fatal(err)
	}
	return e
}

// offer registers what a browser offers in a tab of the shop: the names of tools, with "@" those of a pack.
func (f *packFixture) offer(e tabtest.End, tab int64, p *pack.Pack, names ...string) spec.Registered {
	f.t.Helper()
	m := &spec.Register{Kind: spec.KindTool, TabURL: "https://shop.com/cart", Items: []json.RawMessage{}}
	for _, name := range names {
		raw := fmt.Sprintf(`{"name":%q,"frameId":0,"origin":%q}`, name, f.at)
		if name, ok := strings.CutPrefix(name, "@"); ok {
			raw = fmt.Sprintf(`{"name":%q,"description":"Harmless","annotations":{"readOnlyHint":true},"pack":{"name":%q,"hash":%q},"frameId":0,"origin":%q}`, name, p.Name, p.Hash, f.at)
		}
		m.Items = append(m.Items, json.RawMessage(raw))
	}
	answer, err := e.Ask(tab, m)
	if err != nil {
		f.t.Fatal(err)
	}
	var r spec.Registered
	if err := json.Unmarshal(answer, &r); err != nil {
		f.t.Fatal(err)
	}
	return r
}

// item returns what a public name stands for, also in tabs that are away; nil if there is nothing.
func (f *packFixture) item(public string) *item.Item {
	return View(f.Core, func(s *state.State) *item.Item {
		l, _ := s.Find(agents.By{}, spec.KindTool, public)
		return l.Item
	})
}

// want checks which names there are at the shop, without what they begin with.
func (f *packFixture) want(want string) {
	f.t.Helper()
	var got []string
	for _, name := range []string{"pack_shop_shop_com_order", "pack_shop_shop_com_find", "website_tool_shop_com_order"} {
		if f.item(name) != nil {
			got = append(got, strings.Replace(name, "_shop_com", "", 1))
		}
	}
	if strings.Join(got, " ") != want {
		f.t.Errorf("there are %q, want %q", got, want)
	}
}

func withPacks(t *testing.T, test func(t *testing.T, f *packFixture, shop *pack.Pack)) {
	synctest.Test(t, func(t *testing.T) {
		shop := shopPack(t, "Order")
		f := &packFixture{t: t, store: &storagetest.Memory{}, packs: &added{}, at: "https://shop.com"}
		f.packs.set(shop)
		f.open()
		test(t, f, shop)
	})
}

const both = "pack_shop_order pack_shop_find"

// What a tool of a pack is, its document says, whatever the browser registers beside the reference.
func TestPackDefinesItsTools(t *testing.T) {
	withPacks(t, func(t *testing.T, f *packFixture, shop *pack.Pack) {
		check := func(after string) {
			t.Helper()
			f.want(both)
			for name, class := range map[string]policy.Class{"order": policy.Write, "find": policy.Read} {
				it := f.item("pack_shop_shop_com_" + name)
				if it.Class != class || it.Repeatable != (class == policy.Read) || strings.Contains(string(it.Definition()), "Harmless") || it.Pack != shop.Ref() {
					t.Errorf("%s: %s: class %v, %s", after, name, it.Class, it.Definition())
				}
			}
		}
		f.offer(f.browser(true), 1, shop, "@order", "@find")
		check("registered")
		it := f.item("pack_shop_shop_com_order")
		if alone, err := ToolItem(f.Core, shop.Tool("order"), "https://shop.com"); err != nil || alone.Key() != it.Key() || alone.Pin() != it.Pin() {
			t.Errorf("without a tab: %+v, %v", alone, err)
		}
		f.restart()
		check("restarted")
	})
}

// A reference is worth only what the owner has added, from a browser that vouches for origins.
func TestForgedPacks(t *testing.T) {
	withPacks(t, func(t *testing.T, f *packFixture, shop *pack.Pack) {
		refused := func(what, why string, r spec.Registered) {
			t.Helper()
			if r.Accepted != 0 || len(r.Rejected) != 1 || !strings.Contains(r.Rejected[0].Reason, why) {
				t.Errorf("%s: %+v", what, r)
			}
		}
		refused("program", "only a paired browser", f.offer(f.browser(false), 1, shop, "@order"))
		e := f.browser(true)
		refused("no tool", "no tool of that name", f.offer(e, 1, shop, "@pay"))
		refused("other version", "not active", f.offer(e, 1, shopPack(t, "Buy"), "@order"))
		f.at = "https://other.com"
		refused("other site", "does not match pages of https://other.com", f.offer(e, 1, shop, "@order"))
		f.want("")
	})
}

// The site's own tool counts instead of the pack's.
func TestOwnToolWins(t *testing.T) {
	withPacks(t, func(t *testing.T, f *packFixture, shop *pack.Pack) {
		e := f.browser(true)
		if r := f.offer(e, 1, shop, "@order", "@find", "order"); r.Accepted != 2 || len(r.Rejected) != 1 || r.Rejected[0].Name != "order (pack shop)" || !strings.Contains(r.Rejected[0].Reason, "the site has a tool of that name") {
			t.Errorf("%+v", r)
		}
		f.want("pack_shop_find website_tool_order")
		f.offer(e, 1, shop, "@order", "@find")
		f.want(both)
	})
}

// What the owner has removed is gone, wherever the tabs are that had it, and does not come back.
func TestRemovedPack(t *testing.T) {
	for _, away := range []string{"there", "away", "restarted", "closed"} {
		withPacks(t, func(t *testing.T, f *packFixture, shop *pack.Pack) {
			e := f.browser(true)
			f.offer(e, 1, shop, "@order", "@find")
			f.offer(e, 2, shop, "@find", "order")
			switch away {
			case "away":
				e.Cut()
			case "restarted":
				f.restart()
			case "closed":
				e.Notify(1, &spec.TabState{KeepTools: new(true)})
				e.Notify(1, &spec.TabClosed{})
				synctest.Wait()
				f.want(both + " website_tool_order")
			}
			f.packs.set(shopPack(t, "Buy"))
			DropPacks(f.Core)
			f.want("website_tool_order")
			f.packs.set(shop)
			f.restart()
			f.want("website_tool_order") // in the store, too
			if away == "there" {
				return
			}
			f.packs.set()
			if r := f.offer(f.browser(true), 1, shop, "@order"); r.Accepted != 0 {
				t.Errorf("%s: %+v", away, r)
			}
		})
	}
}

// What the store says of a pack's tool counts only if a browser has registered it, which need not be known
// any more.
func TestStoredTabsOfPacks(t *testing.T) {
	withPacks(t, func(t *testing.T, f *packFixture, shop *pack.Pack) {
		raw := json.RawMessage(fmt.Sprintf(`{"name":"order","pack":{"name":"shop","hash":%q},"origin":"https://shop.com"}`, shop.Hash))
		for key, want := range map[string]string{"cache:b1": "pack_shop_order", "": ""} {
			f.store = &storagetest.Memory{}
			epoch, err := f.store.Load(t.Context(), spec.LocalUser, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			f.store.Write(spec.LocalUser, epoch.Epoch, []storage.Change{storage.Tab{
				Domain: "shop.com", Key: key, Origin: "https://shop.com", Verified: true, Cached: true, LastUpdated: time.Now(), Tools: []json.RawMessage{raw},
			}}, nil)
			f.restart()
			f.want(want)
		}
	})
}

// A pack that is removed while a registration is read leaves no tool.
func TestPackRemovedWhileATabRegisters(t *testing.T) {
	withPacks(t, func(t *testing.T, f *packFixture, shop *pack.Pack) {
		f.packs.asked = func() { f.packs.packs = nil }
		if r := f.offer(f.browser(true), 1, shop, "@order"); r.Accepted != 0 || len(r.Rejected) != 1 {
			t.Errorf("%+v", r)
		}
		f.want("")
	})
}
