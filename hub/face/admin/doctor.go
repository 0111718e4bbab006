package admin

import (
	"context"
	"time"

	"tabhub/hub/face/endpoint"
)

// Finding is what the doctor has found out about one thing.
type Finding struct {
	State string `json:"state"` // ok, note or problem
	Check string `json:"check"` // what was checked
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"` // what to do
}

// doctorTimeout is how long the doctor may take.
const doctorTimeout = 20 * time.Second

func (api *API) getDoctor(r *endpoint.Request) error {
	if !api.tellsProcess(r) {
		return endpoint.Forbidden("this hub has several users, and what the doctor finds is for its owner: `tabhub doctor` on its machine")
	}
	api.doctor.Lock() // it tries ports and writes a file
	defer api.doctor.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), doctorTimeout)
	defer cancel()
	return r.Answer(nonNil(api.o.Doctor(ctx)))
}
