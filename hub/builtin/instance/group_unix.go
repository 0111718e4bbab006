//go:build unix

package instance

import (
	"os"
	"syscall"
)

// group is a browser's process group.
type group struct{ leader int }

func adopt(p *os.Process) *group { return &group{p.Pid} }

// terminate asks the browser to close. The group may be gone already.
func (g *group) terminate() { _ = syscall.Kill(g.leader, syscall.SIGTERM) }

// kill ends the browser and its children.
func (g *group) kill() { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }

func (g *group) release() {}
