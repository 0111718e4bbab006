package tabtransport_test

import (
	"testing"

	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	tabtest.Run(t, func(t *testing.T) (tabtransport.TabHubTransport, tabtest.Dial) {
		m := tabtransport.NewMemory()
		return m, tabtest.Local(m)
	})
}
