package httpd

import (
	"errors"
	"net/http"

	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

// AnswerRequest is the body of POST /api/questions. Digest is that of the question as it was
// shown.
type AnswerRequest struct {
	ID     string `json:"id" validate:"required"`
	Digest string `json:"digest" validate:"required"`
	spec.AskResult
}

func (s *Server) getQuestions(r *request) error {
	return r.answer(nonNil(r.tenant.Hub.Desk().Open()))
}

// watchQuestions sends the open questions, as an event each time that they change. Calls wait
// for who listens, which ends with the credential.
func (s *Server) watchQuestions(r *request) error {
	ctx, end, err := s.beginStream(r)
	if err != nil {
		return err
	}
	defer end()
	out := r.events()
	for all := range r.tenant.Hub.Desk().Watch(ctx) {
		if out.send(nonNil(all)) != nil {
			break
		}
	}
	return nil
}

func (s *Server) postAnswer(r *request) error {
	var in AnswerRequest
	if err := r.read(64<<10, &in); err != nil {
		return err
	}
	err := r.tenant.Hub.Desk().Answer(in.ID, in.Digest, in.AskResult, editor(r))
	switch {
	case errors.Is(err, consent.ErrNoQuestion):
		return &refusal{http.StatusGone, err.Error()}
	case errors.Is(err, consent.ErrChanged), errors.Is(err, consent.ErrReach), errors.Is(err, consent.ErrCode):
		return &refusal{http.StatusConflict, err.Error()}
	case err != nil:
		return err
	}
	return r.answer(struct{}{})
}
