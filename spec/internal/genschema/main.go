// Command genschema writes the messages of tabhub.v1, from the Go types of package spec,
// as a JSON Schema and as TypeScript declarations. It runs in spec's directory: go
// generate ./spec.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"tabhub/spec"
)

func main() {
	files, err := generate(".")
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.FromSlash(name), text, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "genschema:", err)
		os.Exit(1)
	}
}

// generate returns the files by their slash-separated paths below dir, spec's directory,
// whose comments are the descriptions.
func generate(dir string) (map[string][]byte, error) {
	r := &jsonschema.Reflector{AllowAdditionalProperties: true, Anonymous: true}
	if err := r.AddGoComments("tabhub/spec", dir); err != nil {
		return nil, err
	}
	for key, comment := range r.CommentMap {
		r.CommentMap[key] = strings.Join(strings.Fields(comment), " ")
	}
	g := &generator{reflector: r, defs: jsonschema.Definitions{}}
	schema, err := g.schema()
	if err != nil {
		return nil, err
	}
	types, err := typeScript(dir, g.defs)
	if err != nil {
		return nil, err
	}
	pack, err := packSchema(dir)
	if err != nil {
		return nil, err
	}
	const base = "schema/" + spec.ProtocolVersion
	return map[string][]byte{base + ".schema.json": schema, base + ".d.ts": types, "schema/pack.schema.json": pack}, nil
}

type generator struct {
	reflector *jsonschema.Reflector
	defs      jsonschema.Definitions
}

// schema defines the types of all messages and returns the JSON Schema of a frame.
func (g *generator) schema() ([]byte, error) {
	root := &jsonschema.Schema{
		Version:     jsonschema.Version,
		Title:       spec.ProtocolVersion,
		Description: "A frame of the tab protocol " + spec.ProtocolVersion + ". Unknown members are ignored by both sides.",
		Definitions: g.defs,
	}
	for _, m := range spec.MessageTypes() {
		root.AnyOf = append(root.AnyOf, g.frame(m))
		if m.Result != nil {
			g.ref(m.Result)
		}
	}
	g.ref(&spec.Error{})
	root.AnyOf = append(root.AnyOf, answer())
	return encode(root)
}

// packSchema returns the JSON Schema of a pack's document, for editors. What a schema cannot say, the
// hub checks when it reads the document.
func packSchema(dir string) ([]byte, error) {
	r := &jsonschema.Reflector{Anonymous: true}
	if err := r.AddGoComments("tabhub/spec", dir, jsonschema.WithFullComment()); err != nil {
		return nil, err
	}
	for key, comment := range r.CommentMap {
		r.CommentMap[key] = strings.Join(strings.Fields(comment), " ")
	}
	root := r.Reflect(&spec.Pack{})
	used := map[string]bool{"Pack": true}
	inPacks(root.Definitions, reflect.TypeFor[spec.Pack](), used)
	maps.DeleteFunc(root.Definitions, func(name string, _ *jsonschema.Schema) bool { return !used[name] })
	root.Title = "A pack of tabhub"
	format, _ := root.Definitions["Pack"].Properties.Get("tabhubPack")
	format.Const = spec.PackFormat
	return encode(root)
}

// inPacks takes from the definition of a struct, and those of its members, what packs do not have.
func inPacks(defs jsonschema.Definitions, t reflect.Type, used map[string]bool) {
	for t.Kind() != reflect.Struct {
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Pointer && t.Kind() != reflect.Map {
			return
		}
		t = t.Elem()
	}
	used[t.Name()] = true
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Tag.Get("pack") == "-" {
			defs[t.Name()].Properties.Delete(name)
		} else if f.Type.Kind() != reflect.Pointer || !used[f.Type.Elem().Name()] {
			inPacks(defs, f.Type, used)
		}
	}
}

func encode(s *jsonschema.Schema) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(s)
	return buf.Bytes(), err
}

