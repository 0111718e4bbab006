package admin

import (
	"errors"
	"net/http"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

// AnswerRequest is the body of POST /api/questions. Digest is that of the question that the owner saw.
type AnswerRequest struct {
	ID     string `json:"id" validate:"required"`
	Digest string `json:"digest" validate:"required"`
	spec.AskResult
}

// getQuestions returns the open questions without what the calls would send: only a credential that may decide
// gets that.
func getQuestions(r *endpoint.Request) error {
	all := nonNil(r.Tenant.Hub.Owner.Desk().Open())
	for i := range all {
		all[i].Args, all[i].Why = nil, []string{"What it would send is shown to those who may decide."}
	}
	return r.Answer(all)
}

func getAllOfQuestions(r *endpoint.Request) error {
	return r.Answer(nonNil(r.Tenant.Hub.Owner.Desk().Open()))
}

// watchQuestions sends the open questions, as an event each time that they change. Calls wait for the
// answers of its caller, until its credential ends.
func (api *API) watchQuestions(r *endpoint.Request) error {
	ctx, end, err := api.beginStream(r)
	if err != nil {
		return err
	}
	defer end()
	out := r.Events()
	for all := range r.Tenant.Hub.Owner.Desk().Watch(ctx) {
		if out.Send(nonNil(all)) != nil {
			break
		}
	}
	return nil
}

func postAnswer(r *endpoint.Request) error {
	var in AnswerRequest
	if err := r.Read(64<<10, &in); err != nil {
		return err
	}
	err := r.Tenant.Hub.Owner.Desk().Answer(in.ID, in.Digest, in.AskResult, editor(r))
	switch {
	case errors.Is(err, consent.ErrNoQuestion):
		return &endpoint.Error{Status: http.StatusGone, Text: err.Error()}
	case errors.Is(err, consent.ErrChanged), errors.Is(err, consent.ErrReach), errors.Is(err, consent.ErrCode):
		return &endpoint.Error{Status: http.StatusConflict, Text: err.Error()}
	case err != nil:
		return err
	}
	return r.Answer(struct{}{})
}
