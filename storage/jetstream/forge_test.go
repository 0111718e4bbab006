package jetstream

import (
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/jetstream/natstest"
)

// intruder is somebody who may do in NATS what a node may, and has not the secret.
type intruder struct {
	t      *testing.T
	url    string
	js     jetstream.JetStream
	stream jetstream.Stream
}

func newIntruder(t *testing.T, c *natstest.Cluster) *intruder {
	i := &intruder{t: t, url: c.URL(0), js: jetStream(t, c.Conn(t))}
	var err error
	i.stream, err = i.js.Stream(t.Context(), streamName)
	must(t, err)
	return i
}

// journal returns what NATS keeps of a user.
func (i *intruder) journal(user spec.UserID) (all []*jetstream.RawStreamMsg) {
	i.t.Helper()
	for seq := uint64(1); ; seq++ {
		m, err := i.stream.GetMsg(i.t.Context(), seq, jetstream.WithGetMsgSubject(subject(user)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return all
		}
		must(i.t, err)
		for name := range m.Header { // what the server has added to the answer
			if name != nats.ExpectedLastSubjSeqHdr && strings.HasPrefix(name, "Nats-") {
				delete(m.Header, name)
			}
		}
		all, seq = append(all, m), m.Sequence
	}
}

// last returns the sequence of the last message, which is of the user that was written last.
func (i *intruder) last() uint64 {
	i.t.Helper()
	info, err := i.stream.Info(i.t.Context())
	must(i.t, err)
	return info.State.LastSeq
}

// copy publishes a message of a journal behind the last one of a user, with other headers, in pairs.
func (i *intruder) copy(of *jetstream.RawStreamMsg, user spec.UserID, data []byte, headers ...string) {
	i.t.Helper()
	m := nats.NewMsg(subject(user))
	m.Data = data
	for k, v := range of.Header {
		m.Header[k] = slices.Clone(v)
	}
	m.Header.Set(nats.ExpectedLastSubjSeqHdr, fmt.Sprint(i.last()))
	for j := 0; j < len(headers); j += 2 {
		m.Header.Set(headers[j], headers[j+1])
	}
	_, err := i.js.PublishMsg(i.t.Context(), m)
	must(i.t, err)
}

// smuggle publishes a message with headers of which the server sees the last ones alone, or none:
// it ends a line at CR LF, clients do at LF.
func (i *intruder) smuggle(of *jetstream.RawStreamMsg, user spec.UserID, more string) {
	i.t.Helper()
	u, err := url.Parse(i.url)
	must(i.t, err)
	conn, err := net.Dial("tcp", u.Host)
	must(i.t, err)
	defer conn.Close()
	must(i.t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	c := textproto.NewConn(conn)
	_, err = c.ReadLine() // INFO
	must(i.t, err)
	h := "NATS/1.0\r\nX: y"
	for name, values := range of.Header {
		h += "\n" + name + ": " + values[0]
	}
	h += "\r\n" + more + "\r\n"
	_, err = fmt.Fprintf(conn, "CONNECT {\"verbose\":false,\"headers\":true,\"protocol\":1}\r\nHPUB %s %d %d\r\n%s%s\r\nPING\r\n",
		subject(user), len(h), len(h)+len(of.Data), h, of.Data)
	must(i.t, err)
	for line := ""; line != "PONG"; {
		line, err = c.ReadLine()
		must(i.t, err)
		if strings.HasPrefix(line, "-ERR") {
			i.t.Fatal(line)
		}
	}
}

// hidden has a reader take a copy for what stands where the message does: what the server says
// follows a blank line.
func hidden(of *jetstream.RawStreamMsg) string {
	return fmt.Sprintf("Nats-Sequence: %d\n\nX: y\r\n", of.Sequence)
}

// purge deletes what is before a sequence.
func (i *intruder) purge(user spec.UserID, before uint64) {
	i.t.Helper()
	must(i.t, i.stream.Purge(i.t.Context(), jetstream.WithPurgeSubject(subject(user)), jetstream.WithPurgeSequence(before)))
}

// Who may write to NATS and has not the secret cannot make a policy or a token come back that
// was replaced, nor anything else: the journal is damaged then, and says so. Others are not affected.
func TestForgery(t *testing.T) {
	c := natstest.Start(t, 1)
	nc := c.Conn(t)
	a := open(t, nc, 1, "a/1")
	deny := func(user spec.UserID, epoch spec.Epoch, body string) {
		t.Helper()
		must(t, write(a, user, epoch, storage.Settings{Name: "policy", Body: []byte(body)}))
	}
	deny("other", load(t, a, "other").Epoch, `"none"`)
	// The journals are: 0 a claim, 1 a policy, 2 and 3 a snapshot with it, 4 another policy.
	const claim, snapshot, newest = 0, 2, 4
	for name, forge := range map[string]func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg){
		"replay": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) { i.copy(old[1], user, old[1].Data) },
		"snapshot": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {

			i.copy(old[snapshot], user, old[snapshot].Data)
			i.copy(old[snapshot+1], user, old[snapshot+1].Data)

		},
		"new id": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			i.copy(old[1], user, old[1].Data, headerID, "99.99")
		},
		"forged": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			i.copy(old[newest], user, old[1].Data)
		},
		"no signature": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			i.copy(&jetstream.RawStreamMsg{}, user, old[1].Data, part(kindFlush, spec.Epoch(old[claim].Sequence), 0, 1)...)
		},
		"truncated": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			i.copy(old[newest], user, old[newest].Data[:1])
		},
		"kind": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			i.copy(old[1], user, old[1].Data, headerKind, kindSnapshot)
		},
		"node": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			i.copy(old[newest], user, nil, headerNode, "evil/1")
		},
		"release": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			i.copy(old[claim], user, nil, headerKind, kindRelease, headerEpoch, "1")
		},
		"claim": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) { i.copy(old[claim], user, nil) },
		"status": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			i.copy(old[newest], user, nil, "Status", "404")
		},
		"sequence": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			i.copy(old[newest], user, nil, "Nats-Sequence", "1")
		},
		"of another": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			other := i.journal("other")
			i.copy(other[1], user, other[1].Data)
		},
		"smuggled": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) { i.smuggle(old[1], user, "") },
		"smuggled snapshot": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			i.smuggle(old[snapshot], user, hidden(old[snapshot]))
			i.smuggle(old[snapshot+1], user, "")
		},
		"smuggled snapshot alone": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			i.smuggle(old[snapshot], user, hidden(old[snapshot]))
			i.smuggle(old[snapshot+1], user, "")
			i.purge(user, i.last()-1)
		},
		"smuggled journal": func(i *intruder, user spec.UserID, old []*jetstream.RawStreamMsg) {
			i.purge(user, 1<<40)
			i.smuggle(old[claim], user, hidden(old[claim]))
			i.smuggle(old[1], user, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			user := spec.UserID(name)
			epoch := load(t, a, user).Epoch
			deny(user, epoch, `"none"`)
			j := drained(a, user)
			var f fold
			must(t, a.read(t.Context(), subject(user), j.seq, f.add))
			_, err := a.writeParts(j, kindSnapshot, f.snapshot())
			must(t, err)
			deny(user, epoch, `"all"`)
			i := newIntruder(t, c)
			forge(i, user, i.journal(user))
			b := open(t, c.Conn(t), 1, "b/1")
			state, err := b.Load(t.Context(), user, time.Time{})
			if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), fmt.Sprintf("%q", user)) {
				t.Fatalf("got %v, %+v", err, state)
			}
			t.Log(err)
			if err := write(a, user, epoch, storage.Name{Public: "n"}); err == nil {
				t.Error("something was written behind it")
			}
			load(t, b, "other than "+user)
		})
	}
}
