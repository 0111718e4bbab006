package spec

// Look is browser/look: what can be read and acted on in the documents of a tab, by role and name, as lines of
// text with references. Without Scope it is all that the tab shows.
type Look struct {
	// Scope is a reference: what is in that element alone, or in that frame.
	Scope string `json:"scope,omitempty"`
	// Depth is how many levels below the root, or Scope, are shown; 0: all.
	Depth int `json:"depth,omitempty"`
	// Find gives only what has these words in its role, name or text, each with the path to it.
	Find string `json:"find,omitempty"`
	// MaxTokens bounds the lines; 0 is DefaultLookTokens. What can be acted on comes first.
	MaxTokens int `json:"maxTokens,omitempty"`
	// Changes gives only what has changed since the last look of Viewer at the tab, if there was one.
	Changes bool `json:"changes,omitempty"`
	// Viewer names the session that looks, to the browser alone.
	Viewer   string `json:"viewer,omitempty"`
	IfOrigin string `json:"ifOrigin,omitempty"` // as in ActivateTab; with Scope of the frame that has it
}

// DefaultLookTokens is how many tokens, as a model counts them, a look has at most by default.
const DefaultLookTokens = 4000

// LookResult answers Look.
type LookResult struct {
	// Frames are the documents that are shown: first that of the tab, or of Scope.
	Frames []LookFrame `json:"frames" validate:"min=1,max=1000,dive"`
	// Lines are indented by two spaces for each level.
	Lines []LookLine `json:"lines" validate:"max=20000,dive"`
	// Left is how many lines were left out for MaxTokens, or Depth.
	Left int `json:"left,omitempty"`
	// Changes says that the lines are what has changed: those that begin with "-" are gone.
	Changes bool `json:"changes,omitempty"`
}

// LookFrame is a document of a look.
type LookFrame struct {
	Origin string `json:"origin" validate:"max=2048"`
	URL    string `json:"url" validate:"max=2048"`
	Title  string `json:"title,omitempty" validate:"max=4096"`
	Ref    string `json:"ref,omitempty" validate:"max=16"` // of the frame's element; "" for that of the tab
}

// LookLine is a line of a look. Frame is the index of its document in LookResult.Frames.
type LookLine struct {
	Frame int    `json:"frame,omitempty" validate:"min=0,max=999"`
	Text  string `json:"text" validate:"max=4096"`
}

// Refs is browser/refs: what references stand for now. They must be of one document.
type Refs struct {
	Refs []string `json:"refs"`
}

// RefsResult answers Refs.
type RefsResult struct {
	FrameID int64        `json:"frameId"`
	Origin  string       `json:"origin" validate:"max=2048"`
	URL     string       `json:"url" validate:"max=2048"`
	Refs    []RefElement `json:"refs" validate:"max=256,dive"`
}

// RefElement is what a reference stands for.
type RefElement struct {
	Ref string `json:"ref" validate:"max=16"`
	// Words are those of the look: `button "Order"`.
	Words string `json:"words,omitempty" validate:"max=4096"`
	// Leads is the origin of the page that a click on a link, or on a button that submits a form, leads to.
	Leads string `json:"leads,omitempty" validate:"max=2048"`
	// Frame is the document that the element shows, if it is a frame.
	Frame *RefFrame `json:"frame,omitempty"`
	// Stale says why there is no such element any more; Near are those that come nearest, with references.
	Stale string   `json:"stale,omitempty" validate:"max=1024"`
	Near  []string `json:"near,omitempty" validate:"max=5,dive,max=1024"`
}

// RefFrame is the document that a frame's element shows.
type RefFrame struct {
	FrameID int64  `json:"frameId"`
	Origin  string `json:"origin" validate:"max=2048"`
	URL     string `json:"url" validate:"max=2048"`
}
