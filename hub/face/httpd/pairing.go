package httpd

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
)

// The guard refuses extensions with these errors, so that the hub can tell its owner the reason.
var (
	// ErrOtherUser: a program of another user has connected without the token.
	ErrOtherUser = endpoint.Forbidden("this connection is another user's of this machine; it needs the hub's token")
	// ErrUnpaired: the companion extension has connected without a pairing handshake, as older versions
	// do.
	ErrUnpaired = unpaired("the extension is not paired with this hub, or is of an older version: run `tabhub extension DIR` again and reload it in chrome://extensions, or introduce it with `tabhub browser pair`")
)

func unpaired(text string) error { return spec.Errorf(spec.CodeUnpaired, "%s", text) }

// IsOwnUser reports whether a request was made on this machine by a program of the user who runs the
// hub, as far as the system tells. The program must still run.
func (g *Guard) IsOwnUser(r *http.Request) bool {
	p := passOf(r.Context())
	return p != nil && p.local && g.isOwners(r, p)
}

// PairingAddress is the address at which a pairing handshake has begun, from the hub's own knowledge:
// both sides prove that they mean the same address. Otherwise a program at another port of this machine
// could pass on the messages of both, and be taken for each by the other.
func (g *Guard) PairingAddress(r *http.Request) (string, error) {
	p := passOf(r.Context())
	switch {
	case p == nil:
		return "", ErrNoRequest
	case p.from&(fromCompanion|fromExtension) == 0:
		return "", unpaired("only a browser's extension is paired")
	}
	return g.addressOf(r), nil
}

// addressOf is the address of the socket that a request came over, or the name that the browser has
// used for it where a certificate of this hub, or of the proxy in front, proves that name. Without TLS a
// header proves nothing: another program of this machine may have the proxy's port by now, and pass on
// the messages.
func (g *Guard) addressOf(r *http.Request) string {
	host := strings.ToLower(r.Host)
	switch {
	case g.public != nil && g.public.Scheme == "https" && strings.EqualFold(g.public.Host, host) && !isLoopbackName(g.public.Hostname()):
		return "ws" + strings.TrimPrefix(originOf(g.public), "http")
	case r.TLS != nil || g.proxied && forwardedProto(r) == "https":
		return "wss://" + strings.TrimSuffix(host, ":443")
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if local == nil {
		return ""
	}
	at := local.AddrPort()
	return "ws://" + strings.TrimSuffix(netip.AddrPortFrom(at.Addr().Unmap(), at.Port()).String(), ":80")
}

// AdmitPaired is Admit for a browser that has proved its pairing, which is its only credential.
func (g *Guard) AdmitPaired(r *http.Request, proved pairing.Credential) (tabtransport.Admission, error) {
	p := passOf(r.Context())
	if p == nil {
		return tabtransport.Admission{}, ErrNoRequest
	}
	user := proved.User
	switch {
	case g.accounts && user == "":
		return tabtransport.Admission{}, unpaired("this hub has accounts, and the extension is paired with none: run `tabhub browser pair` with a token of yours")
	case !g.accounts && user != "":
		return tabtransport.Admission{}, unpaired("the extension is paired with an account, and this hub has none now: run `tabhub browser pair` again")
	case !g.accounts:
		user = spec.LocalUser
	}
	id := &auth.Identity{User: user, Kind: auth.KindBrowser, Principal: policy.Nobody, Expires: proved.Expires, Revoked: proved.Revoked}
	if err := cmp.Or(p.route.admits(id), p.checkUser(id)); err != nil {
		return tabtransport.Admission{}, err
	}
	a := p.admission(id)
	a.Attested, a.Pairing = true, proved.Pairing
	return a, nil
}
