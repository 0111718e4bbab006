package record

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// What is kept of calls must not become a list of passwords; and what is no secret must be
// there, or it is of no use.
func TestRedact(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	text := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for _, c := range []struct{ in, out string }{
		{`{"user":"ann","password":"hunter2"}`, `{"user":"ann","password":"[cut]"}`},
		{`{"newPassword":"x","api_key":1,"X-API-Key":"x","accessToken":{"a":1},"Authorization":["x"],"CVV":123}`,
			`{"newPassword":"[cut]","api_key":"[cut]","X-API-Key":"[cut]","accessToken":"[cut]","Authorization":"[cut]","CVV":"[cut]"}`},
		{`{"shipping":"x","pinned":true,"compass":"n","cards":3,"author":"a"}`, `{"shipping":"x","pinned":true,"compass":"n","cards":3,"author":"a"}`},
		{`{"a":[{"b":{"secret":"x"}},1.50,null,true,"é\u2028"]}`, `{"a":[{"b":{"secret":"[cut]"}},1.50,null,true,"é\u2028"]}`},
		{`[{"name":"password","value":"hunter2"},{"name":"city","value":"Bern"}]`, `[{"name":"password","value":"[cut]"},{"name":"city","value":"Bern"}]`},
		{`{"ref":"field \"Password\"","tabId":"1","value":"hunter2"}`, `{"ref":"field \"Password\"","tabId":"1","value":"[cut]"}`},
		{`{"fill":{"textbox \"Password\" kfa1":"x","fields":[{"target":{"ref":"textbox \"Password\" kfa1"},"value":"x"}]}}`,
			`{"fill":{"textbox \"Password\" kfa1":"[cut]","fields":[{"target":{"ref":"textbox \"Password\" kfa1"},"value":"[cut]"}]}}`},
		{`{"fields":[{"target":{"label":"Password"},"value":"hunter2"},{"target":{"role":"textbox","name":"Name"},"value":"Ann"}]}`,
			`{"fields":[{"target":{"label":"Password"},"value":"[cut]"},{"target":{"role":"textbox","name":"Name"},"value":"Ann"}]}`},
		{`{"content":[{"type":"text","text":"{\"token\":\"x\",\"n\":1}"}]}`, `{"content":[{"type":"text","text":"{\"token\":\"[cut]\",\"n\":1}"}]}`},
		{`"Authorization: Bearer abcdef123456"`, `"Authorization: Bearer [cut]"`},
		{`"Cookie: sid=1; theme=dark"`, `"Cookie: [cut]"`},
		{`"https://e.com/?token=abc&page=2"`, `"https://e.com/?token=[cut]&page=2"`},
		{`"Your password is hunter2, and password: \"x y\""`, `"Your password is [cut], and password: \"[cut]\""`},
		{`"the password of the tab"`, `"the password of the tab"`},
		{`"secret (kX93hfLq0Zp2mVw7)"`, `"secret ([cut])"`},
		{`"the key responsibilities-and-duties"`, `"the key responsibilities-and-duties"`},
		{text("see " + jwt + " there"), `"see [cut] there"`},
		{text("a\n" + key + "\nb"), `"a\n[cut]\nb"`},
		{text(key[:40]), `"[cut]"`},
		{`"ghp_0123456789abcdefghij tbh_abcdefghijkl_mnop"`, `"[cut] [cut]"`},
		{`"tba_abcdefghijkl_mnop tbr_abcdefghijkl_mnop_qrst"`, `"[cut] [cut]"`},
		{`"card 4111 1111 1111 1111, order 4111 1111 1111 1112"`, `"card [cut], order 4111 1111 1111 1112"`},
		{`{"n":4111111111111111,"m":4111111111111112}`, `{"n":"[cut]","m":4111111111111112}`},
		{`"card 4111.1111.1111.1111, 4111\u00a01111\u00a01111\u00a01111"`, `"card [cut], [cut]"`},
		{`{"code":"493021","pin_code":"12","cvv2":"1","sid":"x","sessionId":"y"}`, `{"code":"[cut]","pin_code":"[cut]","cvv2":"[cut]","sid":"[cut]","sessionId":"[cut]"}`},
		{`{"code":"SUMMER24","country_code":"CH","code":41}`, `{"code":"SUMMER24","country_code":"CH","code":41}`},
		{`{"Passwort":"x","kennwort":"x","mot_de_passe":"x","contraseña":"x","senha":"x","wachtwoord":"x","hasło":"x","пароль":"x","密码":"x","パスワード":"x"}`,
			`{"Passwort":"[cut]","kennwort":"[cut]","mot_de_passe":"[cut]","contraseña":"[cut]","senha":"[cut]","wachtwoord":"[cut]","hasło":"[cut]","пароль":"[cut]","密码":"[cut]","パスワード":"[cut]"}`},
		{`{"fields":[{"selector":"#password","text":"hunter2"},{"ref":"Card number","content":"x"},{"selector":"#city","text":"Bern"}]}`,
			`{"fields":[{"selector":"#password","text":"[cut]"},{"ref":"Card number","content":"[cut]"},{"selector":"#city","text":"Bern"}]}`},
		{`[["password","hunter2"],["city","Bern"],["password","is","needed"]]`, `[["password","[cut]"],["city","Bern"],["password","is","needed"]]`},
		{`{"recovery_phrase":"a b c","seedPhrase":"a b","mnemonic":"a"}`, `{"recovery_phrase":"[cut]","seedPhrase":"[cut]","mnemonic":"[cut]"}`},
		{` { "a" : 1 } `, `{"a":1}`},
		{`{`, ``},
		{`""`, `""`}, {`{}`, `{}`}, {`[]`, `[]`},
	} {
		if got := string(redact("", json.RawMessage(c.in))); got != c.out {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.out)
		}
	}
	if redact("", nil) != nil {
		t.Error("something comes of nothing")
	}
}

