package pages

import (
	"encoding/json"
	"net/url"

	"tabhub/spec"
)

// pageOrigin is the member of a hello's extensions in which the widget tells the
// origin of the page around it.
const pageOrigin = "tabhub/pageOrigin"

// WidgetOrigin returns the origin, as browsers write it, of the page whose widget
// sent hello, "" if the hello is none of a widget. It may be believed only if the
// socket's Origin header is the hub's own origin, and then stands in its place; see
// the package documentation.
func WidgetOrigin(hello *spec.Hello) string {
	if hello == nil {
		return ""
	}
	var origin string
	if json.Unmarshal(hello.Extensions[pageOrigin], &origin) != nil {
		return ""
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Scheme+"://"+u.Host != origin {
		return ""
	}
	return origin
}
