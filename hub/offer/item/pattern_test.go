package item

import (
	"fmt"
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	for template, uris := range map[string]struct{ makes, not []string }{
		"shop://order/{id}":   {[]string{"shop://order/7", "shop://order/", "shop://order/a%2Fb", "shop://order/1,2"}, []string{"shop://order/7/8", "shop://order", "Shop://order/7", "shop://order/7?x", "shop://order/7#x"}},
		"shop://cart":         {[]string{"shop://cart"}, []string{"shop://cart/", "", "shop://car"}},
		"{+all}":              {[]string{"", "any://thing?at=all#here", "%41"}, nil},
		"q://s{?a,b}":         {[]string{"q://s", "q://s?a=1", "q://s?a=1&b=2"}, []string{"q://"}},
		"p://h{/path*}/end":   {[]string{"p://h/end", "p://h/1/2/end"}, []string{"p://h/1/2"}},
		"f://{a}{#x}":         {[]string{"f://h", "f://h#/a?b"}, []string{"f:/h"}},
		"m://{a:3}-{b}.{c}":   {[]string{"m://abc-d.e", "m://-.", "m://a-b-c.d.e"}, []string{"m://abc"}},
		"s://{a}{;b}/{c}{&d}": {[]string{"s://h;b=2/1&d=3", "s:///"}, []string{"s://h"}},
		"{a}{b}{c}x":          {[]string{"x", "xxxx"}, []string{"y", ""}},
	} {
		p, err := parseTemplate(template)
		if err != nil {
			t.Fatalf("%s: %v", template, err)
		}
		for uri, want := range all(uris.makes, uris.not) {
			left := MaxSteps
			if got := p.match(uri, &left); got != want {
				t.Errorf("%q makes %q: %t", template, uri, got)
			}
		}
	}
	for _, template := range []string{"{", "}", "a{", "{}", "{a b}", "{=a}", "{a}}", strings.Repeat("{a}", 17), "{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q}", "\xff"} {
		if _, err := parseTemplate(template); err == nil {
			t.Errorf("%q is taken for a template", template)
		}
	}
}

func all(yes, no []string) map[string]bool {
	m := map[string]bool{}
	for _, s := range yes {
		m[s] = true
	}
	for _, s := range no {
		m[s] = false
	}
	return m
}

// A page that offers a thousand templates, each as hard to match as can be, must not
// hold up the hub.
func TestMatchingIsBounded(t *testing.T) {
	var variables string
	for i := range maxVariables {
		variables += fmt.Sprintf("{+v%d}", i)
	}
	uri := "a:" + strings.Repeat("a", 2000)
	left := MaxSteps
	tried := 0
	for ; left > 0 && tried < 1024; tried++ {
		p, err := parseTemplate(fmt.Sprintf("a:%s?%d", variables, tried))
		if err != nil {
			t.Fatal(err)
		}
		if p.match(uri, &left) {
			t.Fatal("it is matched")
		}
	}
	if tried == 1024 {
		t.Errorf("%d steps are left", left)
	}
	usual := MaxSteps
	p, _ := parseTemplate("shop://customers/{customer}/orders/{id}{?page,size}")
	for range 1024 {
		if !p.match("shop://customers/12345/orders/2024-000123?page=2&size=50", &usual) {
			t.Fatalf("a thousand usual templates are too much: %d", usual)
		}
	}
}
