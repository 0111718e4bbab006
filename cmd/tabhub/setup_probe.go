package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/hub/mcpserver/proxytool"
)

// probed is what a client sees that starts a server by an entry.
type probed struct {
	ready  time.Duration // until it was initialized, a start of the hub included
	tools  int
	tool   string // that was called, with the proxy's list
	answer time.Duration
}

// probeTimeout is how long a hub may take to start and to answer.
const probeTimeout = 30 * time.Second

// probe starts the server of an entry as a client does, and speaks MCP with it. If calls is
// false it ends when the server is ready, which is when a hub runs.
func (s *setup) probe(ctx context.Context, e clientconf.Entry, calls bool) (p probed, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.Command, e.Args...)
	cmd.Env = os.Environ()
	for key, value := range e.Env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second // the hub that it starts has its stderr no longer
	in, err := cmd.StdinPipe()
	if err != nil {
		return p, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return p, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return p, err
	}
	defer func() {
		in.Close()
		ended := cmd.Wait()
		if err != nil && errors.Is(err, io.EOF) {
			err = fmt.Errorf("it ended (%v): %s", ended, oneLine(said.String()))
		}
	}()
	c := &probeClient{in: in, out: bufio.NewReader(out)}
	err = c.call("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]string{"name": "tabhub setup", "version": version()},
	}, nil)
	if err == nil {
		err = c.send(map[string]any{"method": "notifications/initialized"})
	}
	if p.ready = time.Since(began); err != nil || !calls {
		return p, err
	}
	var list struct {
		Tools []struct{ Name string }
	}
	if err := c.call("tools/list", map[string]any{}, &list); err != nil {
		return p, err
	}
	p.tools = len(list.Tools)
	for _, name := range []string{proxytool.ReadName, proxytool.Name} {
		if p.tool == "" && slices.ContainsFunc(list.Tools, func(t struct{ Name string }) bool { return t.Name == name }) {
			p.tool = name
		}
	}
	if p.tool == "" {
		return p, fmt.Errorf("%s is not listed", proxytool.Name)
	}
	asked := time.Now()
	var result struct {
		IsError bool
		Content json.RawMessage
	}
	err = c.call("tools/call", map[string]any{"name": p.tool, "arguments": map[string]string{"action": "list", "type": "tool"}}, &result)
	if p.answer = time.Since(asked); err == nil && result.IsError {
		err = fmt.Errorf("%s: %s", p.tool, oneLine(string(result.Content)))
	}
	return p, err
}

// probeClient is as much of an MCP client as a test call needs.
type probeClient struct {
	in   io.Writer
	out  *bufio.Reader
	last int
}

func (c *probeClient) send(message map[string]any) error {
	message["jsonrpc"] = "2.0"
	b, err := json.Marshal(message)
	if err == nil {
		_, err = c.in.Write(append(b, '\n'))
	}
	return err
}

// call sends a request and waits for its answer, which goes to result if that is not nil.
func (c *probeClient) call(method string, params, result any) error {
	c.last++
	if err := c.send(map[string]any{"id": c.last, "method": method, "params": params}); err != nil {
		return err
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return err
		}
		var answer struct {
			ID     json.RawMessage
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		switch err := json.Unmarshal(line, &answer); {
		case err != nil:
			return fmt.Errorf("what it says is not MCP: %s", oneLine(string(line)))
		case string(answer.ID) != fmt.Sprint(c.last):
			continue // a notification
		case answer.Error != nil:
			return errors.New(oneLine(answer.Error.Message))
		case result == nil:
			return nil
		}
		return json.Unmarshal(answer.Result, result)
	}
}