// What must not be kept, in the shapes in which forms and agents give it. Each hunter2, 493021, and number
// of a card is a secret.
func TestRedactedShapes(t *testing.T) {
	for _, in := range []string{
		// names
		`{"userPIN2":"hunter2","PINCode":"hunter2","OTPCode":"hunter2","CVVCode":"hunter2","pin1":"hunter2"}`,
		`{"userpass":"hunter2","dbPass":"hunter2","pw":"hunter2","psw":"hunter2","passwrd":"hunter2"}`,
		`{"securityAnswer":"hunter2","mothers_maiden_name":"hunter2","memorableWord":"hunter2"}`,
		`{"mfaCode":"hunter2","2fa":"hunter2","twoFactorCode":"hunter2","smsCode":"hunter2","backup_codes":["hunter2"],"recovery_key":"hunter2","accessCode":"hunter2"}`,
		`{"geheimzahl":"hunter2","Prüfziffer":"hunter2","sicherheitscode":"hunter2","clave":"hunter2","lösenord":"hunter2","验证码":"hunter2"}`,
		`{"code":493021,"tan":"493021","mTAN":"493021"}`,
		// shapes
		`[{"path":"/user/password","op":"replace","value":"hunter2"}]`,
		`{"question":"What is your mother's maiden name?","answer":"hunter2"}`,
		`{"fields":{"0":{"name":"password","val":"hunter2"},"1":{"label":"Password","data":"hunter2"},"2":{"id":"pwd","newValue":"hunter2"}}}`,
		`{"a":[[["password",["hunter2"]]]]}`,
		`{"autocomplete":"current-password","value":"hunter2"}`,
		`{"autocomplete":"one-time-code","value":"493021"}`,
		`{"selector":"input[type=password]","text":"hunter2"}`,
		`{"locator":"#password","text":"hunter2"}`, `{"css":"input[type=password]","typed":"hunter2"}`, `{"xpath":"//input[@id='pwd']","anything":"hunter2","n":493021}`,
		`{"label":"Password","values":["hunter2"]}`, `{"selector":"#password","to":"hunter2"}`, `{"field":"password","fill":"hunter2"}`, `{"k":"password","v":"hunter2"}`,
		`{"fields":["user","password"],"values":["bob","hunter2"]}`, `{"columns":["user","password"],"rows":[["bob","hunter2"],["ann","hunter2"]]}`,
		`{"login":"bob:hunter2"}`, `{"emailCode":"493021"}`, `{"verification":"493021"}`, `{"license_key":"hunter2"}`,
		// cards
		`"4111 1111 1111 1111 12/27 123"`, `"4111111111111111.0"`, `4111111111111111.0`, `4.111111111111111e15`,
		`{"digits":[4,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}`, `{"numbers":["4111","1111","1111","1111"]}`,
		`"5555–5555–5555–4444"`, `"5555_5555_5555_4444"`, `"3782 822463 10005 1234"`, `"1 4111111111111111"`,

		// texts
		`"Log in as bob with password hunter2"`, `"enter pin 493021 there"`, `"my password: correct horse hunter2"`, `"my password: correct horse, and hunter2"`,
		`"https://e.com/?ticket=hunter2"`, `"https://e.com/reset?t=hunter2kX93hfLq0Zp2mVw7"`,
		`"my password is: hunter2"`, `"password => hunter2"`, `"password := hunter2"`, `"password -> hunter2"`, `"Password:\nhunter2\n"`,
		`"password: \"correct horse hunter2\""`, `"passphrase: correct horse hunter2"`, `"password: a;b,hunter2"`, `"the pass is 'x,hunter2'"`,
		`"{\\\"password\\\":\\\"hunter2\\\"} there"`, `"user=a&password%3Dhunter2"`,
		`"<password>hunter2</password>"`, `"<input type=\"password\" name=\"x\" value=\"hunter2\">"`, `"<input value='hunter2' type=password>"`,
		`"https://ann:hunter2@example.com/"`, `"https://e.com/cb?code=hunter2&state=1"`, `"https://e.com/f?X-Amz-Signature=hunter2&a=1"`, `"https://e.com/?sid=hunter2"`,
		`"Authorization: Digest username=ann, response=hunter2"`, `"X-Api-Key: hunter2"`, `"Proxy-Authorization: Basic hunter2hunter2"`,
		`"Your verification code is 493021"`, `"493021 is your Google verification code"`, `"G-493021 is your login code"`, `"Ihr Code lautet 493021"`, `"one-time code: 493 021"`,
		`"-----BEGIN PGP PRIVATE KEY BLOCK-----\nhunter2\n-----END PGP PRIVATE KEY BLOCK-----"`,
		`"npm_hunter2hunter2hunter2hunter2hunter2x pypi-hunter2hunter2hunter2 hf_hunter2hunter2hunter2"`,
		`"ssn 123-45-6789"`,
		`"  {\"password\":\"hunter2\",\"pin\":493021}"`,
	} {
		got := string(redact("buy", json.RawMessage(in)))
		plain := strings.NewReplacer(" ", "", "-", "", "_", "", "–", "", "\\n", "").Replace(got)
		for _, secret := range []string{"hunter2", "493021", "4111111111111111", "5555555555554444", "378282246310005", "123456789", "4111\",\"1111", "4.1111", "4,1,1,1"} {
			if strings.Contains(got, secret) || strings.Contains(plain, secret) {
				t.Errorf("%s\n  became %s", in, got)
				break
			}
		}
	}
}

