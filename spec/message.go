package spec

import "encoding/json"

// Version of the protocol, and its WebSocket subprotocol.
const (
	ProtocolVersion = "tabhub.v1"
	Subprotocol     = "tabhub.v1"
)

// The methods of the protocol.
const (
	MethodPair              = "browser/pair"
	MethodHello             = "browser/hello"
	MethodRegisterTools     = "browser/registerTools"
	MethodUpdateTools       = "browser/updateTools"
	MethodRegisterResources = "browser/registerResources"
	MethodUpdateResources   = "browser/updateResources"
	MethodRegisterPrompts   = "browser/registerPrompts"
	MethodUpdatePrompts     = "browser/updatePrompts"
	MethodResourceUpdated   = "browser/resourceUpdated"
	MethodTabState          = "browser/tabState"
	MethodTabClosed         = "browser/tabClosed"
	MethodProgress          = "browser/progress"
	MethodResumeCall        = "browser/resumeCall"
	MethodDashboard         = "browser/dashboard"
	MethodPause             = "browser/pause"
	MethodRelease           = "browser/release"
	MethodPackScript        = "browser/packScript"
	MethodRecorded          = "browser/recorded"

	MethodExecuteTool       = "browser/executeTool"
	MethodRun               = "browser/run"
	MethodReadResource      = "browser/readResource"
	MethodSubscribeResource = "browser/subscribeResource"
	MethodGetPrompt         = "browser/getPrompt"
	MethodComplete          = "browser/complete"
	MethodCancel            = "browser/cancel"
	MethodPing              = "browser/ping"
	MethodOpenTab           = "browser/openTab"
	MethodActivateTab       = "browser/activateTab"
	MethodCloseTab          = "browser/closeTab"
	MethodListTabs          = "browser/listTabs"
	MethodNavigate          = "browser/navigate"
	MethodScreenshot        = "browser/screenshot"
	MethodText              = "browser/text"
	MethodLook              = "browser/look"
	MethodRefs              = "browser/refs"
	MethodRest              = "browser/rest"
	MethodAsk               = "browser/ask"
	MethodOwnerState        = "browser/ownerState"
	MethodPacks             = "browser/packs"
	MethodListPacks         = "browser/listPacks"
	MethodRecord            = "browser/record"
	MethodEndRoom           = "browser/endRoom"
)

// Capability is something that a peer offers at hello.
type Capability string

// WebMCP is what gives pages the standard's API: "browser" or "extension".
type WebMCP string

// The capabilities. Each down to CapAsk names the browser/ method of the same name.
const (
	CapOpenTab     Capability = "openTab"
	CapActivateTab Capability = "activateTab"
	CapCloseTab    Capability = "closeTab"
	CapListTabs    Capability = "listTabs"
	CapNavigate    Capability = "navigate"
	CapScreenshot  Capability = "screenshot"
	CapText        Capability = "text"
	CapRest        Capability = "rest"
	CapAsk         Capability = "ask"
	// CapResume: over connections of one session, the peer knows by its id a call that
	// it has got before, and holds answers until the hub has them.
	CapResume Capability = "resume"
	// CapRoom: the browser keeps the tabs of a Room together, and serves browser/endRoom.
	CapRoom Capability = "room"
	// CapHold: the browser says of the tabs in OwnerState.Held whether their owner uses them.
	CapHold Capability = "hold"
	// CapPacks: the browser offers the tools of the packs in Packs, and serves browser/run,
	// browser/listPacks and browser/record.
	CapPacks Capability = "packs"
	// CapLook: the browser serves browser/look and browser/refs, and browser/run without a pack.
	CapLook Capability = "look"
	// CapTrustedInput: the browser acts with input of its own, as a debugger does, which pages cannot
	// tell from a person's.
	CapTrustedInput Capability = "trustedInput"
)

// Extensions are fields that neither side interprets (spec/PROTOCOL.md, "Transport").
type Extensions map[string]json.RawMessage

// ExtTraceparent is the extension that tells a page the span of its call: a string, as the
// header traceparent of W3C Trace Context.
const ExtTraceparent = "traceparent"

