package item

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/yosida95/uritemplate/v3"
)

func TestPattern(t *testing.T) {
	for template, uris := range map[string]struct{ makes, not []string }{
		"shop://order/{id}": {[]string{"shop://order/7", "shop://order/", "shop://order/a%2Fb", "shop://order/1,2"}, []string{"shop://order/7/8", "shop://order", "shop://order/%2", "shop://order/é", "Shop://order/7"}},
		"shop://cart":       {[]string{"shop://cart"}, []string{"shop://cart/", "", "shop://car"}},
		"{+all}":            {[]string{"", "any://thing?at=all#here", "%41"}, []string{"a b", "%4"}},
		"q://s{?a,b}":       {[]string{"q://s", "q://s?a=1", "q://s?a=1&b=2"}, []string{"q://s?a=1&b=2&c=3", "q://s&a=1"}},
		"q://s{?a*}":        {[]string{"q://s?a=1&b=2&c=3"}, []string{"q://s?a=1/2"}},
		"p://h{/a,b}/end":   {[]string{"p://h/end", "p://h/1/end", "p://h/1/2/end"}, []string{"p://h/1/2/3/end", "p://h/1/2"}},
		"p://h{/path*}":     {[]string{"p://h", "p://h/", "p://h/1/2/3/4"}, []string{"p://h?1"}},
		"f://h{#x}":         {[]string{"f://h", "f://h#/a?b"}, []string{"f://ha"}},
		"m://{a:3}-{b}.{c}": {[]string{"m://abc-d.e", "m://-.", "m://a-b-c.d.e"}, []string{"m://abc"}},
		"s://h{;a,b}{&c}":   {[]string{"s://h;a=1;b=2&c=3", "s://h&c=3", "s://h"}, []string{"s://h;a;b;c"}},
		"d://h{.x,y}":       {[]string{"d://h.1.2", "d://h.a.b.c"}, []string{"d://h/1"}},
		"{a}{b}{c}x":        {[]string{"x", "xxxx"}, []string{"y", ""}},
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

// The pattern of a template is what its regular expression is.
func FuzzPattern(f *testing.F) {
	for _, template := range []string{"a{b}c", "{+a}/{b,c}", "x{?a,b}{&c}", "{/a,b}{;c,d}{.e}{#f}", "%41{a:3}", "p{/a*}", "{a*}{?b*}"} {
		for _, uri := range []string{"abc", "x?a=1&b=2&c=3", "/1/2;c=1;d=2.e#f", "%41%4", "p/a/b/c", "é", "a,b=c"} {
			f.Add(template, uri)
		}
	}
	f.Fuzz(func(t *testing.T, template, uri string) {
		p, err := parseTemplate(template)
		if err != nil || len(p) == 0 || len(template) > 200 || len(uri) > 200 {
			return
		}
		re, err := regexp.Compile(uritemplate.MustNew(template).Regexp().String())
		if err != nil {
			return
		}
		left := MaxSteps
		got, want := p.match(uri, &left), re.MatchString(uri)
		// Names may stand in any value of a list that has some.
		if got != want && !(got && strings.Contains(template, "*")) {
			t.Errorf("%q makes %q: %t", template, uri, got)
		}
	})
}
