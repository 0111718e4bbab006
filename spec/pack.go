package spec

import "encoding/json"

// PackFormat is the number of the format of Pack (docs/PACKS.md).
const PackFormat = 1

// Pack is a document that gives tools to the pages of sites that offer none. Its owner adds it.
// It has either Tools with steps, or a Script; the Tools of a Script have no steps.
type Pack struct {
	// Format is PackFormat.
	Format int `json:"tabhubPack"`
	// Name tells packs of one owner apart: lower-case letters, digits and hyphens.
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	License     string `json:"license,omitempty"`
	// For is the name of the site, for people.
	For string `json:"for,omitempty"`
	// Match says on which pages the tools are offered, and where their steps may reach: match
	// patterns as browsers have them.
	Match []string `json:"match"`
	// Start is the path of the page that a call opens if no tab shows one of the pages.
	Start string     `json:"start,omitempty"`
	Tools []PackTool `json:"tools,omitempty"`
	// Script is a user script that registers tools by document.modelContext.registerTool.
	Script string `json:"script,omitempty"`
	// Source is where the document was made from, if it was imported.
	Source *PackSource `json:"source,omitempty"`
}

// PackSource is the file that a pack was imported from.
type PackSource struct {
	Format string `json:"format"` // "webmcp-today", "webmcp-gen", "bb-sites" or "userscript"
	File   string `json:"file,omitempty"`
	SHA256 string `json:"sha256"`
}

// PackTool is a tool of a pack.
type PackTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// OutputSchema is what the result is checked against, strictly.
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  *PackHints      `json:"annotations,omitempty"`
	// On narrows Match for this tool: it is offered where one of these patterns matches, too.
	On    []string `json:"on,omitempty"`
	Steps []Step   `json:"steps,omitempty"`
	// Result is a JMESPath expression over an object with args and all that steps gave under
	// their As. Without it the result is what the last request or read gave.
	Result   string        `json:"result,omitempty"`
	Examples []PackExample `json:"examples,omitempty"`
}

// PackHints are hints of MCP about a tool. A hint that says less than the steps do is refused.
type PackHints struct {
	ReadOnly    bool `json:"readOnlyHint,omitempty"`
	Destructive bool `json:"destructiveHint,omitempty"`
	Idempotent  bool `json:"idempotentHint,omitempty"`
	OpenWorld   bool `json:"openWorldHint,omitempty"`
}

