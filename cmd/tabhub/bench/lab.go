package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/extensions"
	"github.com/chromedp/chromedp"

	"tabhub/tabtransport/tabtest/chromium"
)

// lab is a hub, with a directory for it and for the browsers, which ends with it.
type lab struct {
	dir     string
	program string
	hub     *exec.Cmd
	closers []func()
}

// openLab builds tabhub and starts a hub. It runs in a directory of the module.
func openLab(ctx context.Context) (*lab, error) {
	dir, err := os.MkdirTemp("", "tabhub-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, program: filepath.Join(dir, "tabhub")}
	build := exec.CommandContext(ctx, "go", "build", "-o", l.program, "tabhub/cmd/tabhub")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, errors.Join(fmt.Errorf("build tabhub: %w", err), l.Close())
	}
	if err := l.serve(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the hub: %w", err), l.Close())
	}
	return l, nil
}

// serve starts the hub and waits until it listens.
func (l *lab) serve() error {
	hub := l.Command("serve", "--listen", "127.0.0.1:0")
	stderr, err := hub.StderrPipe()
	if err != nil {
		return err
	}
	if err := hub.Start(); err != nil {
		return err
	}
	l.hub = hub
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "listening on ") {
			go io.Copy(io.Discard, stderr) // ends with the hub
			return nil
		}
	}
	return errors.Join(errors.New("it has ended"), lines.Err())
}

// Command is tabhub with args, for the lab's hub.
func (l *lab) Command(args ...string) *exec.Cmd {
	return exec.Command(l.program, append(args, "--data-dir", filepath.Join(l.dir, "data"))...)
}

// Close ends the browsers and the hub, waits for them, and removes all that they wrote.
func (l *lab) Close() error {
	for _, closer := range l.closers {
		closer()
	}
	if l.hub != nil {
		_ = l.hub.Process.Signal(os.Interrupt)
		_ = l.hub.Wait()
	}
	return os.RemoveAll(l.dir)
}

// Site serves handler on an address of this computer, and returns its URL.
func (l *lab) Site(handler http.Handler) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler}
	go server.Serve(listener) // ends with Close
	l.closers = append(l.closers, func() { server.Close() })
	return "http://" + listener.Addr().String(), nil
}

// Browser starts a browser whose pages have WebMCP, with a copy of the extension that is
// paired with the hub, or without. The context is that of its first tab, for chromedp.
// profile is the browser's directory; the file DevToolsActivePort there says where other
// programs reach its DevTools.
func (l *lab) Browser(ctx context.Context, extension bool) (tab context.Context, profile string, err error) {
	path, ok := chromium.Path()
	if !ok {
		return nil, "", errors.New("no Chromium on PATH and none in TABHUB_BROWSER_PROGRAM")
	}
	profile, err = os.MkdirTemp(l.dir, "profile-")
	if err != nil {
		return nil, "", err
	}
	// chromedp loads the extension over a pipe. The port is for others; as a flag of that
	// name chromedp would use it instead of the pipe.
	flags := append(chromium.Flags(path, profile, chromium.Options{WebMCP: true}), chromedp.Flag("remote-debugging-port=0", true))
	alloc, stop := chromedp.NewExecAllocator(ctx, flags...)
	tab, end := chromedp.NewContext(alloc)
	l.closers = append(l.closers, func() { _ = chromedp.Cancel(tab); end(); stop() })
	if _, err := chromedp.Run(tab, chromedp.Navigate("about:blank")); err != nil || !extension {
		return tab, profile, err
	}
	dir := filepath.Join(profile, "tabhub")
	if out, err := l.Command("extension", dir).CombinedOutput(); err != nil {
		return nil, "", fmt.Errorf("write the extension: %w: %s", err, out)
	}
	_, err = chromedp.CallBrowser(tab, extensions.LoadUnpacked, extensions.LoadUnpackedParams{Path: dir})
	return tab, profile, err
}
