package streamlog_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/storage"
	"tabhub/storage/jetstream/natstest"
)

// Lines that somebody has put into a record who has not the cluster's secret, or has copied, are
// told as damage, and taken for none. Other records go on.
func TestForgery(t *testing.T) {
	for name, forge := range map[string]func(m *nats.Msg){
		"replay":    func(*nats.Msg) {},
		"forged":    func(m *nats.Msg) { m.Data = []byte("evil") },
		"truncated": func(m *nats.Msg) { m.Data = m.Data[:1] },
		"epoch":     func(m *nats.Msg) { m.Header.Set("Tabhub-Epoch", "99") },
		"piece":     func(m *nats.Msg) { m.Header.Del("Tabhub-Piece") },
		"unsigned":  func(m *nats.Msg) { m.Header.Del("Tabhub-MAC") },
	} {
		t.Run(name, func(t *testing.T) {
			servers := natstest.Start(t, 1)
			logs := openLogs(t, servers, options)
			js, err := jetstream.New(servers.Conn(t))
			if err != nil {
				t.Fatal(err)
			}
			s, err := js.Stream(t.Context(), options.Stream)
			if err != nil {
				t.Fatal(err)
			}
			l := openLog(logs, "ann", 1)
			begin(t, l)
			add(t, l, 1, "first")
			add(t, l, 2, "second")
			got, err := s.GetMsg(t.Context(), 2)
			if err != nil {
				t.Fatal(err)
			}
			m := nats.NewMsg(got.Subject)
			m.Data = got.Data
			for _, h := range []string{"Tabhub-User", "Tabhub-Epoch", "Tabhub-Index", "Tabhub-Piece", "Tabhub-Bytes", "Tabhub-MAC", jetstream.ExpectedStreamHeader} {
				m.Header.Set(h, got.Header.Get(h))
			}
			forge(m)
			if _, err := js.PublishMsg(t.Context(), m, jetstream.WithExpectLastSequencePerSubject(2)); err != nil {
				t.Fatal(err)
			}
			corrupt := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, storage.ErrCorrupt) {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err = l.Append(t.Context(), storage.Batch{Index: 3, Data: []byte("third")})
			corrupt("append", err)
			_, _, _, err = openLog(logs, "ann", 1).Begin(t.Context())
			corrupt("begin", err)
			yields := 0
			for _, err := range l.Pieces(t.Context()) {
				corrupt("pieces", err)
				yields++
			}
			if yields != 1 {
				t.Errorf("%d pieces and errors", yields)
			}
			corrupt("read", l.Read(t.Context(), storage.Piece{Start: 1, End: 3}, func(data []byte) error {
				if !slices.Contains([]string{"first", "second"}, string(data)) {
					t.Errorf("read %q", data)
				}
				return nil
			}))
			bob := openLog(logs, "bob", 1)
			begin(t, bob)
			add(t, bob, 1, "of bob")
			// Beside it, too.
			m.Subject += ".beside"
			m.Header.Del(jetstream.ExpectedLastSubjSeqHeader)
			if _, err := js.PublishMsg(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			corrupt("beside", l.ReadBeside(t.Context(), storage.Piece{Start: 1, End: 3}, nil))
		})
	}
}
