package pagecheck

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says what a finding is for who runs the check.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // it does not work
	Warning Severity = "warning" // a model will stumble over it
	Note    Severity = "note"    // it may be meant so
)

// rank sorts the worst first.
func (s Severity) rank() int { return slices.Index([]Severity{Error, Warning, Note}, s) }

// Finding is one thing that was found.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     Code     `json:"code"`
	Item     string   `json:"item,omitempty"` // the page's own name or URI; "" for the page
	Text     string   `json:"text"`
	Hint     string   `json:"hint,omitempty"` // what to do
}

// Code names a kind of finding. What it means does not change.
type Code string

// The codes. spec/docs/CHECK.md explains them.
const (
	NothingOffered       Code = "nothing-offered"
	PageBusy             Code = "page-busy"
	SetAside             Code = "set-aside"
	SchemaInvalid        Code = "schema-invalid"
	PartLeftOut          Code = "part-left-out"
	ScriptError          Code = "script-error"
	ConsoleError         Code = "console-error"
	DialogShown          Code = "dialog"
	NameVague            Code = "name-vague"
	NameCharacters       Code = "name-characters"
	NameShortened        Code = "name-shortened"
	NamesMixed           Code = "names-mixed"
	DescriptionMissing   Code = "description-missing"
	DescriptionShort     Code = "description-short"
	DescriptionRepeats   Code = "description-repeats-name"
	DescriptionCut       Code = "description-cut"
	ToolsAlike           Code = "tools-alike"
	ParameterUntyped     Code = "parameter-untyped"
	ParameterUndescribed Code = "parameter-undescribed"
	ToolLarge            Code = "tool-large"
	ToolsMany            Code = "tools-many"
	BudgetExceeded       Code = "budget-exceeded"
	HintsContradict      Code = "hints-contradict"
	HintDoubtful         Code = "hint-doubtful"
	HintMissing          Code = "hint-missing"
	HiddenCharacters     Code = "hidden-characters"
	Injection            Code = "injection"
	ArgumentsNotMade     Code = "arguments-not-made"
	NotCalled            Code = "not-called"
	CallFailed           Code = "call-failed"
	CallNavigates        Code = "call-navigates"
	CallSlow             Code = "call-slow"
	ResultEmpty          Code = "result-empty"
	ResultLarge          Code = "result-large"
	ResultUnstructured   Code = "result-unstructured"
	ResultNotAsPromised  Code = "result-not-as-promised"
	SurfaceNew           Code = "new"
	SurfaceGone          Code = "gone"
	SurfaceChanged       Code = "changed"
)

// Codes are all codes, in the order in which the guide has them.
var Codes = []Code{
	NothingOffered, PageBusy, SetAside, SchemaInvalid, PartLeftOut, ScriptError, ConsoleError, DialogShown,
	NameVague, NameCharacters, NameShortened, NamesMixed,
	DescriptionMissing, DescriptionShort, DescriptionRepeats, DescriptionCut, ToolsAlike,
	ParameterUntyped, ParameterUndescribed, ToolLarge, ToolsMany, BudgetExceeded,
	HintsContradict, HintDoubtful, HintMissing, HiddenCharacters, Injection,
	ArgumentsNotMade, NotCalled, CallFailed, CallNavigates, CallSlow, ResultEmpty, ResultLarge, ResultUnstructured, ResultNotAsPromised,
	SurfaceNew, SurfaceGone, SurfaceChanged,
}

// Sort puts the worst first, and what is about one item together.
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