// Pair is the parameters of browser/pair, with which a browser that is paired with
// the hub begins: what both sides prove is in PROTOCOL.md, "Pairing".
type Pair struct {
	ProtocolVersion string    `json:"protocolVersion" validate:"required,max=32"`
	Pairing         PairingID `json:"pairing" validate:"required,max=128,printascii"`
	// Nonce is 32 random bytes, new for each connection, in base64url.
	Nonce string `json:"nonce" validate:"required,len=43,printascii"`
}

// PairResult answers Pair.
type PairResult struct {
	Hub   string `json:"hub"` // the hub's id
	Nonce string `json:"nonce"`
	Proof string `json:"proof"` // the hub's
}

// Hello is the parameters of browser/hello, the first message of a current proxy that
// is not paired.
type Hello struct {
	ProtocolVersion string `json:"protocolVersion" validate:"required,max=32"`
	// BrowserID makes the connection a browser that carries many tabs; without it
	// the connection is a single tab.
	BrowserID     BrowserID `json:"browserId,omitempty" validate:"omitempty,max=128,printascii"`
	BrowserSecret string    `json:"browserSecret,omitempty" validate:"max=256"`
	BrowserName   string    `json:"browserName,omitempty" validate:"max=128"`
	// TabKey names a single tab over reloads. The hub scopes it by origin.
	TabKey string `json:"tabKey,omitempty" validate:"omitempty,max=128,printascii"`
	// Session is a new value whenever the peer has lost what it knew: tab ids and
	// open calls of an earlier session are void. For the extension it lasts as
	// long as the browser runs, for a page script as long as the document.
	Session      string       `json:"session,omitempty" validate:"omitempty,max=128,printascii"`
	Capabilities []Capability `json:"capabilities,omitempty" validate:"max=32,dive,max=64"`
	// WebMCP says what gives pages the standard's API, if that is known: the browser
	// itself, or the extension where the browser has none.
	WebMCP WebMCP `json:"webmcp,omitempty" validate:"omitempty,oneof=browser extension"`
	Token  string `json:"token,omitempty" validate:"max=8192"`
	// Proof is the browser's, if the hub has answered Pair on this connection.
	Proof      string     `json:"proof,omitempty" validate:"max=64"`
	Extensions Extensions `json:"extensions,omitempty"`
}

// HelloResult answers Hello.
type HelloResult struct {
	Hub         string `json:"hub"`
	Version     string `json:"version"`
	KeepAliveMs int64  `json:"keepAliveMs"`
	Limits      Limits `json:"limits"`
	// BrowserSecret is present on the first hello of a BrowserID: the peer keeps
	// it and sends it with every later hello.
	BrowserSecret string `json:"browserSecret,omitempty"`
}

// Inbound is a message from a tab or browser to the hub: *Register, *TabState,
// *TabClosed or *ResourceUpdated.
type Inbound interface{ inbound() }

// Register is browser/registerTools and browser/updateTools, and the same for
// resources and prompts. Each is the tab's full set of that kind: it replaces what
// the tab had. An item is the MCP object as the page made it (a Tool, Resource,
// ResourceTemplate or Prompt), with the optional extra members frameId, origin and
// departed.
type Register struct {
	Kind   Kind              `json:"-"`
	Update bool              `json:"-"`
	Items  []json.RawMessage `json:"-"`
	TabURL string            `json:"tabUrl,omitempty" validate:"max=2048"`
	Title  string            `json:"title,omitempty" validate:"max=4096"`
	// Rejected says what the tab itself has left out. Its owner sees it.
	Rejected   []Rejection `json:"rejected,omitempty" validate:"max=100"`
	Extensions Extensions  `json:"extensions,omitempty"`
}

// Registered answers Register when it came as a request, after the commit that
// holds it is synced.
type Registered struct {
	Accepted int         `json:"accepted"`
	Rejected []Rejection `json:"rejected"`
	// Warnings are about parts of accepted items: they are offered without them.
	Warnings []Rejection `json:"warnings,omitempty"`
}