// ref defines the type of v and returns a reference to it.
func (g *generator) ref(v any) *jsonschema.Schema {
	s := g.reflector.Reflect(v)
	for name, def := range s.Definitions {
		g.defs[name] = def
	}
	g.constrain(reflect.TypeOf(v).Elem(), map[reflect.Type]bool{})
	return &jsonschema.Schema{Ref: s.Ref}
}

// constrain carries the validate tags of a struct over to its definition.
func (g *generator) constrain(t reflect.Type, seen map[reflect.Type]bool) {
	def := g.defs[t.Name()]
	if def == nil || seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		prop, ok := def.Properties.Get(name)
		if !ok {
			continue
		}
		for ft := f.Type; ; ft = ft.Elem() {
			if ft.Kind() == reflect.Struct {
				g.constrain(ft, seen)
			}
			if ft.Kind() != reflect.Slice && ft.Kind() != reflect.Pointer {
				break
			}
		}
		for _, rule := range strings.Split(f.Tag.Get("validate"), ",") {
			if rule == "dive" {
				prop = prop.Items
			}
			constrain(prop, rule)
		}
	}
}

func constrain(s *jsonschema.Schema, rule string) {
	name, param, _ := strings.Cut(rule, "=")
	switch name {
	case "max":
		n, err := strconv.ParseUint(param, 10, 64)
		if err != nil {
			panic(err)
		}
		switch s.Type {
		case "array":
			s.MaxItems = &n
		case "string":
			s.MaxLength = &n
		}
	case "printascii":
		s.Pattern = "^[ -~]*$"
	case "required":
		if s.Type == "string" {
			s.MinLength = new(uint64(1))
		}
	}
}

// frame returns the schema of a message's frame.
func (g *generator) frame(m spec.MessageType) *jsonschema.Schema {
	props := jsonschema.NewProperties()
	props.Set("jsonrpc", &jsonschema.Schema{Const: "2.0"})
	if !m.Notification {
		props.Set("id", &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "integer"}}})
	}
	props.Set("method", &jsonschema.Schema{Const: m.Method})
	props.Set("tabId", &jsonschema.Schema{Type: "integer", Minimum: "0", Description: "The tab, on frames of a connection that carries many."})
	params := g.ref(m.Params)
	if len(m.Lists) > 0 {
		lists := jsonschema.NewProperties()
		for _, list := range m.Lists {
			lists.Set(list, &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "object"}})
		}
		params = &jsonschema.Schema{AllOf: []*jsonschema.Schema{params, {Properties: lists, Required: m.Lists[:1]}}}
	}
	props.Set("params", params)
	s := &jsonschema.Schema{Title: m.Method, Type: "object", Properties: props, Required: []string{"jsonrpc", "method"}}
	if !m.ToHub && !m.Notification {
		s.Required = append(s.Required, "id")
	}
	if len(m.Lists) > 0 || len(g.defs[reflect.TypeOf(m.Params).Elem().Name()].Required) > 0 {
		s.Required = append(s.Required, "params")
	}
	return s
}

// answer returns the schema of the answer to any message.
func answer() *jsonschema.Schema {
	props := jsonschema.NewProperties()
	props.Set("jsonrpc", &jsonschema.Schema{Const: "2.0"})
	props.Set("id", &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "integer"}}})
	props.Set("tabId", &jsonschema.Schema{Type: "integer", Minimum: "0"})
	props.Set("result", jsonschema.TrueSchema)
	props.Set("error", &jsonschema.Schema{Ref: "#/$defs/Error"})
	return &jsonschema.Schema{
		Title:      "answer",
		Type:       "object",
		Properties: props,
		Required:   []string{"jsonrpc", "id"},
		OneOf:      []*jsonschema.Schema{{Required: []string{"result"}}, {Required: []string{"error"}}},
		Not:        &jsonschema.Schema{Required: []string{"method"}},
	}
}
