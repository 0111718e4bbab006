package item

import (
	"encoding/json"
	"errors"

	"tabhub/naming"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// An app (MCP Apps, SEP-1865) is a page of HTML that a tool names in `_meta.ui` and that
// hosts show beside the tool's results. It is a resource of the site, which often no list
// has. Of what `_meta.ui` says that passes which the specification defines; hosts keep
// the app in a sandbox, whatever it says. Of a site that is only claimed nothing passes but that
// a tool is not for models. The domain of a sandbox, which a host gives a server for its apps to
// share, does not: to a host all sites are the one server that the hub is.

// appOnly is the visibility of a tool that is for the site's app and not for models.
const appOnly = "app"

var (
	isVisibility = memberType{`an array of "model" and "app"`, func(v json.RawMessage) bool {
		return each(v, func(v json.RawMessage) bool { return oneOf(v, "model", appOnly) })
	}}
	isCSP         = memberType{"an object of arrays of strings", func(v json.RawMessage) bool { return eachMember(v, isStrings.is) }}
	isPermissions = memberType{"an object of objects", func(v json.RawMessage) bool {
		return eachMember(v, func(v json.RawMessage) bool { return v[0] == '{' })
	}}

	toolUIMembers     = members{"visibility": isVisibility}
	resourceUIMembers = members{"csp": isCSP, "permissions": isPermissions, "prefersBorder": isBool}
)

func eachMember(v json.RawMessage, is func(json.RawMessage) bool) bool {
	if v[0] != '{' {
		return false
	}
	for _, v := range rawjson.Members(v) {
		if !is(v) {
			return false
		}
	}
	return true
}

// app is what a tool says of its app.
type app struct {
	resource *Item
	ui       json.RawMessage // further members of `_meta.ui`, as an object
	meta     json.RawMessage // further members of `_meta`, the same or nil
}

// App returns the resource that is a tool's app, nil if it has none. Its page may not
// have registered it.
func (it *Item) App() *Item {
	if it.app == nil {
		return nil
	}
	return it.app.resource
}

// readApp reads from a tool's `_meta` which app it has.
func (p *parser) readApp() error {
	ui := rawjson.Get(p.meta, "ui")
	uri := rawjson.Get(ui, "resourceUri")
	if uri == nil {
		uri = rawjson.Get(p.meta, flatAppURI)
	}
	if uri == nil {
		return nil
	}
	page, _ := rawjson.String(uri)
	if !naming.IsApp(page) || len(page) > spec.MaxURI {
		return errors.New("_meta.ui.resourceUri must be a URI that begins with ui://")
	}
	if err := checkText("_meta.ui.resourceUri", page); err != nil {
		return err
	}
	r := parser{Item: &Item{Kind: spec.KindResource, Provenance: p.Provenance, Source: page, Frame: p.Frame}}
	r.keep("name", rawjson.AppendString(nil, page))
	r.keep("mimeType", json.RawMessage(`"text/html;profile=mcp-app"`))
	p.app = &app{resource: r.Item}
	if ui != nil {
		p.app.ui = validMembers("_meta.ui", ui, toolUIMembers, ignore)
	}
	return nil
}

// flatAppURI is the key of `_meta` that older hosts read.
const flatAppURI = "ui/resourceUri"

func isAppOnly(visibility json.RawMessage) bool {
	n := 0
	for v := range rawjson.Elements(visibility) {
		if !oneOf(v, appOnly) {
			return false
		}
		n++
	}
	return n > 0
}

// appendMeta appends the `_meta` of a tool whose app has the public URI uri.
func (a *app) appendMeta(out []byte, uri string) []byte {
	out = append(out, `,"_meta":{"ui":{"resourceUri":`...)
	out = appendMembers(rawjson.AppendString(out, uri), a.ui)
	out = append(appendKey(append(out, '}'), flatAppURI), rawjson.AppendString(nil, uri)...)
	return append(appendMembers(out, a.meta), '}')
}

// appendMembers appends the members of an object to another.
func appendMembers(out []byte, object json.RawMessage) []byte {
	for key, v := range rawjson.Members(object) {
		out = append(appendKey(out, key), v...)
	}
	return out
}
