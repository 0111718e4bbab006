package policyfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"tabhub/hub/trust/policy"
)

// Problem is what is wrong with a line of a file.
type Problem struct {
	Line int
	Text string
}

func (p *Problem) Error() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// members are what a rule of a file may have. The others of policy.Rule the hub sets.
var members = []string{"effect", "client", "site", "tool", "pack", "class", "late", "from", "until", "pin", "note"}

// Parse reads a file. The IDs of its rules are "line 3" and so on. The error has a
// *Problem for each thing that is wrong, by errors.Join.
func Parse(text []byte) (policy.File, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	root, err := hujson.Parse(text)
	if err != nil {
		return policy.File{}, syntaxProblem(err)
	}
	p := parser{text: text}
	p.read(&root)
	if p.errs == nil {
		p.check()
	}
	if p.errs != nil {
		return policy.File{}, errors.Join(p.errs...)
	}
	return p.file, nil
}

// parser collects what a file says.
type parser struct {
	text  []byte
	file  policy.File
	lines []int // of file.Rules
	errs  []error
}

func (p *parser) read(root *hujson.Value) {
	const form = `a file is {"rules": [ … ], "bindings": [ … ]}`
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		p.fail(root, form)
		return
	}
	p.distinct(object)
	found := false
	for i := range object.Members {
		m := &object.Members[i]
		list, ok := m.Value.Value.(*hujson.Array)
		name := nameOf(m)
		read := map[string]func(*hujson.Value){"rules": p.rule, "bindings": p.binding}[name]
		if read == nil || !ok {
			p.fail(&m.Name, "%s, and no more; this is %.40q", form, name)
			continue
		}
		found = true
		for j := range list.Elements {
			read(&list.Elements[j])
		}
	}
	if !found && p.errs == nil {
		p.fail(root, form)
	}
}

func (p *parser) binding(v *hujson.Value) {
	const form = `a binding is an object such as {"client": "claude", "browsers": ["work"]}`
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		p.fail(v, form)
		return
	}
	p.distinct(object)
	var b policy.Binding
	plain := v.Clone()
	plain.Standardize()
	for i := range object.Members {
		if name := nameOf(&object.Members[i]); name != "client" && name != "browsers" {
			p.fail(&object.Members[i].Name, "a binding has no member %.40q; %s", name, form)
			return
		}
	}
	if err := json.Unmarshal(plain.Pack(), &b); err != nil {
		p.fail(v, form)
	} else if err := b.Check(); err != nil {
		p.fail(v, "%v", err)
	}
	p.file.Bindings = append(p.file.Bindings, b)
}

func (p *parser) rule(v *hujson.Value) {
	line := p.line(v.StartOffset)
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		p.fail(v, `a rule is an object such as {"effect": "deny", "site": "bank.example.com"}`)
		return
	}
	p.distinct(object)
	rule := policy.Rule{ID: "line " + strconv.Itoa(line), By: "file"}
	for i := range object.Members {
		m := &object.Members[i]
		if err := setMember(&rule, nameOf(m), m.Value); err != nil {
			p.fail(&m.Name, "%v", err)
		}
	}
	p.file.Rules = append(p.file.Rules, rule)
	p.lines = append(p.lines, line)
}

// setMember sets a member of a rule to a value of the file.
func setMember(rule *policy.Rule, name string, v hujson.Value) error {
	if !slices.Contains(members, name) {
		text := fmt.Sprintf("a rule has no member %.40q; it may have %s", name, strings.Join(members, ", "))
		if lower := strings.ToLower(name); slices.Contains(members, lower) {
			text = fmt.Sprintf("the member %q is spelled %q", name, lower)
		}
		return errors.New(text)
	}
	if literal, ok := v.Value.(hujson.Literal); !ok || literal.Kind() == 'n' {
		return fmt.Errorf("%s has no value that it may have; leave it out if it does not matter", name)
	}
	v.Standardize()
	err := json.Unmarshal(fmt.Appendf(nil, `{%q:%s}`, name, v.Pack()), rule)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s is a %s; it must be %s", name, wrong.Value, map[bool]string{true: "true or false", false: "a string"}[name == "late"])
	}
	if err != nil && name == "until" {
		return errors.New("until must be a time such as 2026-12-31T18:00:00Z")
	}
	return err
}

// check has the rules checked, each and together.
func (p *parser) check() {
	err := policy.Check(p.file.Rules)
	if err == nil {
		return
	}
	wrong := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		wrong = joined.Unwrap()
	}
	for _, err := range wrong {
		rule, ok := errors.AsType[*policy.RuleError](err)
		switch {
		case !ok:
			p.errs = append(p.errs, err)
		case rule.Other >= 0:
			p.errs = append(p.errs, &Problem{p.lines[rule.Index], fmt.Sprintf("this rule and that of line %d: %s", p.lines[rule.Other], rule.Text)})
		default:
			p.errs = append(p.errs, &Problem{p.lines[rule.Index], rule.Text})
		}
	}
}

// distinct fails if an object has a member twice: only one of them would count.
func (p *parser) distinct(o *hujson.Object) {
	lines := map[string]int{}
	for i := range o.Members {
		m := &o.Members[i]
		if line, twice := lines[nameOf(m)]; twice {
			p.fail(&m.Name, "%.40q is there twice, first in line %d", nameOf(m), line)
		}
		lines[nameOf(m)] = p.line(m.Name.StartOffset)
	}
}

func (p *parser) fail(at *hujson.Value, format string, args ...any) {
	p.errs = append(p.errs, &Problem{p.line(at.StartOffset), fmt.Sprintf(format, args...)})
}

func (p *parser) line(offset int) int { return 1 + bytes.Count(p.text[:offset], []byte("\n")) }

func nameOf(m *hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// syntaxProblem is an error of hujson as a Problem.
func syntaxProblem(err error) error {
	m := regexp.MustCompile(`^hujson: line (\d+), column (\d+): (.*)$`).FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	line, _ := strconv.Atoi(m[1])
	return &Problem{line, fmt.Sprintf("column %s: %s", m[2], m[3])}
}
