//go:build !embedded_nats

package natsd

import (
	"errors"
	"testing"
)

func TestStartSaysHowToBuild(t *testing.T) {
	if _, err := Start(Options{}); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("error is %v", err)
	}
}