// Rejection says why an item, or a part of one, was quarantined.
type Rejection struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// TabState is browser/tabState. A nil field is unchanged.
type TabState struct {
	URL           *string `json:"url,omitempty" validate:"omitempty,max=2048"`
	Title         *string `json:"title,omitempty" validate:"omitempty,max=4096"`
	Active        *bool   `json:"active,omitempty"`
	WindowID      *int64  `json:"windowId,omitempty"`
	WindowFocused *bool   `json:"windowFocused,omitempty"`
	Visible       *bool   `json:"visible,omitempty"`
	// KeepTools is the user's choice in the browser that this tab's site keeps its
	// tools when its last tab closes.
	KeepTools *bool `json:"keepTools,omitempty"`
	// Discarded says that the browser has put the tab to sleep: its page is not loaded,
	// what it offered stays, and a call loads it again.
	Discarded *bool `json:"discarded,omitempty"`
	// Replaces is the number that the tab had until now: some browsers give a tab that
	// they put to sleep another one.
	Replaces int64 `json:"replaces,omitempty"`
	// Waiting says that a call waits for the person in front of the tab.
	Waiting *bool `json:"waiting,omitempty"`
	// Dialog is the dialog that the page has open, which blocks it; without type none is.
	Dialog *Dialog `json:"dialog,omitempty"`
	// InUse says that there is user input in the tab. It is set only for tabs in
	// OwnerState.Held.
	InUse *bool `json:"inUse,omitempty"`
}

// TabClosed is browser/tabClosed.
type TabClosed struct{}

// ResourceUpdated is browser/resourceUpdated.
type ResourceUpdated struct {
	URI string `json:"uri" validate:"required,max=2048"`
}

func (*Register) inbound()        {}
func (*TabState) inbound()        {}
func (*TabClosed) inbound()       {}
func (*ResourceUpdated) inbound() {}
func (*ResumeCall) inbound()      {}

// Progress is browser/progress: a call is still under way.
type Progress struct {
	RequestID string   `json:"requestId" validate:"required,max=128"`
	Progress  float64  `json:"progress"`
	Total     *float64 `json:"total,omitempty"`
	Message   string   `json:"message,omitempty" validate:"max=4096"`
	// Waiting says that the call waits for the person in front of the tab.
	Waiting bool `json:"waiting,omitempty"`
	// Continues says that a later document of the tab may resume the call. From a browser it
	// means no more than other progress: a browser's session outlives the documents of its tabs.
	Continues bool `json:"continues,omitempty"`
	// Meta is the _meta of the notification that an MCP client gets, an object or nil.
	// Pages send none.
	Meta json.RawMessage `json:"-"`
}

// ResumeCall is browser/resumeCall, a request of a page that has joined by itself: it goes on with a
// tool's call that a document of its tab has left to a later one.
type ResumeCall struct {
	RequestID string `json:"requestId" validate:"required,max=128"`
}

// ResumeCallResult answers ResumeCall with what the page was sent.
type ResumeCallResult struct {
	ToolName string          `json:"toolName"`
	Args     json.RawMessage `json:"args"`
}

// Dashboard is the parameters of browser/dashboard, a request of a paired browser for
// an address that opens the hub's dashboard signed in.
type Dashboard struct{}

// DashboardResult answers Dashboard.
type DashboardResult struct {
	URL string `json:"url"` // good once, and not for long
}

// Pause is the parameters of browser/pause, a request of a paired browser: its owner has
// everything stopped, or lets it go on.
type Pause struct {
	On *bool `json:"on" validate:"required"`
}

// Release is the parameters of browser/release, a request of a paired browser: its owner
// ends the lease of the frame's tab.
type Release struct{}

// OwnerState is the parameters of browser/ownerState: what a paired browser shows to its
// owner. It is sent after hello, and when it has changed.
type OwnerState struct {
	Paused  bool       `json:"paused"`         // everything is
	Waiting int        `json:"waiting"`        // questions without an answer
	Apps    []OwnerApp `json:"apps,omitempty"` // that are connected, the last to call first
	Held    []HeldTab  `json:"held,omitempty"` // tabs of this browser, by TabID; for peers with CapHold
	// Gone are the ids of questions (Ask) that a browser shows although no call waits for them any more: a
	// yes is good if the client makes the call again.
	Gone []string `json:"gone,omitempty"`
}