// PackExample is a call and what it gives: `tabhub pack test` makes it.
type PackExample struct {
	// At is the address of the page, or its path; "": a tab that is open.
	At    string          `json:"at,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Gives is a part of the result: members of objects, and the first elements of arrays.
	Gives json.RawMessage `json:"gives,omitempty"`
}

// Step is one step of a tool: exactly one of its verbs. Verbs that act are a Request that is not a
// GET or has a Token, Open, Click, Fill and Press.
type Step struct {
	Request *RequestStep `json:"request,omitempty"`
	Open    *OpenStep    `json:"open,omitempty"`
	Click   *ActStep     `json:"click,omitempty"`
	Fill    *FillStep    `json:"fill,omitempty"`
	Press   *PressStep   `json:"press,omitempty"`
	Read    *ReadStep    `json:"read,omitempty"`
	Wait    *WaitStep    `json:"wait,omitempty"`

	// Verbs that packs do not have (the tag says so). All but Look and Dialog act.
	Hover  *ActStep    `json:"hover,omitempty" pack:"-"`
	Select *SelectStep `json:"select,omitempty" pack:"-"`
	Scroll *ScrollStep `json:"scroll,omitempty" pack:"-"`
	Drag   *DragStep   `json:"drag,omitempty" pack:"-"`
	Upload *UploadStep `json:"upload,omitempty" pack:"-"`
	Dialog *DialogStep `json:"dialog,omitempty" pack:"-"`
	Look   *LookStep   `json:"look,omitempty" pack:"-"`

	// As names what the step gives, for expressions.
	As string `json:"as,omitempty"`
	// Timeout bounds the step, in seconds; 0 is 10 for Request and Open, and 5 for others.
	Timeout int `json:"timeout,omitempty"`
}

// RequestStep asks the page's own server, as the page would: with its session. A Value is a literal,
// {"arg": NAME}, {"from": JMESPath} or a string with ${NAME}.
type RequestStep struct {
	Method string `json:"method,omitempty"` // GET if empty
	// Path begins with a slash. ${NAME} stands for an argument, in one segment each.
	Path  string                     `json:"path"`
	Query map[string]json.RawMessage `json:"query,omitempty"` // Values; that of an absent argument is left out
	JSON  json.RawMessage            `json:"json,omitempty"`  // a body in which each leaf may be a Value
	Form  map[string]json.RawMessage `json:"form,omitempty"`  // a body of form fields, each a Value
	Token *TokenRule                 `json:"token,omitempty"`
	// Take is a JMESPath expression over the answer's JSON; without it all of that is given, or the
	// answer's text if it is not JSON.
	Take string `json:"take,omitempty"`
}

// TokenRule says where the page has a token that its server asks for, and where the request carries it. It is
// exactly one of Meta, Hidden, Cookie, Storage and Page, and one of Header and Field. The token is never
// part of what a step gives.
type TokenRule struct {
	Meta    string     `json:"meta,omitempty"`    // the name of a meta element
	Hidden  string     `json:"hidden,omitempty"`  // the name of a hidden field
	Cookie  string     `json:"cookie,omitempty"`  // the name of a cookie that the page can read
	Storage string     `json:"storage,omitempty"` // a key of localStorage or sessionStorage
	Page    *TokenPage `json:"page,omitempty"`    // of another page of the site
	Header  string     `json:"header,omitempty"`
	Field   string     `json:"field,omitempty"` // of Form, or a member of JSON
}

// TokenPage is a page that is asked for a token; none of its scripts run.
type TokenPage struct {
	Path      string `json:"path"`
	Selector  string `json:"selector"`
	Attribute string `json:"attribute,omitempty"` // "value" if empty
}

// OpenStep leads the tab to another page of the pack.
type OpenStep struct {
	Path  string                     `json:"path"`
	Query map[string]json.RawMessage `json:"query,omitempty"`
}

// Target finds exactly one element: by Role and Name, by Label, or by Selector, which counts only
// without the others. It waits for the element until the step's Timeout.
type Target struct {
	Role     string `json:"role,omitempty"` // of WAI-ARIA
	Name     string `json:"name,omitempty"` // the accessible name, or "..." for a part of it; ${NAME} stands for an argument
	Label    string `json:"label,omitempty"`
	Selector string `json:"selector,omitempty"`
	// Ref is a reference of a look, alone. Packs have none.
	Ref string `json:"ref,omitempty" pack:"-"`
	// In is an element around it: frames of the same origin and open shadow trees are entered.
	In *Target `json:"in,omitempty"`
	// Nth chooses among several, from 1 on; negative numbers count from the end.
	Nth int `json:"nth,omitempty"`
}

// ActStep clicks.
type ActStep struct {
	Target Target `json:"target"`
	// Navigates says that the page gives way to another one: the next step runs there, and not before.
	Navigates bool `json:"navigates,omitempty"`
	// Button is "right", or "" for the left one; Count is 2 for a double click. Packs have neither.
	Button string `json:"button,omitempty" pack:"-"`
	Count  int    `json:"count,omitempty" pack:"-"`
}

// SelectStep chooses the options with these labels, and no others, in a list of options of any kind.
type SelectStep struct {
	Target  Target   `json:"target"`
	Options []string `json:"options"`
}

// ScrollStep brings Target into view or, with Pages, scrolls it, or the page without Target, by so many
// times what is seen of it: negative numbers lead up.
type ScrollStep struct {
	Target *Target `json:"target,omitempty"`
	Pages  float64 `json:"pages,omitempty"`
}

// DragStep drags one element onto another one.
type DragStep struct {
	Target Target `json:"target"`
	To     Target `json:"to"`
}

// UploadStep puts files into a file field, or drops them onto another element.
type UploadStep struct {
	Target Target `json:"target"`
	Files  []File `json:"files"`
}

// File is a file that the owner lets clients upload. Data is base64.
type File struct {
	Name     string `json:"name"`
	MimeType string `json:"mimeType,omitempty"`
	Data     string `json:"data"`
}

// DialogStep says how the page's next dialog is answered, if a later step of the run opens one: what a
// prompt gets is Text.
type DialogStep struct {
	Accept bool   `json:"accept"`
	Text   string `json:"text,omitempty"`
}

// LookStep gives what a Look of the run's document says, as a text.
type LookStep struct {
	Target *Target `json:"target,omitempty"`
	Depth  int     `json:"depth,omitempty"`
	Find   string  `json:"find,omitempty"`
}

// FillStep sets fields, all or none: every target is found before the first is set.
type FillStep struct {
	Fields []FillField `json:"fields"`
}

// FillField is a field and its Value: text, the label of an option, or true or false for a checkbox. A
// field whose argument is absent is left as it is.
type FillField struct {
	Target Target          `json:"target"`
	Value  json.RawMessage `json:"value"`
}

// PressStep presses a key: Enter, Escape, Tab, an arrow key or one letter; without a pack any key, also with
// modifiers as in "Control+A", and without Target in what has the focus.
type PressStep struct {
	Target    Target `json:"target,omitzero"`
	Key       string `json:"key"`
	Navigates bool   `json:"navigates,omitempty"`
}

// ReadStep reads the page as data: with List an array with an object for each element, with Table an array
// with an object for each row; otherwise one object with Fields.
type ReadStep struct {
	List   *Target              `json:"list,omitempty"` // finds any number of elements
	Fields map[string]ReadField `json:"fields,omitempty"`
	Table  *ReadTable           `json:"table,omitempty"`
	Max    int                  `json:"max,omitempty"` // rows; 100 if 0
}

// ReadField is what is read of an element: that which Target finds within the list's element, or that
// itself. Without Target and List it is of the page.
type ReadField struct {
	Target *Target `json:"target,omitempty"`
	// Give is "text" (if empty), "number", "value", "checked", "link" or "attribute".
	Give      string `json:"give,omitempty"`
	Attribute string `json:"attribute,omitempty"`
	// Optional gives null if there is no such element, instead of an error.
	Optional bool `json:"optional,omitempty"`
}

// ReadTable is a table with a row of headers.
type ReadTable struct {
	Target Target `json:"target"`
	// Columns gives members of the rows by the text of their headers; all under their headers if empty.
	Columns map[string]string `json:"columns,omitempty"`
}

// WaitStep waits until an element is there (For) or is not (Gone), or the address matches a pattern (URL).
type WaitStep struct {
	For  *Target `json:"for,omitempty"`
	Gone *Target `json:"gone,omitempty"`
	URL  string  `json:"url,omitempty"`
}

// PackRef names one version of a pack: Hash is that of its document.
type PackRef struct {
	Name string `json:"name" validate:"required,max=64,printascii"`
	Hash string `json:"hash" validate:"required,max=64,printascii"`
}

// Packs is the parameters of browser/packs: the packs that the owner has added. It is sent to a paired
// browser after hello, and when it has changed.
type Packs struct {
	Packs []ActivePack `json:"packs"`
}

// ActivePack is what a browser knows of a pack, to offer its tools and to bound its steps.
type ActivePack struct {
	PackRef
	Title  string           `json:"title,omitempty"`
	Match  []string         `json:"match"`
	Tools  []ActivePackTool `json:"tools"`
	Script bool             `json:"script,omitempty"` // it is one; browser/packScript gives its document
}

// ActivePackTool is a tool of a pack with steps.
type ActivePackTool struct {
	Name string   `json:"name"`
	On   []string `json:"on,omitempty"`
}

// ListPacks is browser/listPacks, answered with ListPacksResult.
type ListPacks struct{}

// ListPacksResult answers ListPacks: the packs that the browser has been sent and does not offer.
type ListPacksResult struct {
	Off []PackOff `json:"off" validate:"max=64,dive"`
}

// PackOff is a pack that a browser does not offer.
type PackOff struct {
	PackRef
	Why string `json:"why" validate:"max=256"` // in words, for its owner
}

// PackScript is the parameters of browser/packScript, a request of a paired browser for the script of a pack.
type PackScript struct {
	Pack PackRef `json:"pack"`
}

// PackScriptResult answers PackScript with the pack's whole document, of which the browser checks the hash: what
// its user has allowed is what runs.
type PackScriptResult struct {
	Document string `json:"document"`
}

// Run is browser/run: steps in one document, and in those that follow it in its frame. They are those of a
// pack's tool, and reach as far as the pack does: a browser that does not have Pack among its packs refuses it,
// and Steps are absent for a tool of a script. Or, without Pack, they are a client's own: they reach the pages
// of Origin and Reach.
type Run struct {
	Pack     PackRef         `json:"pack,omitzero"`
	ToolName string          `json:"toolName,omitempty"`
	Steps    []Step          `json:"steps,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Result   string          `json:"result,omitempty"` // PackTool.Result
	FrameID  *int64          `json:"frameId,omitempty"`
	Origin   string          `json:"origin"` // as in ExecuteTool

	// Reach holds the other origins that a step may lead to. The run ends there.
	Reach []string `json:"reach,omitempty"`
	// Script is JavaScript, instead of Steps. It has no network and no page: page, its one global, does
	// steps, and what it returns is the result.
	Script string `json:"script,omitempty"`
}

