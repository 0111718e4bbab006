// Package portowner says which process listens on a port, so that an error about a
// taken port can name it.
package portowner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Describe names the process that listens on addr, as far as the system tells.
func Describe(addr string) string {
	owner := "another program"
	switch pid, name := process(addr); {
	case name != "":
		owner = fmt.Sprintf("%s (process %d)", name, pid)
	case pid != 0:
		owner = fmt.Sprintf("process %d", pid)
	}
	if isHub(addr) {
		owner += ", which says that it is a tabhub"
	}
	return owner
}

// isHub asks the process on addr whether it is a tabhub.
func isHub(addr string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/healthz", nil)
	if err != nil {
		return false
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var health struct{ Service string }
	return json.NewDecoder(io.LimitReader(resp.Body, 1<<10)).Decode(&health) == nil && health.Service == "tabhub"
}