// HeldTab is a tab that a client holds for itself.
type HeldTab struct {
	TabID   int64  `json:"tabId"`
	By      string `json:"by"`                // the holder's name, for people
	UntilMs int64  `json:"untilMs"`           // from now; a call of the holder renews it
	Waiting bool   `json:"waiting,omitempty"` // a call of the holder waits until the owner does not use the tab
}

// OwnerApp is a client of the hub.
type OwnerApp struct {
	Name   string `json:"name"`             // the owner's name of it
	Said   string `json:"said,omitempty"`   // what it calls itself, if that is something else
	Calls  int64  `json:"calls"`            // since it is connected
	LastMs int64  `json:"lastMs,omitempty"` // how long ago it called last; 0: it has not
}

// Request is a request of the hub to a tab or browser: one of the types below.
type Request interface{ Method() string }

// ExecuteTool is browser/executeTool. Args is passed on as it came.
type ExecuteTool struct {
	ToolName string          `json:"toolName"`
	Args     json.RawMessage `json:"args"`
	FrameID  *int64          `json:"frameId,omitempty"`
	// Origin is the origin that registered the tool, if it is certain or was given for each
	// tool. A proxy whose frame now shows another origin refuses with CodeTabNotFound and
	// NotDelivered.
	Origin     string     `json:"origin,omitempty"`
	Extensions Extensions `json:"extensions,omitempty"`
}

// Outcome answers ExecuteTool on the wire. Payload is the CallToolResult as the page
// made it, or the error message.
type Outcome struct {
	Success bool            `json:"success"`
	Payload json.RawMessage `json:"payload"`
	// Page says that the call has led to another document, and where that is.
	Page *Page `json:"page,omitempty"`
}

// Dialog is a dialog of a page: alert, confirm or prompt, or DialogUnknown.
type Dialog struct {
	Type    string `json:"type" validate:"max=32"`
	Message string `json:"message,omitempty" validate:"max=4096"` // the page's words
}

// DialogUnknown is the Type of an unknown reason why a page does not answer: a dialog may be
// open in it, or a script is busy.
const DialogUnknown = "unknown"

// Page is where a tab is. It is empty for a site that the user does not share.
type Page struct {
	URL   string `json:"url,omitempty" validate:"max=2048"`
	Title string `json:"title,omitempty" validate:"max=4096"`
	// Error is why the browser could not show the page, in its own words; PageAborted if
	// there was none to show.
	Error string `json:"error,omitempty" validate:"max=128"`
}

// PageAborted is the Error of a Page if what came was a download or had no content, or if
// loading was stopped: the tab shows what it did before.
const PageAborted = "ERR_ABORTED"

// ReadResource is browser/readResource, answered with an MCP ReadResourceResult.
type ReadResource struct {
	URI        string     `json:"uri"`
	FrameID    *int64     `json:"frameId,omitempty"`
	Extensions Extensions `json:"extensions,omitempty"`
}

// SubscribeResource is browser/subscribeResource.
type SubscribeResource struct {
	URI       string `json:"uri"`
	Subscribe bool   `json:"subscribe"`
	FrameID   *int64 `json:"frameId,omitempty"`
}

// GetPrompt is browser/getPrompt, answered with an MCP GetPromptResult.
type GetPrompt struct {
	Name       string          `json:"name"`
	Args       json.RawMessage `json:"args,omitempty"`
	FrameID    *int64          `json:"frameId,omitempty"`
	Extensions Extensions      `json:"extensions,omitempty"`
}

// Complete is browser/complete, answered with an MCP CompleteResult. Ref is the page's own
// prompt or resource template; Argument and Context are MCP's, as the client sent them.
type Complete struct {
	Ref      CompleteRef     `json:"ref"`
	Argument json.RawMessage `json:"argument"`
	Context  json.RawMessage `json:"context,omitempty"`
	FrameID  *int64          `json:"frameId,omitempty"`
}

