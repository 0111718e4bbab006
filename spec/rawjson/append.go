package rawjson

// Append appends the JSON of a value to dst.
func Append(dst []byte, v *Value) []byte {
	switch v.Kind {
	case KindString:
		return AppendString(dst, v.Text)
	case KindArray:
		dst = append(dst, '[')
		for i := range v.Elements {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = Append(dst, &v.Elements[i])
		}
		return append(dst, ']')
	case KindObject:
		dst = append(dst, '{')
		for i := range v.Members {
			dst = Append(AppendKey(dst, v.Members[i].Name), &v.Members[i].Value)
		}
		return append(dst, '}')
	}
	return append(dst, v.Text...)
}
