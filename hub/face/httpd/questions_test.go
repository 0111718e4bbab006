package httpd

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"tabhub/hub/face/admin"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// A watcher must see a question while its call waits, and the answer must be to what was
// shown, once, and reach the call.
func TestQuestionIsAnswered(t *testing.T) {
	d := open(t, nil)
	req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://hub/api/questions/watch", nil)
	resp, err := d.ownersSocket().RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	defer resp.Body.Close()
	events := bufio.NewReader(resp.Body)
	next := func() (all []consent.Question) {
		t.Helper()
		for {
			line, err := events.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				if err := json.Unmarshal([]byte(data), &all); err != nil {
					t.Fatal(err)
				}
				return all
			}
		}
	}
	if all := next(); len(all) != 0 {
		t.Fatalf("open: %v", all)
	}
	done := make(chan error, 1)
	go func() {
		by := consent.As(&policy.Principal{ID: "c"})
		_, err := d.tenant.Hub.Owner.Desk().Ask(t.Context(), by, consent.Call{Action: &policy.Action{Principal: by.Principal, Of: policy.OfHub, Name: "browser_tab close"}})
		done <- err
	}()
	all := next()
	if len(all) != 1 || all[0].Tool.Name != "browser_tab close" {
		t.Fatalf("open: %+v", all)
	}
	for _, c := range []struct {
		id, digest string
		reach      spec.Reach
		status     int
	}{
		{"NONE", all[0].Digest, spec.ReachOnce, http.StatusGone},
		{all[0].ID, "0", spec.ReachOnce, http.StatusConflict},
		{all[0].ID, all[0].Digest, spec.ReachSession, http.StatusConflict},
		{all[0].ID, all[0].Digest, "perhaps", http.StatusBadRequest},
		{all[0].ID, all[0].Digest, spec.ReachOnce, http.StatusOK},
		{all[0].ID, all[0].Digest, spec.ReachOnce, http.StatusGone},
	} {
		b, _ := json.Marshal(admin.AnswerRequest{ID: c.id, Digest: c.digest, AskResult: spec.AskResult{Reach: c.reach}})
		if status, body := d.askOwner("POST", "/api/questions", string(b)); status != c.status {
			t.Errorf("%s: %d %s, want %d", b, status, body, c.status)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if status, body, _ := d.ask("GET", "/api/questions", ""); status != http.StatusOK || strings.TrimSpace(body) != "[]" {
		t.Errorf("%d %s", status, body)
	}
}
