package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"tabhub/cmd/tabhub/internal/home"
)

// Report is the one line that a detached hub writes to its standard output, which is
// a pipe to the bridge that started it. The hub then closes it.
type Report struct {
	Error string `json:"error,omitempty"` // "" when it listens
	Note  string `json:"note,omitempty"`  // what the user should know
}

// Detached starts a hub that outlives this process: program with args, in a session
// of its own, its log in the data directory. It returns when the hub has reported, with
// what the user should know of it.
func Detached(ctx context.Context, dir home.Dir, program string, args, env []string) (note string, err error) {
	log, err := dir.OpenLog()
	if err != nil {
		return "", fmt.Errorf("its log cannot be opened: %w", err)
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	cmd := exec.Command(program, args...)
	cmd.Env = env
	cmd.Dir = string(dir)
	cmd.Stdout = w
	cmd.Stderr = log
	detach(cmd)
	err = cmd.Start()
	w.Close()
	if err != nil {
		return "", err
	}
	// A child that nobody waits for stays behind as a zombie when it ends.
	go cmd.Wait()
	stop := context.AfterFunc(ctx, func() { r.Close() })
	defer stop()
	line, err := bufio.NewReader(io.LimitReader(r, 64<<10)).ReadBytes('\n')
	var report Report
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("it is not ready in time; see %s", dir.LogFile())
	case err != nil || json.Unmarshal(line, &report) != nil:
		return "", fmt.Errorf("it ended at once; see %s", dir.LogFile())
	case report.Error != "":
		return "", errors.New(report.Error)
	}
	return report.Note, nil
}
