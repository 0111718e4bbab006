package httpd

import (
	"net/http"
	"slices"
	"strings"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
)

// BrowserHeader is the header in which a client, or its bridge, names the only browsers that it uses, by
// the names that their owner has given them, separated by commas. The parameter browser of an address
// means the same. /attach repeats it in its answer, so that a bridge knows that the hub has understood
// it.
const BrowserHeader = "Tabhub-Browser"

// boundIdentity returns the caller, bound to the browsers that the request names.
func boundIdentity(r *endpoint.Request) (*auth.Identity, error) {
	names, err := BoundOf(r.Request)
	if err != nil || names == nil {
		return r.Identity, err
	}
	id := *r.Identity
	id.Bound = names
	return &id, nil
}

// BoundOf returns the names of the browsers to which a request is bound: those that its header and its
// address have in common; nil if neither names any.
func BoundOf(r *http.Request) (names []string, err error) {
	for _, said := range [][]string{r.Header.Values(BrowserHeader), r.URL.Query()["browser"]} {
		if said == nil {
			continue
		}
		list := strings.Split(strings.Join(said, ","), ",")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		if err := policy.CheckBrowsers(list); err != nil {
			return nil, &endpoint.Error{Status: http.StatusBadRequest, Text: err.Error() + "; `tabhub browser` lists them"}
		}
		slices.Sort(list)
		list = slices.Compact(list)
		if names != nil {
			list = slices.DeleteFunc(list, func(name string) bool { return !slices.Contains(names, name) })
		}
		names = list
	}
	return names, nil
}