// What a tool that is named for a secret is given is one, whatever its members are called.
func TestRedactedByTool(t *testing.T) {
	for tool, want := range map[string]string{
		"enter_password": `{"text":"[cut]","remember":true}`, "submitOTP": `{"text":"[cut]","remember":true}`,
		"create_card": `{"text":"hunter2","remember":true}`, "search": `{"text":"hunter2","remember":true}`,
	} {
		if got := string(redact(tool, json.RawMessage(`{"text":"hunter2","remember":true}`))); got != want {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

// What a person looks for in the record must be there: what was ordered, for how much, by whom and whither.
func TestNotRedacted(t *testing.T) {
	for _, in := range []string{
		`{"amount":"1200.00","currency":"CHF","iban":"CH9300762011623852957","to":"CH93 0076 2011 6238 5295 7","reference":"21 00000 00003 13947 14300 09017"}`,
		`{"qty":2,"sku":"4006381333931","price":4.50,"tracking":"1Z999AA10123456784","order":"112-3456789-1234567"}`,
		`{"postalCode":"8001","country_code":"CH","promoCode":"SUMMER24","zip":"94103","product_code":"123456"}`,
		`{"name":"Password book","price":10,"qty":2}`, `{"subject":"Password reset","to":"ann@example.com","amount":5}`,
		`{"zip_code":"94103","promo_code":"123456","error_code":1045,"sort_code":"204060"}`, `{"code":"SUMMER24"}`, `{"user":"ann","time":"10:30"}`,
		`{"stars":[5,4,5,3],"columns":["name","qty"],"rows":[["lamp",2]],"amounts":["4321","10"]}`, `{"url":"https://v.example/watch?t=42s&v=abc"}`,
		`{"type":"card","title":"Buy milk","text":"two litres"}`, `{"label":"card","text":"Happy birthday"}`,
		`{"type":"token","name":"ERC20","amount":5,"value":"7"}`,
		`{"phone":"+41 44 123 45 67","date":"2026-11-28","time":"17:55:20","at":1795197320000,"id":"550e8400-e29b-41d4-a716-446655440000"}`,
		`{"note":"Postal code 8001, error code 1045, the passport office, a spin in the compass park"}`,
		`{"subject":"Your code of conduct","body":"The key point is simple: pass the salt. Basic training at 10:30."}`,
		`{"pages":[1234,5678,4321,8765],"path":"/orders/17","value":"x"}`,
		`{"url":"https://shop.example/p?id=17&color=red&code=","email":"ann@example.com"}`,
		`{"lat":47.3768866,"lon":8.541694,"n":1234567890123}`,
	} {
		if got := string(redact("buy", json.RawMessage(in))); got != in {
			t.Errorf("%s\n  became %s", in, got)
		}
	}
}

// A flood must not fill the disk with what nobody reads, nor an hour of it keep out what comes later.
func TestAllowance(t *testing.T) {
	var a allowance
	now := time.Now()
	taken := func(n, bytes int) (all int) {
		for range n {
			if a.take(bytes, now) {
				all++
			}
		}
		return all
	}
	if n := taken(5000, 100); n != maxKept {
		t.Errorf("of 5000 at once %d are kept", n)
	}
	now = now.Add(10 * time.Second)
	if n := taken(5000, 100); n != 10*keptPerSecond {
		t.Errorf("after ten seconds %d are kept", n)
	}
	now = now.Add(time.Hour)
	if n := taken(1000, 64<<10); n != maxKeptBytes/(64<<10) {
		t.Errorf("of 64 MB at once %d × 64 KiB are kept", n)
	}
}

// No client can hide what it has ordered: neither behind a thousand calls of its own, nor by what it says
// of itself, and none can hide what another has. What is not kept says so.
func TestNothingIsHidden(t *testing.T) {
	dir := t.TempDir() + "/record"
	f := Open(dir, Options{User: "ann", Arguments: time.Hour})
	act := func(client, class, args string) {
		e := entry("order")
		e.Client, e.Class, e.Args = client, class, json.RawMessage(args)
		f.Append(e)
	}
	const flood = maxKept + 500
	for range flood {
		act("noisy", "write", `{"n":1}`)
	}
	act("noisy", "write", `{"amount":9999}`)
	act("noisy", "destructive", `{"amount":1}`)
	act("calm", "write", `{"to":"evil","notKept":12}`)
	act("calm", "write", `{"long":"`+strings.Repeat("x", maxPayload)+`"}`)
	f.Close()
	lines, err := Read(t.Context(), dir, Query{Tool: "order"})
	if err != nil || len(lines) != flood+4 {
		t.Fatal(len(lines), err)
	}
	all, err := ReadPayloads(t.Context(), dir, lines)
	if err != nil || len(all) != len(lines) {
		t.Fatalf("%d payloads of %d lines, %v", len(all), len(lines), err)
	}
	last := all[flood:]
	if a := last[0]; a.Args != nil || a.NotKept.Args != len(`{"amount":9999}`) {
		t.Errorf("behind a flood: %+v", a)
	}
	if a := last[1]; string(a.Args) != `{"amount":1}` {
		t.Errorf("what cannot be undone: %+v", a)
	}
	if a := last[2]; string(a.Args) != `{"to":"evil","notKept":12}` || a.NotKept.Args != 0 {
		t.Errorf("of another client: %+v", a)
	}
	if a := last[3]; a.Args != nil || a.NotKept.Args != maxPayload+len(`{"long":""}`) {
		t.Errorf("too large: %+v", a)
	}
}

// What a page says must not break the file in which it is kept.
func FuzzRedact(f *testing.F) {
	f.Add(`{"a":[1,"Bearer abcdefgh",{"password":2}],"b":"{\"token\":1}"}`)
	f.Fuzz(func(t *testing.T, in string) {
		out := redact("", json.RawMessage(in))
		if rawjson.Valid([]byte(in), spec.MaxDepth) == nil && rawjson.Valid(out, spec.MaxDepth) != nil {
			t.Errorf("%q became %q", in, out)
		}
	})
}

// The payloads are found by the lines that they belong to, and only they are asked for them.
func TestPayloads(t *testing.T) {
	dir := t.TempDir() + "/record"
	e := entry("pay")
	e.Args, e.Result = json.RawMessage(`{"card":"4111111111111111","n":1}`), json.RawMessage(`{"content":[]}`)
	f := Open(dir, Options{User: "ann"})
	f.Append(e)
	f.Close()
	f = Open(dir, Options{User: "ann", Payloads: true})
	f.Append(e)
	f.Append(entry("other"))
	e.Args, e.Result = json.RawMessage(`"`+strings.Repeat("x", maxPayload)+`"`), nil
	f.Append(e)
	f.Close()
	f = Open(dir, Options{User: "ann", Payloads: true})
	f.Append(e)
	f.Close()
	lines, err := Read(t.Context(), dir, Query{Tool: "pay"})
	if err != nil || len(lines) != 4 {
		t.Fatalf("%+v, %v", lines, err)
	}
	got, err := ReadPayloads(t.Context(), dir, lines)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(got)
	if want := `[{"n":4,"args":{"card":"[cut]","n":1},"result":{"content":[]}},{"n":6,"argsNotKept":65538},{"n":8,"argsNotKept":65538}]`; err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
	if lines[0].Digest != lines[1].Digest || len(lines[2].Digest) != 32 || lines[2].Digest == lines[0].Digest {
		t.Errorf("digests: %q %q %q", lines[0].Digest, lines[1].Digest, lines[2].Digest)
	}
	if other, err := Read(t.Context(), dir, Query{Tool: "other"}); err != nil {
		t.Error(err)
	} else if got, err := ReadPayloads(t.Context(), dir, other); err != nil || got != nil {
		t.Errorf("%+v, %v", got, err)
	}
	intact(t, dir)
}

// The address of a page may let in whoever has it: the record keeps it without that.
func TestAddressWithoutSecrets(t *testing.T) {
	dir := t.TempDir() + "/record"
	f := Open(dir, Options{User: "ann"})
	want := map[string]string{
		"reset": "https://shop.example/reset?token=[cut]&lang=en", "callback": "https://shop.example/cb#access_token=[cut]&state=1",
		"user": "https://ann:[cut]@shop.example/", "order": "https://shop.example/orders/17?view=full",
	}
	for tool, url := range want {
		e := entry(tool)
		e.URL = strings.ReplaceAll(url, cut, "hunter2")
		f.Append(e)
	}
	f.Close()
	lines, err := Read(t.Context(), dir, Query{Event: Call})
	if err != nil || len(lines) != len(want) {
		t.Fatal(lines, err)
	}
	for _, l := range lines {
		if l.URL != want[l.Tool] || redactAddress(l.URL) != l.URL {
			t.Errorf("%s, want %s", l.URL, want[l.Tool])
		}
	}
	intact(t, dir)
}
