package anypage

import (
	"encoding/json"
	"fmt"

	"tabhub/hub/offer/pack"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Steps reads the steps of a client: those of packs and further ones, each target an object or a text, and some
// with a short form:
//
//	{"click": "button \"Order\""}            hover and look, too
//	{"fill": {"field \"Name\"": "Ann"}}
//	{"press": "Enter"}
//	{"open": "/cart"}
//	{"wait": "dialog"}
//	{"scroll": 2}                            pages, or a target
//	{"upload": {"target": "kfa3", "files": ["cv.pdf"]}}
//	{"read": {"fields": {"total": "cell #2 in row \"Total\""}}}
//
// The files of uploads have their names alone. The error names the place.
func Steps(raw json.RawMessage) ([]spec.Step, error) {
	out := []byte{'['}
	i := 0
	for step := range rawjson.Elements(raw) {
		long, err := longStep(step)
		if err != nil {
			return nil, fmt.Errorf("steps[%d]: %w", i, err)
		}
		if i++; i > 1 {
			out = append(out, ',')
		}
		out = append(out, long...)
	}
	return pack.OwnSteps(append(out, ']'))
}

// longStep returns a step without short forms.
func longStep(step json.RawMessage) (json.RawMessage, error) {
	if step[0] != '{' {
		return nil, fmt.Errorf(`must be an object with a verb, such as {"click": "button \"Order\""}`)
	}
	out := []byte{'{'}
	for verb, v := range rawjson.Members(step) {
		switch verb {
		case "click", "hover":
			v = short(v, "target")
		case "press":
			v = short(v, "key")
		case "open":
			v = short(v, "path")
		case "wait":
			v = short(v, "for")
		case "look":
			v = short(v, "target")
		case "scroll":
			if v = short(v, "target"); v[0] == '-' || v[0] >= '0' && v[0] <= '9' {
				v = object("pages", v)
			}
		case "fill":
			var err error
			if v, err = longFill(v); err != nil {
				return nil, err
			}
		case "upload":
			v = longUpload(v)
		case "read":
			v = longRead(v)
		}
		v, err := targets(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", verb, err)
		}
		out = rawjson.AppendMember(out, verb, v)
	}
	return append(out, '}'), nil
}

// short makes an object of a text: its member of a name.
func short(v json.RawMessage, name string) json.RawMessage {
	if v[0] == '"' {
		return object(name, v)
	}
	return v
}

func object(name string, v json.RawMessage) json.RawMessage {
	return append(rawjson.AppendMember([]byte{'{'}, name, v), '}')
}

// longFill makes fields of an object whose keys are targets.
func longFill(v json.RawMessage) (json.RawMessage, error) {
	if v[0] != '{' || rawjson.Get(v, "fields") != nil || rawjson.Get(v, "target") != nil {
		if target := rawjson.Get(v, "target"); target != nil { // of one field
			field := rawjson.AppendMember([]byte{'{'}, "target", target)
			if value := rawjson.Get(v, "value"); value != nil {
				field = rawjson.AppendMember(field, "value", value)
			}
			return object("fields", append(append([]byte{'['}, append(field, '}')...), ']')), nil
		}
		return v, nil
	}
	out := []byte{'['}
	for key, value := range rawjson.Members(v) {
		t, err := ParseTarget(key)
		if err != nil {
			return nil, fmt.Errorf("fill: %w", err)
		}
		target, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendMember(rawjson.AppendMember(append(out, '{'), "target", target), "value", value), '}')
	}
	return object("fields", append(out, ']')), nil
}

// longRead makes objects of the texts that are targets of a table and of fields.
func longRead(v json.RawMessage) json.RawMessage {
	if v[0] != '{' {
		return v
	}
	out := []byte{'{'}
	for key, value := range rawjson.Members(v) {
		switch {
		case key == "table":
			value = short(value, "target")
		case key == "fields" && value[0] == '{':
			fields := []byte{'{'}
			for name, field := range rawjson.Members(value) {
				fields = rawjson.AppendMember(fields, name, short(field, "target"))
			}
			value = append(fields, '}')
		}
		out = rawjson.AppendMember(out, key, value)
	}
	return append(out, '}')
}

// longUpload makes files of their names.
func longUpload(v json.RawMessage) json.RawMessage {
	files := rawjson.Get(v, "files")
	if v[0] != '{' || len(files) == 0 || files[0] != '[' {
		return v
	}
	list := []byte{'['}
	for f := range rawjson.Elements(files) {
		if len(list) > 1 {
			list = append(list, ',')
		}
		if f[0] == '"' {
			f = append(rawjson.AppendMember(rawjson.AppendMember([]byte{'{'}, "name", f), "data", json.RawMessage(`""`)), '}')
		}
		list = append(list, f...)
	}
	out := []byte{'{'}
	for key, value := range rawjson.Members(v) {
		if key == "files" {
			value = append(list, ']')
		}
		out = rawjson.AppendMember(out, key, value)
	}
	return append(out, '}')
}

// isTarget are the members that are targets.
var isTarget = map[string]bool{"target": true, "to": true, "in": true, "for": true, "gone": true, "list": true}

// targets returns the value of a verb with each target that is a text as an object.
func targets(v json.RawMessage) (json.RawMessage, error) {
	switch v[0] {
	case '[':
		out := []byte{'['}
		for e := range rawjson.Elements(v) {
			e, err := targets(e)
			if err != nil {
				return nil, err
			}
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, e...)
		}
		return append(out, ']'), nil
	case '{':
		out := []byte{'{'}
		for key, value := range rawjson.Members(v) {
			var err error
			if text, isText := rawjson.String(value); isText && isTarget[key] {
				var t spec.Target
				if t, err = ParseTarget(text); err == nil {
					value, err = json.Marshal(t)
				}
			} else if key != "value" && key != "json" && key != "form" && key != "query" {
				value, err = targets(value)
			}
			if err != nil {
				return nil, err
			}
			out = rawjson.AppendMember(out, key, value)
		}
		return append(out, '}'), nil
	}
	return v, nil
}

// eachTarget calls f with each target of steps, and whether it is clicked or gets a key.
func eachTarget(steps []spec.Step, f func(t *spec.Target, leads bool)) {
	visit := func(t *spec.Target, leads bool) {
		for ; t != nil && *t != (spec.Target{}); t = t.In {
			f(t, leads)
			leads = false
		}
	}
	for i := range steps {
		switch s := &steps[i]; {
		case s.Click != nil:
			visit(&s.Click.Target, true)
		case s.Press != nil:
			visit(&s.Press.Target, true)
		case s.Hover != nil:
			visit(&s.Hover.Target, false)
		case s.Select != nil:
			visit(&s.Select.Target, false)
		case s.Scroll != nil:
			visit(s.Scroll.Target, false)
		case s.Drag != nil:
			visit(&s.Drag.Target, false)
			visit(&s.Drag.To, false)
		case s.Upload != nil:
			visit(&s.Upload.Target, false)
		case s.Look != nil:
			visit(s.Look.Target, false)
		case s.Fill != nil:
			for j := range s.Fill.Fields {
				visit(&s.Fill.Fields[j].Target, false)
			}
		case s.Wait != nil:
			visit(s.Wait.For, false)
			visit(s.Wait.Gone, false)
		case s.Read != nil:
			visit(s.Read.List, false)
			if s.Read.Table != nil {
				visit(&s.Read.Table.Target, false)
			}
			for _, field := range s.Read.Fields {
				visit(field.Target, false)
			}
		}
	}
}
