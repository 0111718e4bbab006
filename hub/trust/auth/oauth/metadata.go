package oauth

import "strings"

// The paths of the endpoints, below the hub's address.
const (
	AuthorizePath = "/oauth/authorize"
	TokenPath     = "/oauth/token"
	RegisterPath  = "/oauth/register"
	RevokePath    = "/oauth/revoke"
)

// scope is the only one. What a client may do the owner says.
const scope = "mcp"

// ResourceMetadata describes an endpoint of the hub as a protected resource (RFC 9728).
type ResourceMetadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Scopes               []string `json:"scopes_supported,omitempty"`
	Name                 string   `json:"resource_name"`
}

// ResourceAt returns the metadata of the endpoint at a path ("" for the hub as a whole) of
// the hub at base, and whether clients come there. issuer is whose tokens the hub takes, ""
// for those of its own Server.
func ResourceAt(base, path, issuer string) (ResourceMetadata, bool) {
	m := ResourceMetadata{Resource: base + path, BearerMethods: []string{"header"}, Name: "tabhub"}
	if issuer != "" {
		m.AuthorizationServers = []string{issuer}
	} else {
		m.AuthorizationServers, m.Scopes = []string{base}, []string{scope}
	}
	return m, isResource(path)
}

// isResource reports whether clients come to a path.
func isResource(path string) bool { return path == "" || path == "/mcp" || path == "/sse" }

// ServerMetadata describes a Server (RFC 8414).
type ServerMetadata struct {
	Issuer           string   `json:"issuer"`
	Authorize        string   `json:"authorization_endpoint"`
	Token            string   `json:"token_endpoint"`
	Register         string   `json:"registration_endpoint"`
	Revoke           string   `json:"revocation_endpoint"`
	Scopes           []string `json:"scopes_supported"`
	ResponseTypes    []string `json:"response_types_supported"`
	ResponseModes    []string `json:"response_modes_supported"`
	GrantTypes       []string `json:"grant_types_supported"`
	AuthMethods      []string `json:"token_endpoint_auth_methods_supported"`
	RevokeMethods    []string `json:"revocation_endpoint_auth_methods_supported"`
	ChallengeMethods []string `json:"code_challenge_methods_supported"`
	Issues           bool     `json:"authorization_response_iss_parameter_supported"`
	Documents        bool     `json:"client_id_metadata_document_supported"`
}

// ServerAt returns the metadata of the Server of the hub at base, which is its issuer.
func ServerAt(base string) ServerMetadata {
	return ServerMetadata{
		Issuer:           base,
		Authorize:        base + AuthorizePath,
		Token:            base + TokenPath,
		Register:         base + RegisterPath,
		Revoke:           base + RevokePath,
		Scopes:           []string{scope},
		ResponseTypes:    responseTypes,
		ResponseModes:    []string{"query"},
		GrantTypes:       grantTypes,
		AuthMethods:      []string{noAuth},
		RevokeMethods:    []string{noAuth},
		ChallengeMethods: []string{s256},
		Issues:           true,
		Documents:        true,
	}
}

const (
	noAuth = "none" // clients have no secret
	s256   = "S256"

	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
)

var (
	responseTypes = []string{"code"}
	grantTypes    = []string{grantCode, grantRefresh}
)

// checkResource returns what a client means by a resource (RFC 8707): the hub at base. A
// token is for the whole hub, whichever of its endpoints the client has named.
func checkResource(base, resource string) error {
	path, ok := strings.CutPrefix(resource, base)
	if !ok || !isResource(strings.TrimSuffix(path, "/")) {
		return errorf(invalidTarget, "the resource %.200q is not of this hub, which is %s/mcp here", resource, base)
	}
	return nil
}
