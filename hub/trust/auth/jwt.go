package auth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Leeway is how far the clocks of issuer and hub may differ.
const Leeway = 30 * time.Second

// MaxToken bounds the length of a token that is looked at, in bytes.
const MaxToken = 8 << 10

// Options configure a JWT. Either Secret or JWKS must be given.
type Options struct {
	// Secret is the key of HS256 tokens; see ReadSecret. Those of a key set are signed
	// with RS256, ES256 or EdDSA.
	Secret []byte
	// JWKS is a JSON Web Key Set: a file, or its https address (http on loopback only). It
	// is fetched again every hour, and when a token names a key that is not in it.
	JWKS string
	// Issuer is the iss that tokens must have, and Audiences are the aud of which they
	// must have one. A key set needs both: its issuer signs tokens for other services
	// with the same keys. With a Secret, which is this hub's own, "" and nil take any.
	Issuer    string
	Audiences []string
	// Endpoints are the base URLs under which this hub is reached. A token that has
	// a connection_url must name one of them.
	Endpoints []string

	Client *http.Client // fetches JWKS; nil means one with a timeout of 10 s
	Log    *slog.Logger // nil discards
}

// JWT is the Verifier of a hub with accounts. Its methods are safe for concurrent use.
type JWT struct {
	parser    *jwt.Parser
	keys      func(*jwt.Token) (any, error)
	algs      []string
	endpoints []endpoint
}

// NewJWT returns a verifier. That a key set cannot be fetched is logged; it is tried again
// when a token comes.
func NewJWT(o Options) (*JWT, error) {
	v := &JWT{}
	for _, u := range o.Endpoints {
		e, err := parseEndpoint(u)
		if err != nil {
			return nil, fmt.Errorf("auth: endpoint: %w", err)
		}
		v.endpoints = append(v.endpoints, e)
	}
	if (len(o.Secret) > 0) == (o.JWKS != "") {
		return nil, errors.New("auth: give either a secret file or a JWKS URL")
	}
	if len(o.Secret) > 0 {
		if err := checkSecret(o.Secret); err != nil {
			return nil, err
		}
		secret := slices.Clone(o.Secret)
		v.keys = func(*jwt.Token) (any, error) { return secret, nil }
		v.algs = []string{jwt.SigningMethodHS256.Alg()}
	} else {
		if o.Issuer == "" || len(o.Audiences) == 0 {
			return nil, errors.New("auth: a key set needs the issuer and the audience of the tokens that are for this hub")
		}
		set, err := newKeySet(o)
		if err != nil {
			return nil, err
		}
		v.keys = set.key
		v.algs = []string{"RS256", "ES256", "EdDSA"} // never HS256: public keys would be secrets
	}
	if slices.Contains(o.Audiences, "") {
		return nil, errors.New("auth: an audience is empty")
	}
	rules := []jwt.ParserOption{
		jwt.WithValidMethods(v.algs),
		jwt.WithLeeway(Leeway),
		jwt.WithExpirationRequired(),
		jwt.WithStrictDecoding(),
	}
	if o.Issuer != "" {
		rules = append(rules, jwt.WithIssuer(o.Issuer))
	}
	if len(o.Audiences) > 0 {
		rules = append(rules, jwt.WithAudience(o.Audiences...))
	}
	v.parser = jwt.NewParser(rules...)
	return v, nil
}