// CompleteRef is a PromptReference or a ResourceTemplateReference of MCP.
type CompleteRef struct {
	Type string `json:"type"` // RefPrompt or RefResource
	Name string `json:"name,omitempty"`
	URI  string `json:"uri,omitempty"` // the URI template
}

// The types of a CompleteRef.
const (
	RefPrompt   = "ref/prompt"
	RefResource = "ref/resource"
)

// Ping is browser/ping, answered with {}.
type Ping struct{}

// OpenTab is browser/openTab, answered with OpenTabResult.
type OpenTab struct {
	URL    string `json:"url"`
	Active bool   `json:"active"`
	// Wake says that a tab will do, too, which is at URL and not loaded: it is loaded.
	// If URL is a site's root, any of that site will.
	Wake bool `json:"wake,omitempty"`
	// Room is the tab group of the new tab, nil for none. Only peers with CapRoom get it.
	Room *Room `json:"room,omitempty"`
}

// Room is the place of the tabs that one client has opened: a tab group.
type Room struct {
	ID    string `json:"id"`    // the same for all tabs of the room
	Title string `json:"title"` // the client's name, for people
}

// EndRoom is browser/endRoom, answered with EndRoomResult: the client of a Room has gone.
type EndRoom struct {
	Room string `json:"room"` // its ID
	// Close closes the tabs that the client has opened, except the active tab and those with
	// user input. Otherwise all stay, and their tab group says that it has ended.
	Close bool `json:"close,omitempty"`
}

// EndRoomResult answers EndRoom: how many of the tabs that the client has opened there were
// closed, and how many are left.
type EndRoomResult struct {
	Closed int `json:"closed"`
	Kept   int `json:"kept"`
}

// OpenTabResult answers OpenTab.
type OpenTabResult struct {
	TabID int64 `json:"tabId" validate:"required"`
}

// ActivateTab is browser/activateTab; the tab is the frame's.
type ActivateTab struct {
	// IfOrigin is the origin that the tab must show, as a browser writes it; "": any. A
	// browser whose tab shows another one does nothing, and answers CodeTabNotFound with
	// NotDelivered.
	IfOrigin string `json:"ifOrigin,omitempty"`
}

// CloseTab is browser/closeTab; the tab is the frame's.
type CloseTab struct {
	IfOrigin string `json:"ifOrigin,omitempty"` // as in ActivateTab
}

// ListTabs is browser/listTabs, answered with ListTabsResult.
type ListTabs struct{}

// ListTabsResult answers ListTabs.
type ListTabsResult struct {
	Tabs []BrowserTab `json:"tabs" validate:"max=10000,dive"`
}

// BrowserTab is one tab of a browser, with tools or without.
type BrowserTab struct {
	TabID    int64  `json:"tabId"`
	WindowID int64  `json:"windowId"`
	Index    int    `json:"index"`
	URL      string `json:"url"`
	Title    string `json:"title"`
	Active   bool   `json:"active"`
	// Discarded says that the tab's page is not loaded.
	Discarded bool `json:"discarded,omitempty"`
	// Navigating says that the tab is on its way to another document than the one that it
	// shows.
	Navigating bool `json:"navigating,omitempty"`
}

// Navigate is browser/navigate: one of URL, Back, Forward and Reload.
type Navigate struct {
	URL     string `json:"url,omitempty"`
	Back    bool   `json:"back,omitempty"`
	Forward bool   `json:"forward,omitempty"`
	Reload  bool   `json:"reload,omitempty"`

	IfOrigin string `json:"ifOrigin,omitempty"` // as in ActivateTab
}

// Screenshot is browser/screenshot, answered with ScreenshotResult.
type Screenshot struct {
	Ref  string `json:"ref,omitempty"`  // a reference of a look: that element alone
	Full bool   `json:"full,omitempty"` // the whole page, not only what is seen of it
	// Numbered draws the references of what can be acted on into the picture.
	Numbered bool   `json:"numbered,omitempty"`
	IfOrigin string `json:"ifOrigin,omitempty"` // as in ActivateTab
}

