package embedded

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

const (
	faultsPath       = "/faults"
	maxFaultPlanBody = 1 << 20
)

// SetFaults puts another plan in force, with its counters at 0. It fails when
// faults are not enabled or the plan has a mistake.
func (s *Server) SetFaults(plan FaultPlan) error {
	if s.faults == nil {
		return errors.New("faults are not enabled")
	}
	if err := plan.validate(); err != nil {
		return err
	}
	s.faults.set(plan)
	return nil
}

// Faults is the plan in force with the hits of each fault; empty when faults are
// not enabled.
func (s *Server) Faults() FaultPlan {
	if s.faults == nil {
		return FaultPlan{}
	}
	return s.faults.get()
}

// controlFaults serves the control endpoint. It asks for no signature: faults
// are for tests, and enabling them opens it on purpose.
func (s *Server) controlFaults(w http.ResponseWriter, r *http.Request) {
	answer, err := s.answerControl(r)
	id := requestID()
	if err != nil {
		answer = s.errorReply(id, r, err)
	}
	answer.write(w, id)
}

func (s *Server) answerControl(r *http.Request) (reply, error) {
	switch r.Method {
	case http.MethodGet:
		return jsonReply(http.StatusOK, s.Faults())
	case http.MethodPut:
		plan, err := readFaultPlan(r)
		if err == nil {
			err = s.SetFaults(plan)
		}
		if err != nil {
			return reply{}, invalidRequest("faults", err)
		}
		return jsonReply(http.StatusOK, s.Faults())
	case http.MethodDelete:
		s.faults.set(FaultPlan{})
		return emptyReply(http.StatusNoContent)
	}
	return reply{}, unknownCall(r)
}

// readFaultPlan is strict: a misspelt field would be a fault that never hits.
func readFaultPlan(r *http.Request) (plan FaultPlan, err error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxFaultPlanBody+1))
	if err != nil {
		return plan, fmt.Errorf("read the body: %w", err)
	}
	if len(body) > maxFaultPlanBody {
		return plan, tooLarge("body", maxFaultPlanBody)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&plan); err != nil {
		return plan, fmt.Errorf("decode the body: %w", err)
	}
	return plan, nil
}