// Verify checks a token. Its errors are sentences for the bearer and never hold any
// part of the token. It may block for a fetch of the key set.
func (v *JWT) Verify(token string) (Identity, error) {
	if token == "" {
		return Identity{}, errors.New("a token is required: pass the one that this hub or its sign-in page gave you")
	}
	if len(token) > MaxToken {
		return Identity{}, errors.New("the token is too long to be one of this hub's")
	}
	// Map claims, unlike a struct, match claim names exactly and not by case.
	claims := jwt.MapClaims{}
	if _, err := v.parser.ParseWithClaims(token, claims, v.keyOf); err != nil {
		return Identity{}, v.explain(err, claims)
	}
	user, _ := claims["user_id"].(string)
	if err := CheckUser(spec.UserID(user)); err != nil {
		return Identity{}, fmt.Errorf("the token's user_id cannot be used: %w", err)
	}
	exp, err := claims.GetExpirationTime()
	if err != nil || exp == nil {
		return Identity{}, errors.New("the token has no usable expiry (exp)")
	}
	id := Identity{User: spec.UserID(user), Kind: KindOwner, Principal: policy.Token, Expires: exp.Add(Leeway)}
	if raw, ok := claims["connection_url"]; ok {
		s, isString := raw.(string)
		if !isString || !v.names(s) {
			return Identity{}, errors.New("the token was made for another endpoint: its connection_url is not an address of this hub (the setting public-url)")
		}
	}
	return id, nil
}

var errExtension = errors.New("the token's header has an extension")

// keyOf returns the key of a token. It refuses extensions before anything is fetched for them: the
// hub understands none, so each crit is one that must be refused (RFC 7515, section 4.1.11), and an
// empty or malformed one, too. b64 changes what is signed, and has no place in a JWT (RFC 7797,
// section 7).
func (v *JWT) keyOf(t *jwt.Token) (any, error) {
	for _, name := range []string{"crit", "b64"} {
		if _, there := t.Header[name]; there {
			return nil, errExtension
		}
	}
	return v.keys(t)
}

// explain says in a sentence what was wrong with a token.
func (v *JWT) explain(err error, claims jwt.MapClaims) error {
	switch {
	case errors.Is(err, errKeysUnavailable):
		return fmt.Errorf("%w: the hub has no keys of the issuer; try again later", ErrUnchecked)
	case errors.Is(err, errExtension):
		return errors.New("the token's header demands an extension (crit or b64), and this hub supports none: have the issuer sign tokens without one")
	case errors.Is(err, jwt.ErrTokenMalformed):
		return errors.New("the token is not a JSON Web Token: copy it again, whole")
	case errors.Is(err, jwt.ErrTokenSignatureInvalid), errors.Is(err, jwt.ErrTokenUnverifiable):
		return fmt.Errorf("the token's signature is not valid here: it must be signed with %s by this hub's issuer", strings.Join(v.algs, " or "))
	case errors.Is(err, jwt.ErrTokenExpired):
		return errors.New("the token has expired: sign in again or have a new one minted")
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return errors.New("the token is not valid yet (nbf): check the clocks of issuer and hub")
	case errors.Is(err, jwt.ErrTokenInvalidIssuer):
		return errors.New("the token is of another issuer (iss) than this hub's (the setting jwt-issuer)")
	case errors.Is(err, jwt.ErrTokenInvalidAudience):
		return errors.New("the token was made for another service: its audience (aud) is none of this hub's (the setting jwt-audience)")
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing) && claims["exp"] == nil:
		return errors.New("the token has no expiry (exp), which is required")
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return errors.New("the token does not name its issuer (iss) or its audience (aud), which this hub requires")
	default:
		return errors.New("the token's claims are not valid")
	}
}

// CheckUser reports whether u can be a user id: 1 to 128 of the characters
// A-Z a-z 0-9 . _ - @ | : + and not the name that a hub without accounts uses.
func CheckUser(u spec.UserID) error {
	switch {
	case u == "":
		return errors.New("it is missing or not a string")
	case len(u) > 128:
		return errors.New("it is longer than 128 characters")
	case u == spec.LocalUser:
		return fmt.Errorf("%q is reserved for hubs without accounts", spec.LocalUser)
	}
	for i := range len(u) {
		c := u[i]
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && strings.IndexByte("._-@|:+", c) < 0 {
			return errors.New("it may hold only letters, digits and . _ - @ | : +")
		}
	}
	return nil
}
