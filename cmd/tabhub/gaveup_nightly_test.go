//go:build nightly

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

func init() {
	giveUp = "" // the SDK has 60 s of its own
	hosts["Claude Code"] = claudeHost
}

// claudeHost is Claude Code, with a model that calls payTool once and repeats what that returns.
func claudeHost(t *testing.T, hub *serving, patience bool) string {
	model := httptest.NewServer(http.HandlerFunc(playModel))
	defer model.Close()
	home := t.TempDir()
	config := filepath.Join(home, "mcp.json")
	b, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"tabhub": map[string]any{"type": "http", "url": hub.url + "/mcp", "headers": map[string]string{"Authorization": "Bearer " + hub.token}},
	}})
	if err := os.WriteFile(config, b, 0o600); err != nil {
		t.Error(err)
	}
	claude, err := filepath.Abs(clients + "/node_modules/.bin/claude")
	if err != nil {
		t.Error(err)
	}
	cmd := exec.CommandContext(t.Context(), claude, "-p", "Pay.", "--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__tabhub__"+payTool)
	limit := "3000"
	if patience {
		limit = "100000"
	}
	cmd.Dir = home
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "ANTHROPIC_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=none", "MCP_TOOL_TIMEOUT=" + limit,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	return string(out)
}

// Claude Code runs when nobody is there, and cancels the form in which its user is asked: its model gets the way
// to an answer, and the same call passes once that was given.
func TestUnattendedClaudeCode(t *testing.T) {
	t.Parallel()
	nodeScript(t, "call.mjs")
	p, hub := serveAsked(t, "--set", "ask=client,dashboard")
	_, ran := joinAsked(t, p)
	if got := claudeHost(t, hub, true); !strings.Contains(got, "tabhub approve ") || !strings.Contains(got, "policy set allow --client ") || ran.Load() != 0 {
		t.Fatalf("it ran %d times: %s", ran.Load(), got)
	}
	desk := deskOf(t, p)
	q := desk.Open()[0]
	if err := desk.Answer(q.ID, q.Digest, spec.AskResult{Reach: spec.ReachOnce}, consent.ByCommand); err != nil {
		t.Fatal(err)
	}
	if got := claudeHost(t, hub, true); !strings.Contains(got, "paid") || ran.Load() != 1 {
		t.Errorf("it ran %d times: %s", ran.Load(), got)
	}
}

// playModel answers as the Messages API does: with a call of payTool, and with its result once that is there.
func playModel(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model    string
		Tools    []struct{ Name string }
		Messages []struct{ Content json.RawMessage }
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || !strings.HasSuffix(r.URL.Path, "/messages") {
		fmt.Fprint(w, `{"input_tokens":1}`)
		return
	}
	block, delta, stop := `{"type":"text","text":""}`, map[string]string{"type": "text_delta", "text": "Done."}, "end_turn"
	if n := len(in.Messages); n > 0 {
		switch last := string(in.Messages[n-1].Content); {
		case strings.Contains(last, "tool_result"):
			delta["text"] = last
		case len(in.Tools) > 0:
			block = `{"type":"tool_use","id":"toolu_1","name":"mcp__tabhub__` + payTool + `","input":{}}`
			delta, stop = map[string]string{"type": "input_json_delta", "partial_json": "{}"}, "tool_use"
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind, more string) { fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, more) }
	part, _ := json.Marshal(delta)
	send("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","model":"`+in.Model+`","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}`)
	send("content_block_start", `,"index":0,"content_block":`+block)
	send("content_block_delta", `,"index":0,"delta":`+string(part))
	send("content_block_stop", `,"index":0`)
	send("message_delta", `,"delta":{"stop_reason":"`+stop+`"},"usage":{"output_tokens":1}`)
	send("message_stop", "")
}
