package httpd

import (
	"context"
	"encoding/json"
	"runtime/metrics"
	"time"

	"tabhub/hub/record"
	"tabhub/hub/stats"
	"tabhub/spec"
)

// HealthReport is GET /api/health. ?span=day has Calls go back a day rather than an hour.
type HealthReport struct {
	User       spec.UserID    `json:"user"`            // "": nobody's, only the process is reported
	Calls      *stats.Series  `json:"calls,omitempty"` // of the user's clients
	InFlight   int            `json:"inFlight"`        // calls
	Questions  int            `json:"questions"`       // that wait for the user
	StoreError string         `json:"storeError,omitempty"`
	Record     RecordHealth   `json:"record"`
	Process    *ProcessHealth `json:"process,omitempty"` // nil for a user of a hub with accounts
}

// RecordHealth says how far the record is behind.
type RecordHealth struct {
	record.Status
	Queued int `json:"queued"` // bytes that wait to be written
}

// ProcessHealth is what the hub's process needs.
type ProcessHealth struct {
	Version    string    `json:"version"`
	Started    time.Time `json:"started"`
	Goroutines uint64    `json:"goroutines"`
	Heap       uint64    `json:"heap"`   // bytes of memory in use, and of what will be found unused
	Memory     uint64    `json:"memory"` // bytes that the operating system has given
	Sockets    any       `json:"sockets,omitempty"`
}

// Finding is what the doctor has to say about one thing.
type Finding struct {
	State string `json:"state"` // ok, note or problem
	Check string `json:"check"` // what was looked at
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"` // what to do
}

// getHealth may have a caller who is no user, as getStatus.
func (s *Server) getHealth(r *request) error {
	span := stats.Hour
	switch v := r.URL.Query().Get("span"); v {
	case "", "hour":
	case "day":
		span = stats.Day
	default:
		return badRequest("span is %q; it may be hour or day", v)
	}
	report := HealthReport{User: r.pass.identity.User}
	if report.User != "" {
		t, err := s.o.Tenants.Get(r.Context(), report.User)
		if err != nil {
			return s.moved(r, err)
		}
		status := t.Hub.Status()
		report.Calls = new(t.Hub.Calls(span))
		report.InFlight, report.StoreError, report.Questions = status.InFlight, status.StoreError, len(t.Hub.Desk().Open())
		report.Record = RecordHealth{t.Record.Status(), t.Record.Queued()}
	}
	if s.tellsProcess(r) {
		report.Process = s.processHealth()
	}
	return r.answer(report)
}

// mergeHealth is getHealth where another node has the user.
func (s *Server) mergeHealth(answer []byte) (any, error) {
	var report HealthReport
	err := json.Unmarshal(answer, &report)
	report.Process = s.processHealth()
	return report, err
}

func (s *Server) processHealth() *ProcessHealth {
	info := s.o.Info()
	samples := []metrics.Sample{
		{Name: "/sched/goroutines:goroutines"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	return &ProcessHealth{
		Version: info.Version, Started: info.Started, Sockets: info.Sockets,
		Goroutines: samples[0].Value.Uint64(),
		Heap:       samples[1].Value.Uint64(),
		Memory:     samples[2].Value.Uint64() - samples[3].Value.Uint64(),
	}
}

// doctorTimeout is how long the doctor may take.
const doctorTimeout = 20 * time.Second

func (s *Server) getDoctor(r *request) error {
	if !s.tellsProcess(r) {
		return forbidden("this hub has several users, and what the doctor finds is for its owner: `tabhub doctor` on its machine")
	}
	s.doctor.Lock() // it tries ports and writes a file
	defer s.doctor.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), doctorTimeout)
	defer cancel()
	return r.answer(nonNil(s.o.Doctor(ctx)))
}