// RunResult answers Run. What it says of each step is what is certain.
type RunResult struct {
	Steps []StepReport `json:"steps" validate:"max=256,dive"`
	// Value is the result, if nothing failed.
	Value  json.RawMessage `json:"value,omitempty"`
	Failed *StepFailure    `json:"failed,omitempty"`
	Page   *Page           `json:"page,omitempty"` // where the run has led, if that is another document
}

// Did says whether a step was done.
type Did string

// What is known of a step.
const (
	DidNo      Did = "no"
	DidYes     Did = "yes"
	DidPerhaps Did = "perhaps" // it was begun, and what came of it is not known
)

// StepReport is what became of a step.
type StepReport struct {
	Verb string `json:"verb" validate:"required,max=16"`
	Did  Did    `json:"did" validate:"required,oneof=no yes perhaps"`
	// Words say what was acted on, as the page had it: `clicked button "Order"`. For people and models.
	Words string `json:"words,omitempty" validate:"max=4096"`
	At    string `json:"at,omitempty" validate:"max=2048"` // the page's address
}

// StepFailure is why a run ended at a step.
type StepFailure struct {
	Step    int      `json:"step"` // its index in Run.Steps
	Code    StepCode `json:"code" validate:"required,max=64"`
	Message string   `json:"message" validate:"max=4096"`
	// Found is what of that kind there was on the page.
	Found []string `json:"found,omitempty" validate:"max=5,dive,max=256"`
}

