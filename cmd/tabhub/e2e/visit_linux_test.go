package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/wsserver/wstest"
)

// visit is one attempt to get in by a WebSocket, of a program that claims what it likes.
type visit struct {
	URL          string
	Origin       string
	Subprotocols []string
	// Frames are sent one after the other, each when the one before was answered.
	Frames []string
	// Stay stays until the hub closes the connection, or says this.
	Stay string
}

// outcome is what comes of a visit.
type outcome struct {
	Err     string // if nothing has answered
	Status  int    // of the upgrade
	Frames  []string
	Code    spec.CloseCode // with which the hub has closed the connection
	Welcome bool           // the hub has said what the visit has stayed for
}

// refused reports whether the visitor was turned away. Whoever begins a handshake is
// answered: the hub's proof is worth nothing to others.
func (o outcome) refused() bool {
	taken := func(frame string) bool {
		a := answerOf([]byte(frame))
		return a.result != nil && rawjson.Get(a.result, "proof") == nil
	}
	if o.Err != "" || o.Welcome || slices.ContainsFunc(o.Frames, taken) {
		return false
	}
	return o.Status == http.StatusUnauthorized || o.Status == http.StatusForbidden ||
		o.Status == http.StatusSwitchingProtocols && (o.Code == spec.CloseRefused || o.Code == spec.CloseUnsupported)
}

func (v visit) make() (out outcome) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	header := http.Header{}
	if v.Origin != "" {
		header.Set("Origin", v.Origin)
	}
	peer, resp, err := wstest.Connect(ctx, v.URL, header, v.Subprotocols...)
	if resp == nil {
		return outcome{Err: err.Error()}
	}
	out.Status = resp.StatusCode
	if err != nil {
		return out
	}
	defer peer.Close()
	stop := context.AfterFunc(ctx, func() { peer.Close() })
	defer stop()
	receive := func() (frame []byte, ok bool) {
		frame, err := peer.Receive()
		if err != nil {
			out.Code = wstest.CloseCode(err)
			return nil, false
		}
		out.Frames = append(out.Frames, string(frame))
		if method, _ := rawjson.String(rawjson.Get(frame, "method")); method == "authenticate" {
			// The first extensions show the token of the service that they were made for.
			peer.Send([]byte(`{"jsonrpc":"2.0","id":"proxy:1","result":{"name":"Chrome 141","accessToken":"of another service"}}`))
		}
		return frame, true
	}
	for _, frame := range v.Frames {
		peer.Send([]byte(frame)) // why it cannot be sent, if it cannot, is received
		for answered := false; !answered; {
			frame, ok := receive()
			if !ok {
				return out
			}
			a := answerOf(frame)
			answered = a.result != nil || a.err != nil
		}
	}
	for v.Stay != "" {
		frame, ok := receive()
		if !ok {
			return out
		}
		if strings.Contains(string(frame), v.Stay) {
			out.Welcome = true
			return out
		}
	}
	return out
}

func makeVisits(visits []visit) (out []outcome) {
	for _, v := range visits {
		out = append(out, v.make())
	}
	return out
}

func init() {
	parts = map[string]func(*json.Decoder, *json.Encoder) error{
		"visit": func(in *json.Decoder, out *json.Encoder) error {
			var visits []visit
			if err := in.Decode(&visits); err != nil {
				return err
			}
			return out.Encode(makeVisits(visits))
		},
		"hurry": playHurried,
	}
}