// ScreenshotResult answers Screenshot. Data is base64.
type ScreenshotResult struct {
	MimeType string `json:"mimeType" validate:"required,max=64"`
	Data     string `json:"data" validate:"required"`
	// Lines say what the references in the picture stand for, as those of a look; Cut that the page is
	// longer than the picture.
	Lines []string `json:"lines,omitempty" validate:"max=1000,dive,max=4096"`
	Cut   bool     `json:"cut,omitempty"`
}

// Text is browser/text, answered with TextResult.
type Text struct {
	IfOrigin string `json:"ifOrigin,omitempty"` // as in ActivateTab
}

// TextResult answers Text: the page's visible text.
type TextResult struct {
	Text string `json:"text"`
}

// Rest is browser/rest: it is answered, with RestResult, when the page that the tab shows
// rests, or when WaitMs have passed. It rests when it has loaded, and for a second, or 1.5 s while
// it is hidden, neither has its document changed nor has a request of it ended. What the tab goes
// to meanwhile counts.
type Rest struct {
	WaitMs   int64  `json:"waitMs" validate:"min=1,max=600000"`
	IfOrigin string `json:"ifOrigin,omitempty"` // as in ActivateTab
}

// RestResult answers Rest. All but Rested says what went on at the end of one that did not rest.
type RestResult struct {
	Rested  bool `json:"rested"`
	Loading bool `json:"loading,omitempty"` // the document had not loaded
	Busy    bool `json:"busy,omitempty"`    // the page did not answer
	Changes int  `json:"changes,omitempty"` // of the document, since the request came
}

// Ask is browser/ask: the owner is asked, in a window of the browser's own, whether
// something may be done. It is sent only to browsers that are paired with the hub. The
// same question may be sent again, over another connection: it is shown once. Texts that
// are not the hub's own words are those of Client, Site, Tool, Args and Changes; they hold
// no control characters and nothing that cannot be seen.
type Ask struct {
	ID        string      `json:"id"`
	Kind      AskKind     `json:"kind"`
	Client    AskClient   `json:"client"`
	Site      *AskSite    `json:"site,omitempty"` // nil: of no site, or of any
	Tool      *AskTool    `json:"tool,omitempty"`
	Why       []string    `json:"why"` // sentences of the hub
	Args      []AskValue  `json:"args,omitempty"`
	Changes   []AskChange `json:"changes,omitempty"`   // since it was allowed
	Reaches   []Reach     `json:"reaches"`             // what may be answered, beside no
	AboutSite bool        `json:"aboutSite,omitempty"` // an answer that reaches further than the call is about all that the site offers, or all of this class that Tool.Pack, or the client by itself, does there
	ExpiresMs int64       `json:"expiresMs"`           // from now
	Waiting   int         `json:"waiting,omitempty"`   // further questions
}

// AskKind is what is asked.
type AskKind string

const (
	AskCall   AskKind = "call"   // may this be called?
	AskSignIn AskKind = "signIn" // may this client use the hub? AskResult has a Code then
)

// AskClient is the client that asks for it.
type AskClient struct {
	Name string `json:"name"`           // the owner's name of it, or how the hub knows it
	Said string `json:"said,omitempty"` // what it calls itself, if that is something else
	// Return is where the browser goes with the answer to a sign-in: a host, or "a program
	// on this computer".
	Return string `json:"return,omitempty"`
}

// AskSite is where it would happen.
type AskSite struct {
	Origin   string `json:"origin"` // as the browser writes it
	Verified bool   `json:"verified"`
	Top      string `json:"top,omitempty"` // the site whose page it is in, if that is another
	Any      bool   `json:"any,omitempty"` // it may reach every site of the browser
}

// AskTool is what would be called.
type AskTool struct {
	Kind  Kind   `json:"kind,omitempty"` // "" for a tool of the hub or a request of the relay
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	Class string `json:"class"` // "read", "write", "act" or "destructive"
	// Pack gives the tool; nil: its page offers it itself.
	Pack *AskPack `json:"pack,omitempty"`
	// Steps say what the client does on the page by itself, in their order: `click button "Order"`. Of a Class
	// that is not "act" they lead to what is asked about. With Steps or a Script, Args need not be shown.
	Steps []string `json:"steps,omitempty"`
	// Script is the JavaScript by which it does so, whole. It has line feeds and tabs.
	Script string `json:"script,omitempty"`
}

