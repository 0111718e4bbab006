package pagecheck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says how serious a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // it does not work
	Warning Severity = "warning" // it is worth a look
	Note    Severity = "note"    // it may be meant so
)

// rank sorts the worst first.
func (s Severity) rank() int { return slices.Index([]Severity{Error, Warning, Note}, s) }

// Finding is one fault or remark.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     Code     `json:"code"`
	Item     string   `json:"item,omitempty"` // the page's own name or URI; "" for the page
	Text     string   `json:"text"`
	Hint     string   `json:"hint,omitempty"` // what to do
}

// Code names a kind of finding. What it means does not change.
type Code string

// The codes. spec/docs/PAGES.md explains them.
const (
	NothingOffered      Code = "nothing-offered"
	PageBusy            Code = "page-busy"
	SetAside            Code = "set-aside"
	SchemaInvalid       Code = "schema-invalid"
	PartLeftOut         Code = "part-left-out"
	ListedOtherwise     Code = "listed-otherwise"
	ScriptError         Code = "script-error"
	ConsoleError        Code = "console-error"
	DialogShown         Code = "dialog"
	NotCalled           Code = "not-called"
	CallFailed          Code = "call-failed"
	CallNavigates       Code = "call-navigates"
	ResultUnstructured  Code = "result-unstructured"
	ResultNotAsPromised Code = "result-not-as-promised"
)

// Codes are all codes, in the order in which the guide has them.
var Codes = []Code{
	NothingOffered, PageBusy, SetAside, SchemaInvalid, PartLeftOut, ListedOtherwise, ScriptError, ConsoleError, DialogShown,
	NotCalled, CallFailed, CallNavigates, ResultUnstructured, ResultNotAsPromised,
}

// Sort puts the worst first, and keeps the findings about one item together.
func Sort(all []Finding) {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(a.Severity.rank()-b.Severity.rank(), cmp.Compare(a.Item, b.Item))
	})
}

// report collects findings about one item.
type report struct {
	item string
	all  []Finding
}

func (r *report) add(s Severity, code Code, hint, format string, args ...any) {
	r.all = append(r.all, Finding{s, code, r.item, fmt.Sprintf(format, args...), hint})
}

// cut returns a text of at most n characters in one line.
func cut(text string, n int) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}
