package relay

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/rogpeppe/go-internal/txtar"
)

// The transcripts are conversations as the protocols tell them, byte for byte. Each
// file of an archive is one. A line is one of
//
//	PEER open PATH
//	PEER > FRAME            the peer sends it
//	PEER < FRAME            the peer gets it, exactly; {{name}} stands for an id that
//	                        is learnt at its first use and the same from then on
//	PEER < closed CODE
//	PEER quiet DURATION     the peer gets nothing
//	PEER close              with a close frame;  PEER drop  without one
//	sleep DURATION
//	# comment
//
// Frames that tell numbers (status, connection_status) are overlooked unless the line
// is one.
func TestTranscripts(t *testing.T) { replay(t, func(*rig) {}) }

// Whichever node a peer has come to, it is served alike.
func TestSplicedTranscripts(t *testing.T) { replay(t, (*rig).spliced) }

func replay(t *testing.T, prepare func(*rig)) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+f.Name, func(t *testing.T) {
				bubble(t, Limits{}, func(t *testing.T, r *rig) {
					prepare(r)
					s := &script{t: t, rig: r, peers: map[string]*peer{}, ids: map[string]string{}}
					for i, line := range strings.Split(string(f.Data), "\n") {
						s.where = fmt.Sprintf("%s, line %d of %s", file, i+1, f.Name)
						s.run(strings.TrimSpace(line))
					}
				})
			})
		}
	}
}

type script struct {
	t     *testing.T
	rig   *rig
	peers map[string]*peer
	ids   map[string]string
	where string
}

func (s *script) run(line string) {
	s.t.Helper()
	if line == "" || line[0] == '#' {
		return
	}
	name, rest, _ := strings.Cut(line, " ")
	verb, arg, _ := strings.Cut(rest, " ")
	if name == "sleep" {
		time.Sleep(s.duration(rest))
		return
	}
	if verb == "open" {
		s.peers[name] = s.rig.open(s.t, name, arg)
		return
	}
	p := s.peers[name]
	if p == nil {
		s.t.Fatalf("%s: who is %s?", s.where, name)
	}
	switch verb {
	case ">":
		p.send(placeholder.ReplaceAllStringFunc(arg, func(v string) string { return s.ids[v] }))
	case "<":
		s.match(p, arg)
	case "quiet":
		p.quiet(s.duration(arg))
	case "close":
		p.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Second))
		p.ws.Close()
	case "drop":
		p.ws.NetConn().Close()
	default:
		s.t.Fatalf("%s: what is %q?", s.where, verb)
	}
}

var placeholder = regexp.MustCompile(`\{\{\w+\}\}`)

func (s *script) match(p *peer, want string) {
	s.t.Helper()
	got := p.nextOf(isStatus(want))
	var names []string
	pattern := ""
	for {
		at := placeholder.FindStringIndex(want)
		if at == nil {
			pattern += regexp.QuoteMeta(want)
			break
		}
		v := want[at[0]:at[1]]
		pattern += regexp.QuoteMeta(want[:at[0]])
		want = want[at[1]:]
		if id, known := s.ids[v]; known {
			pattern += regexp.QuoteMeta(id)
			continue
		}
		pattern += `([^":\\]+)`
		if strings.HasPrefix(v, "{{time") {
			pattern = strings.TrimSuffix(pattern, `([^":\\]+)`) + `(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4})`
		}
		names = append(names, v)
	}
	m := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(got)
	if m == nil {
		s.t.Fatalf("%s: %s got\n %s\nwhich is not\n ^%s$", s.where, p.name, got, pattern)
	}
	for i, v := range names {
		s.ids[v] = m[i+1]
	}
}

func (s *script) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatalf("%s: %v", s.where, err)
	}
	return d
}
