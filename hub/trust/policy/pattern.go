package policy

import (
	"strings"

	"tabhub/naming"
	"tabhub/spec"
)

// sites is a compiled pattern of sites.
type sites struct {
	kind   siteKind
	domain spec.Domain // exactSite
	// Of belowSite, what SplitKey says of each domain that it stands for.
	marks, host, port string
}

type siteKind uint8

const (
	anySite siteKind = iota
	verifiedSite
	unverifiedSite
	privateSite // of Rule.From: one of Document.Private
	belowSite   // "*.example.com"
	exactSite
)

// parseSites reads a pattern that has been checked.
func parseSites(pattern string) sites {
	switch pattern {
	case "":
		return sites{}
	case "verified":
		return sites{kind: verifiedSite}
	case "unverified":
		return sites{kind: unverifiedSite}
	case "private":
		return sites{kind: privateSite}
	}
	marks, below, wild := strings.Cut(pattern, "*.")
	if !wild {
		return sites{kind: exactSite, domain: bare(spec.Domain(pattern))}
	}
	_, host, port := naming.SplitKey(bare(spec.Domain(below)))
	return sites{kind: belowSite, marks: marks, host: host, port: port}
}

// bare returns a domain without the dot behind its host, with which it leads to the same server.
func bare(d spec.Domain) spec.Domain {
	if host, port, ok := strings.Cut(string(d), ".:"); ok {
		return spec.Domain(host + ":" + port)
	}
	return spec.Domain(strings.TrimSuffix(string(d), "."))
}

// has reports whether the pattern stands for a domain. private says whether that is private.
func (s *sites) has(d spec.Domain, private bool) bool {
	switch s.kind {
	case anySite:
		return true
	case verifiedSite:
		return d != "" && !naming.IsClaimed(d)
	case unverifiedSite:
		return naming.IsClaimed(d)
	case privateSite:
		return private
	case exactSite:
		return bare(d) == s.domain
	}
	marks, host, port := naming.SplitKey(bare(d))
	if strings.TrimSuffix(marks, "host_") != s.marks || port != s.port {
		return false
	}
	sub, ok := strings.CutSuffix(host, s.host)
	return ok && (sub == "" || sub[len(sub)-1] == '.')
}

// rank is how much the pattern says.
func (s *sites) rank() uint16 {
	switch s.kind {
	case anySite:
		return 0
	case belowSite:
		return 2 + uint16(len(s.host))
	case exactSite:
		return 1 << 15
	}
	return 1
}

// Globs reports whether a pattern, in which "*" stands for any text, stands for name.
func Globs(pattern, name string) bool {
	head, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, head)
	if !ok {
		return false
	}
	for {
		part, after, wild := strings.Cut(rest, "*")
		if !wild {
			return strings.HasSuffix(name, part)
		}
		// The first place leaves most for what follows.
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], after
	}
}
