package extension_test

import "testing"

// What its user types into a field for a secret is in no look, nor is its length: of the field only that it is
// there. What the page itself shows elsewhere, as text, is the page's, and is read.
func TestLookKeepsSecrets(t *testing.T) {
	t.Parallel()
	const tell = `<script>customElements.define("x-p", class extends HTMLElement { constructor() { super(); this.attachShadow({mode: "closed"}).innerHTML = "<input type=password aria-label=Inner value=hunter2>"; } })</script>`
	hidden := []string{"hunter2", "4111", "123456"}
	attacked(t, []attack{
		{name: "fields", page: `<label>Password <input type=password value=hunter2></label> <label>Card number <input value="4111 1111 1111 1111" autocomplete=cc-number></label>
			<label>Code <input autocomplete=one-time-code value=123456></label> <label>CVC <input value=123456></label> <label>PIN <input type=tel value=123456></label> <label>API key <textarea>hunter2</textarea></label>
			<label>Notes <input value=kept></label>`, shows: []string{`field "Password" @ password (secret)`, `"Card number" @ (secret)`, `"Code" @ (secret)`, `"CVC" @ (secret)`, `"PIN" @ (secret)`, `"API key" @ (secret)`, `"Notes" @ = "kept"`}, hides: hidden},
		{name: "a password that is shown as text before the look", page: `<label>Find <input type=password value=hunter2 id=q></label><script>q.type = "text"</script>`, shows: []string{`"Find" @`}},
		{name: "a password in a closed tree", page: tell + `<x-p></x-p>`, shows: []string{`field "Inner" @ password (secret)`}, hides: hidden},
		{name: "a password in a frame", page: `<iframe title=Login srcdoc="<label>Password <input type=password value=hunter2></label>"></iframe>`, shows: []string{`field "Password" @ password (secret)`}, hides: hidden},
		{name: "text that its page hides", page: `<label>Find <input value=hunter2 style="-webkit-text-security: disc"></label><label>More <input value=hunter2 style="font-family: text-security-disc"></label>`, shows: []string{`"Find" @ (secret)`}},
		{name: "an editor for a secret", page: `<div contenteditable role=textbox aria-label=Password>hunter2</div><div contenteditable aria-label="Secret key">hunter2</div><div contenteditable style="-webkit-text-security: disc" role=textbox aria-label=Words>hunter2</div>`,
			shows: []string{`textbox "Password" @ (secret)`}, hides: hidden},
		{name: "an editor that claims a role", page: `<div role=textbox tabindex=0 aria-label=Password>hunter2</div><div role=searchbox tabindex=0 aria-label="Card number" aria-valuetext="4111 1111 1111 1111">x</div>`, hides: hidden},
		{name: "attributes that say it, too", page: `<input type=password aria-label=Password value=hunter2 title=hunter2 aria-valuetext=hunter2 aria-valuenow=123456 placeholder=hunter2 aria-description=hunter2>
			<div role=slider tabindex=0 aria-label="PIN" aria-valuetext=123456 aria-valuenow=123456></div>`, shows: []string{`field "Password" @ password (secret)`}, hides: hidden},
		{name: "a name that is the value", page: `<input type=password value=hunter2 aria-label=hunter2><input type=password value=hunter2 title=hunter2><input type=password value=hunter2 placeholder=hunter2>`, hides: hidden},
		{name: "a code in parts", page: `<fieldset><legend>Code</legend><input maxlength=1 value=1><input maxlength=1 value=9><input maxlength=1 value=8><input maxlength=1 value=7></fieldset>`, hides: []string{`= "1"`, `= "9"`}},
		{name: "a card in a plain field", page: `<label>Pay with <input value="4111 1111 1111 1111"></label><label>Note <textarea>my card is 4111111111111111</textarea></label>`, hides: hidden},
		{name: "options of a secret", page: `<label>Card number <select><option>4111 1111 1111 1111<option>Other</select></label>`, hides: hidden},
		{name: "suggestions", page: `<label>Password <input list=l></label><datalist id=l><option>hunter2</datalist>`, hides: hidden},
		{name: "a file for a secret", page: `<label>Private key <input type=file></label>`, shows: []string{`"Private key" @`}},
		{name: "in the address", page: `<title>Page</title><a href="/next?token=hunter2">Next</a><script>history.replaceState(0, "", "?access_token=hunter2#code=123456")</script>`, shows: []string{`link "Next" @`}, hides: hidden},
		{name: "in what has just been typed", page: `<label>Password <input type=password id=q></label><script>q.value = "hunter2"; q.oninput = () => 0</script>`, shows: []string{`field "Password" @ password (secret)`}, hides: hidden,
			act: `{"click": {"target": @'"Password"'}}`, want: `null [click yes]`},
		{name: "a password that is to be filled", page: `<label>Password <input type=password id=q></label>`, act: `{"fill": {"fields": [{"target": @'"Password"', "value": "x"}]}}`, want: `0 STEP_REFUSED field "Password" is a password`, is: `q.value === ""`},
	})
}
