package pack

import (
	"fmt"
	"slices"
	"strings"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// isTokenHeader reports whether servers ask for tokens in a header.
func isTokenHeader(name string) bool {
	name = strings.ToLower(name)
	plain := strings.TrimPrefix(strings.ReplaceAll(name, "-", ""), "x")
	switch plain {
	case "authorization", "requestedwith", "requestverificationtoken":
		return strings.Trim(name, lower+"-") == ""
	}
	return strings.Trim(name, lower+digits+"-") == "" && (strings.Contains(plain, "csrf") || strings.Contains(plain, "xsrf"))
}

// isTokenField reports whether a field is for the token of a rule. A field of another name would be one that others
// read, such as a comment.
func isTokenField(t *spec.TokenRule) bool {
	name := strings.ToLower(t.Field)
	for _, word := range []string{"csrf", "xsrf", "token", "nonce", "hmac"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	if t.Page != nil {
		selector := strings.NewReplacer(`"`, "", "'", "").Replace(t.Page.Selector)
		return slices.Contains([]string{"[name=" + t.Field + "]", "input[name=" + t.Field + "]"}, selector)
	}
	return slices.Contains([]string{t.Meta, t.Hidden, t.Cookie}, t.Field)
}

func (c *checker) request(at string, r *spec.RequestStep) error {
	if !slices.Contains(methods, method(r)) {
		return fmt.Errorf("%s.method: must be one of %s", at, strings.Join(methods, ", "))
	}
	if err := c.path(at+".path", r.Path); err != nil {
		return err
	}
	if err := c.values(at+".query", r.Query); err != nil {
		return err
	}
	switch {
	case method(r) == "GET" && (r.JSON != nil || r.Form != nil):
		return fmt.Errorf("%s: a GET has no body; use query", at)
	case r.JSON != nil && r.Form != nil:
		return fmt.Errorf("%s: has json and form", at)
	case r.JSON != nil:
		if err := c.body(at+".json", r.JSON); err != nil {
			return err
		}
	}
	if err := c.values(at+".form", r.Form); err != nil {
		return err
	}
	if r.Token != nil {
		if err := c.token(at+".token", r); err != nil {
			return err
		}
	}
	_, err := c.parsed(at+".take", r.Take)
	return err
}

// token checks where a token comes from, and that it goes nowhere but into a header that is for
// tokens, or into a field.
func (c *checker) token(at string, r *spec.RequestStep) error {
	t := r.Token
	sources := 0
	for _, m := range []struct{ name, text string }{
		{"meta", t.Meta}, {"hidden", t.Hidden}, {"cookie", t.Cookie}, {"storage", t.Storage}, {"header", t.Header}, {"field", t.Field},
	} {
		if m.text == "" {
			continue
		}
		if err := plainName(at+"."+m.name, m.text); err != nil {
			return err
		}
		if m.name != "header" && m.name != "field" {
			sources++
		}
	}
	if t.Page != nil {
		sources++
		if err := c.tokenPage(at+".page", t.Page); err != nil {
			return err
		}
	}
	switch {
	case sources != 1:
		return fmt.Errorf("%s: must have exactly one of meta, hidden, cookie, storage and page", at)
	case (t.Header == "") == (t.Field == ""):
		return fmt.Errorf("%s: must have header or field", at)
	case t.Header != "" && !isTokenHeader(t.Header):
		return fmt.Errorf("%s.header: %s is no header for tokens, such as X-CSRF-Token or Authorization", at, shown(t.Header))
	case t.Field == "":
		return nil
	case !isTokenField(t):
		return fmt.Errorf("%s.field: %s is no field for tokens, such as csrf_token: its name must say so, or be that of the token in the page", at, shown(t.Field))
	case method(r) == "GET":
		return fmt.Errorf("%s.field: a GET has no fields; a token is not part of an address", at)
	case r.JSON != nil && (r.JSON[0] != '{' || isValue(r.JSON) || rawjson.Get(r.JSON, t.Field) != nil), r.Form[t.Field] != nil:
		return fmt.Errorf("%s.field: json must be an object, and neither it nor form has a member of that name", at)
	}
	return nil
}

// tokenPage checks the page that is asked for a token.
func (c *checker) tokenPage(at string, p *spec.TokenPage) error {
	if err := literalPath(at+".path", p.Path); err != nil {
		return err
	}
	switch {
	case !reaches(c.tool.Pack.match, p.Path):
		return place(at+".path", shown(p.Path)+" is outside of match, so each call would be refused")
	case p.Selector == "" || len(p.Selector) > maxTarget || strings.Contains(p.Selector, "${"):
		return place(at+".selector", "must be a selector of 1 to 512 bytes without arguments")
	case p.Attribute != "" && !isAttribute(p.Attribute):
		return place(at+".attribute", "must be the name of an attribute")
	}
	return nil
}