// StepCode is why a step failed.
type StepCode string

// The codes of steps.
const (
	StepNotFound     StepCode = "STEP_NOT_FOUND"      // no such element, column, field or token
	StepAmbiguous    StepCode = "STEP_AMBIGUOUS"      // more than one
	StepRefused      StepCode = "STEP_REFUSED"        // it would reach out of the pack's pages, or a secret
	StepTimeout      StepCode = "STEP_TIMEOUT"        // what it waits for has not come
	StepAnswer       StepCode = "STEP_ANSWER"         // the server answered with an error, or not what was expected
	StepLost         StepCode = "STEP_LOST"           // its document has gone, and what came of it is not known
	StepStopped      StepCode = "STEP_STOPPED"        // the call was cancelled, or the tab is not shared any more
	NeedsTrustedCode StepCode = "NEEDS_TRUSTED_INPUT" // the page takes only a person's input
	StepScript       StepCode = "STEP_SCRIPT"         // the script threw
	StaleRef         StepCode = "STALE_REF"           // a reference to what is gone, or is something else by now
)

// Record is browser/record: the browser asks the person in front of it whether to write down what they do in the tab
// of the frame, or in the active tab, as the draft of the pack Name. The answer {} says only that it asks.
type Record struct {
	Name string `json:"name"`
}

// Recorded is the parameters of browser/recorded, a request of a paired browser: a person has shown how
// something is done. Steps hold no secrets: a field that has one is named in Secrets, without value.
type Recorded struct {
	Name    string   `json:"name,omitempty" validate:"max=64"`
	URL     string   `json:"url" validate:"required,max=2048"` // where it began
	Title   string   `json:"title,omitempty" validate:"max=4096"`
	Steps   []Step   `json:"steps" validate:"max=64"`
	Secrets []string `json:"secrets,omitempty" validate:"max=64,dive,max=256"`
}

// RecordedResult answers Recorded: the name of the draft.
type RecordedResult struct {
	Name string `json:"name"`
}
