package tabtransport_test

import (
	"testing"

	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

func TestPeersKeepTheContract(t *testing.T) {
	tabtest.Run(t, func(t *testing.T) (tabtransport.TabHubTransport, tabtest.Dial) {
		p := tabtransport.NewPeers()
		return p, tabtest.Local(p)
	})
}

func TestAttacherKeepsTheContract(t *testing.T) {
	tabtest.RunAttacher(t, func(t *testing.T) (tabtransport.Attacher, tabtransport.TabHubTransport) {
		p := tabtransport.NewPeers()
		return p, p
	})
}
