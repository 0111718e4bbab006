package admin

import (
	"encoding/json"
	"net/http"
	"runtime/metrics"
	"slices"
	"time"

	"tabhub/hub"
	"tabhub/hub/call"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// Info describes the hub process.
type Info struct {
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Addrs   []string  `json:"addrs"`
	Socket  string    `json:"socket,omitempty"` // path of the socket for programs of the hub's user
	DataDir string    `json:"dataDir,omitempty"`
	Auto    bool      `json:"auto"`              // started by a bridge
	Service bool      `json:"service,omitempty"` // started by the operating system
	LogFile string    `json:"logFile,omitempty"` // "": it logs where it was started
	Config  string    `json:"config,omitempty"`  // the configuration file that was read at the start; "": there was none
	Started time.Time `json:"started"`
	// Sockets are the counters of the tabs' WebSockets.
	Sockets any `json:"sockets,omitempty"`
	// Refused is why browsers' extensions were refused lately.
	Refused []Refusal `json:"refused,omitempty"`
	// PolicyFile is the policy file. Nil: there is none.
	PolicyFile *PolicyFile `json:"policyFile,omitempty"`
}

// Refusal says why extensions were refused.
type Refusal struct {
	Reason string    `json:"reason"`
	Own    bool      `json:"own"` // they ran on the hub's machine, as the user who runs the hub
	Times  int       `json:"times"`
	Last   time.Time `json:"last"`
}

// StatusReport is GET /api/status.
type StatusReport struct {
	Info
	User      spec.UserID  `json:"user"`             // "": no user, only the process is reported
	Clients   int          `json:"clients"`          // MCP clients that are being served now
	Memory    uint64       `json:"memory,omitempty"` // bytes that the operating system has given the process
	Paired    int          `json:"paired"`           // browsers that have a pairing of the user's
	Questions int          `json:"questions"`        // open
	Relayed   int          `json:"relayed"`          // extensions of the relay's protocols that are connected
	Hub       hub.Status   `json:"hub"`
	Record    RecordStatus `json:"record"`
}

// RecordStatus is the state of the record.
type RecordStatus struct {
	record.Status
	Queued int `json:"queued"` // bytes to be written
}

// getStatus reports the process and the caller's hub. The owner of a hub with accounts has none.
func (api *API) getStatus(r *endpoint.Request) error {
	// The count of clients includes this request.
	report := StatusReport{Info: api.o.Info(), User: r.Identity.User, Clients: api.served() - 1, Memory: memory()}
	if report.User != "" {
		t, err := api.o.Tenants.Get(r.Context(), report.User)
		if err != nil {
			return err
		}
		report.Hub, report.Record = t.Hub.Status(), RecordStatus{t.Record.Status(), t.Record.Queued()}
		report.Paired, report.Questions = len(api.pairings(r)), consent.Unanswered(t.Hub.Owner.Desk().Open())
		if api.o.RelayExtensions != nil {
			report.Relayed = api.o.RelayExtensions(report.User)
		}
	}
	if !api.tellsProcess(r) {
		report.Info, report.Clients, report.Memory = Info{Version: report.Version, Started: report.Started}, 0, 0
	}
	return r.Answer(report)
}

// memory returns how many bytes the operating system has given the process.
func memory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// served is how many clients the hub serves now. Streams of the API are none.
func (api *API) served() int { return api.o.Served() - api.Streams("") }

// mergeStatus completes the status of a user whose hub is in another process with that of this one.
func (api *API) mergeStatus(answer []byte) (any, error) {
	var report StatusReport
	err := json.Unmarshal(answer, &report)
	report.Info, report.Clients, report.Memory = api.o.Info(), api.served(), memory()
	return report, err
}

// tellsProcess reports whether the caller may see the state of the process. The users of a hub with
// accounts may not.
func (api *API) tellsProcess(r *endpoint.Request) bool { return !api.o.Accounts || r.Owner }

// StopRequest is the body of POST /api/stop.
type StopRequest struct {
	Reason string `json:"reason" validate:"oneof=stop upgrade"`
}

// longCall is the age from which a call in flight prevents an upgrade: it may not end while the hub waits
// for it.
const longCall = 2 * time.Second

func (api *API) postStop(r *endpoint.Request) error {
	var in StopRequest
	if err := r.Read(1<<10, &in); err != nil {
		return err
	}
	if in.Reason == "upgrade" && api.isBusy(time.Now().Add(-longCall)) {
		return &endpoint.Error{Status: http.StatusConflict, Text: "calls are in flight that an upgrade would break off; try again later"}
	}
	if in.Reason == "upgrade" && api.o.CheckUpgrade != nil {
		if err := api.o.CheckUpgrade(r.Context()); err != nil {
			return &endpoint.Error{Status: http.StatusConflict, Text: err.Error()}
		}
	}
	endpoint.WriteJSON(r.W, http.StatusAccepted, map[string]string{"status": "stopping"})
	api.o.Stop(in.Reason)
	return nil
}

// isBusy reports whether a call is in flight that began before a time, or that waits for its owner.
func (api *API) isBusy(before time.Time) bool {
	for _, t := range api.o.Tenants.Open() {
		running, _ := t.Hub.Owner.Running()
		if slices.ContainsFunc(running, func(c call.Running) bool { return c.Phase != call.PhaseRunning || c.Began.Before(before) }) {
			return true
		}
	}
	return false
}