// AskPack is the pack of the owner's that gives a tool.
type AskPack struct {
	Name  string `json:"name"`
	Added string `json:"added,omitempty"` // the day on which the owner added it: "3 May 2026"
	// Steps say what the call does with its arguments: each step that acts, in their order, and last
	// how often it reads.
	Steps []string `json:"steps,omitempty"`
}

// AskValue is a member of the arguments, for people.
type AskValue struct {
	Name  string   `json:"name"`           // Path in one text
	Path  []string `json:"path,omitempty"` // the names of the members that lead to it, in an array their numbers
	Value string   `json:"value"`
	Cut   int      `json:"cut,omitempty"` // how many characters in the middle of Value are left out
}

// AskChange is what is different from what the owner has allowed.
type AskChange struct {
	What    string `json:"what"`
	Was     string `json:"was"`
	Is      string `json:"is"`
	Added   bool   `json:"added,omitempty"`   // it was not there: Was is empty
	Removed bool   `json:"removed,omitempty"` // it is not there any more: Is is empty
}

// Reach is how far the owner's answer reaches.
type Reach string

const (
	ReachNo      Reach = "no"      // not this time
	ReachOnce    Reach = "once"    // this call
	ReachSession Reach = "session" // this client, until it ends
	ReachApp     Reach = "app"     // always for this client
	ReachAlways  Reach = "always"  // always, for every client
	ReachNever   Reach = "never"   // never for this client, unasked
)

// AskResult answers Ask. A window that is closed means ReachNo.
type AskResult struct {
	Reach Reach `json:"reach" validate:"required,oneof=no once session app always never"`
	// Code is what the owner has read on the page that wants to sign in.
	Code string `json:"code,omitempty" validate:"max=32"`
}

// IsCall reports whether a request is for what a page has registered. Other requests
// are for the browser.
func IsCall(r Request) bool {
	switch r.(type) {
	case *ExecuteTool, *Run, *ReadResource, *SubscribeResource, *GetPrompt, *Complete:
		return true
	}
	return false
}

func (*ExecuteTool) Method() string       { return MethodExecuteTool }
func (*Run) Method() string               { return MethodRun }
func (*ListPacks) Method() string         { return MethodListPacks }
func (*Record) Method() string            { return MethodRecord }
func (*ReadResource) Method() string      { return MethodReadResource }
func (*SubscribeResource) Method() string { return MethodSubscribeResource }
func (*GetPrompt) Method() string         { return MethodGetPrompt }
func (*Complete) Method() string          { return MethodComplete }
func (*Ping) Method() string              { return MethodPing }
func (*OpenTab) Method() string           { return MethodOpenTab }
func (*ActivateTab) Method() string       { return MethodActivateTab }
func (*CloseTab) Method() string          { return MethodCloseTab }
func (*ListTabs) Method() string          { return MethodListTabs }
func (*Navigate) Method() string          { return MethodNavigate }
func (*Screenshot) Method() string        { return MethodScreenshot }
func (*Text) Method() string              { return MethodText }
func (*Look) Method() string              { return MethodLook }
func (*Refs) Method() string              { return MethodRefs }
func (*Rest) Method() string              { return MethodRest }
func (*Ask) Method() string               { return MethodAsk }
func (*EndRoom) Method() string           { return MethodEndRoom }

// Response is a tab's answer to a Request.
type Response struct {
	// Result is the raw result; for ExecuteTool it is the payload alone.
	Result json.RawMessage
	// Failed is set when an ExecuteTool was answered with success false. Result
	// then is the error message as a JSON string, or a CallToolResult.
	Failed bool
	// Page is where an ExecuteTool has led; nil if the page is as before.
	Page *Page
}

// Cancel is browser/cancel.
type Cancel struct {
	RequestID string `json:"requestId"`
	Reason    string `json:"reason"`
}
