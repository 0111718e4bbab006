package instance

import (
	"errors"
	"os"
	"os/exec"
)

// devTools is the DevTools protocol of a browser: a pipe to it and one from it.
type devTools struct {
	from, to *os.File
	theirs   [2]*os.File // the browser's ends, until it has started
}

// openDevTools makes the pipes of a browser that cmd is to start. The caller calls started.
func openDevTools(cmd *exec.Cmd) (*devTools, error) {
	d := new(devTools)
	var err error
	if d.theirs[0], d.to, err = os.Pipe(); err != nil {
		return nil, err
	}
	if d.from, d.theirs[1], err = os.Pipe(); err == nil {
		err = inherit(cmd, d.theirs)
	}
	if err != nil {
		d.started(err)
		return nil, err
	}
	return d, nil
}

// started closes the browser's ends in this process, and all if the browser did not start.
func (d *devTools) started(failed error) {
	if d == nil {
		return
	}
	for _, f := range d.theirs {
		if f != nil {
			f.Close()
		}
	}
	if failed != nil {
		d.Close()
	}
}

func (d *devTools) Read(b []byte) (int, error)  { return d.from.Read(b) }
func (d *devTools) Write(b []byte) (int, error) { return d.to.Write(b) }

func (d *devTools) Close() error {
	err := d.to.Close()
	if d.from != nil {
		err = errors.Join(err, d.from.Close())
	}
	return err
}
