package auth

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"tabhub/spec"
	"tabhub/storage/private"
)

// minSecret is the shortest secret that HS256 is safe with (RFC 7518, section 3.2).
const minSecret = 32

// DefaultLife is how long a minted token is valid by default.
const DefaultLife = 30 * 24 * time.Hour

// Claims are the claims of a minted token.
type Claims struct {
	User          spec.UserID
	ConnectionURL string        // the endpoint it is for; "" for any
	Email         string        // shown by clients; may be ""
	Issuer        string        // iss; may be ""
	Audiences     []string      // aud; may be empty
	Life          time.Duration // 0 means DefaultLife
}

// Mint makes an HS256 token with the claims of the MCP Proxy Protocol.
func Mint(secret []byte, c Claims) (string, error) {
	if err := checkSecret(secret); err != nil {
		return "", err
	}
	if err := CheckUser(c.User); err != nil {
		return "", fmt.Errorf("auth: the user id %q cannot be used: %w", c.User, err)
	}
	if c.Life == 0 {
		c.Life = DefaultLife
	}
	if c.Life < 0 {
		return "", errors.New("auth: a token must be valid for longer than no time")
	}
	now := time.Now()
	claims := jwt.MapClaims{
		"user_id":    string(c.User),
		"session_id": rand.Text(),
		"iat":        now.Unix(),
		"exp":        now.Add(c.Life).Unix(),
	}
	if c.ConnectionURL != "" {
		if _, err := parseEndpoint(c.ConnectionURL); err != nil {
			return "", fmt.Errorf("auth: connection URL: %w", err)
		}
		claims["connection_url"] = c.ConnectionURL
	}
	if c.Email != "" {
		claims["email"] = c.Email
	}
	if c.Issuer != "" {
		claims["iss"] = c.Issuer
	}
	if len(c.Audiences) > 0 {
		claims["aud"] = c.Audiences
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(secret)
}

// ReadSecret reads an HS256 secret from a file; space around it does not count. With the secret one can
// be any user, so a file that others may read is refused.
func ReadSecret(path string) ([]byte, error) {
	b, err := private.ReadSecret(path)
	if err != nil {
		return nil, fmt.Errorf("auth: read the token secret: %w", err)
	}
	b = bytes.TrimSpace(b)
	if err := checkSecret(b); err != nil {
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	return b, nil
}

func checkSecret(secret []byte) error {
	if len(secret) < minSecret {
		return fmt.Errorf("auth: the token secret has %d bytes, it needs at least %d: make one with `openssl rand -hex 32`", len(secret), minSecret)
	}
	return nil
}
