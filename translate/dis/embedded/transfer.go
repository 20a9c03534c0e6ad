package embedded

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// createTransfer serves POST /v2/{project}/streams/{stream}/transfer-tasks. A
// task for OBS writes into a folder; tasks for other destinations are checked
// and kept, and their state says that they deliver nothing.
func (s *Server) createTransfer(r *request) (reply, error) {
	err := s.withTransfer(r, func(st *stream, body *transferBody, settings transferSettings) error {
		if st.transfer(settings.Name) != nil {
			return refuse(wire.CodeTransferExists, "Transfer task already exists. [%s][%s]", settings.Name, st.name)
		}
		if len(st.transfers) >= wire.MaxTransferTasks {
			return refuse(wire.CodeTransferQuota, "Insufficient transfer task quota. [%d]", wire.MaxTransferTasks)
		}
		return s.addTransfer(st, body.DestinationType, settings)
	})
	if err != nil {
		return reply{}, err
	}
	return emptyReply(http.StatusCreated)
}

// updateTransfer serves PUT of the same path, a call of the Java SDK: the task
// that the descriptor names gets these settings and goes on where it is.
func (s *Server) updateTransfer(r *request) (reply, error) {
	err := s.withTransfer(r, func(st *stream, body *transferBody, settings transferSettings) error {
		t := st.transfer(settings.Name)
		if t == nil {
			return transferNotFound(settings.Name, st.name)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		meta := t.meta
		meta.Destination, meta.transferSettings = body.DestinationType, settings
		return s.setTransfer(t, meta)
	})
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, struct{}{})
}

// withTransfer reads and checks a description, and calls change with the stream
// locked for writing.
func (s *Server) withTransfer(r *request, change func(*stream, *transferBody, transferSettings) error) error {
	var body transferBody
	if err := decodeBody(r.body, &body); err != nil {
		return err
	}
	return s.changeTransfers(r, func(st *stream) error {
		settings, err := body.settings(st.meta.Settings.DataType)
		if err != nil {
			return err
		}
		if settings.OBS != nil && s.dumps == nil {
			return refuse(wire.CodeOBSAccess, "OBS access failed. [%s][the embedded DIS has no folder to write to: --dump-dir is not set]",
				settings.OBS.OBSBucketPath)
		}
		return change(st, &body, settings)
	})
}

// changeTransfers calls change with admin and the stream of the path locked.
func (s *Server) changeTransfers(r *request, change func(*stream) error) error {
	s.admin.Lock()
	defer s.admin.Unlock()
	st, err := s.streamOfPath(r, r.path[0])
	if err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	return change(st)
}

// transfer finds a task by name, nil when there is none. The caller holds mu.
func (st *stream) transfer(name string) *transfer {
	i := slices.IndexFunc(st.transfers, func(t *transfer) bool { return t.meta.Name == name })
	if i < 0 {
		return nil
	}
	return st.transfers[i]
}

func transferNotFound(task, stream string) error {
	return refuse(wire.CodeTransferNotFound, "Transfer task does not exist. [%s][%s]", task, stream)
}

// listTransfers serves GET of the same path. The Java SDK knows a limit and an
// exclusive start.
func (s *Server) listTransfers(r *request) (reply, error) {
	limit, err := r.query.number("limit", 1, maxListed, maxListed)
	if err != nil {
		return reply{}, err
	}
	st, unlock, err := s.readTransfers(r)
	if err != nil {
		return reply{}, err
	}
	defer unlock()
	list := wire.ListTransferTasksResponse{
		TotalNumber: len(st.transfers), Quota: wire.MaxTransferTasks, Tasks: []wire.TransferTaskSummary{},
	}
	for _, t := range st.transfers {
		if t.meta.Name > r.query.get("start_task_name") {
			list.Tasks = append(list.Tasks, s.summary(t))
		}
	}
	slices.SortFunc(list.Tasks, func(a, b wire.TransferTaskSummary) int { return strings.Compare(a.TaskName, b.TaskName) })
	list.Tasks = list.Tasks[:min(limit, len(list.Tasks))]
	return jsonReply(http.StatusOK, list)
}

func (s *Server) readTransfers(r *request) (*stream, func(), error) {
	st, err := s.streamOfPath(r, r.path[0])
	if err != nil {
		return nil, nil, err
	}
	unlock, err := st.open()
	return st, unlock, err
}

func (s *Server) summary(t *transfer) wire.TransferTaskSummary {
	t.mu.Lock()
	defer t.mu.Unlock()
	return wire.TransferTaskSummary{
		TaskID:                t.meta.ID,
		TaskName:              t.meta.Name,
		State:                 t.state(s.dumps != nil),
		DestinationType:       t.meta.Destination,
		CreateTime:            t.meta.CreatedAt,
		LastTransferTimestamp: t.lastTransfer(),
	}
}

// describedTransfer adds what the API pages leave out: the other destinations,
// and names that the Go SDK spells in its own way.
type describedTransfer struct {
	wire.TransferTask
	Partitions   []describedTransferPartition `json:"partitions"`
	MRS          json.RawMessage              `json:"mrs_destination_description,omitempty"`
	DLI          json.RawMessage              `json:"dli_destination_description,omitempty"`
	CloudTable   json.RawMessage              `json:"cloudtable_destination_description,omitempty"`
	CloudTableGo json.RawMessage              `json:"cloudtable_destination_descripton,omitempty"`
	DWS          json.RawMessage              `json:"dws_destination_description,omitempty"`
	DWSGo        json.RawMessage              `json:"dws_destination_descripton,omitempty"`
}

type describedTransferPartition struct {
	wire.TransferPartition
	PartitionIDGo string `json:"partition_id"`
}

// describeTransfer serves GET /v2/{project}/streams/{stream}/transfer-tasks/{task}.
func (s *Server) describeTransfer(r *request) (reply, error) {
	st, unlock, err := s.readTransfers(r)
	if err != nil {
		return reply{}, err
	}
	defer unlock()
	t := st.transfer(r.path[1])
	if t == nil {
		return reply{}, transferNotFound(r.path[1], st.name)
	}
	described := describedTransfer{TransferTask: wire.TransferTask{StreamName: st.name, TransferTaskSummary: s.summary(t)}}
	t.mu.Lock()
	defer t.mu.Unlock()
	described.OBSDestinationDescription = t.meta.OBS
	switch descriptor := t.meta.Descriptor; t.meta.Destination {
	case wire.DestinationMRS:
		described.MRS = descriptor
	case wire.DestinationDLI:
		described.DLI = descriptor
	case wire.DestinationCloudTable:
		described.CloudTable, described.CloudTableGo = descriptor, descriptor
	case wire.DestinationDWS:
		described.DWS, described.DWSGo = descriptor, descriptor
	}
	described.Partitions = describeTransferPartitions(st, t, described.State)
	return jsonReply(http.StatusOK, described)
}

// describeTransferPartitions shows the next number as the offset: what is in
// front of it was transferred or given up.
func describeTransferPartitions(st *stream, t *transfer, state wire.TransferState) []describedTransferPartition {
	described := make([]describedTransferPartition, len(st.partitions))
	for number, p := range st.partitions {
		at := t.progress[number]
		described[number] = describedTransferPartition{
			TransferPartition: wire.TransferPartition{
				PartitionID:           p.id,
				State:                 state,
				Discard:               at.Discarded,
				LastTransferTimestamp: at.At,
				LastTransferOffset:    at.Next,
			},
			PartitionIDGo: p.id,
		}
	}
	return described
}

// deleteTransfer serves DELETE of that path. The files stay.
func (s *Server) deleteTransfer(r *request) (reply, error) {
	err := s.changeTransfers(r, func(st *stream) error {
		t := st.transfer(r.path[1])
		if t == nil {
			return transferNotFound(r.path[1], st.name)
		}
		if err := s.dropTransfer(t); err != nil {
			return err
		}
		st.transfers = slices.DeleteFunc(slices.Clone(st.transfers), func(other *transfer) bool { return other == t })
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return emptyReply(http.StatusNoContent)
}

// changeTransferStates serves POST /v2/{project}/streams/{stream}/transfer-tasks/action:
// all of the tasks are started or stopped, or none when one does not exist. A
// task that is started goes on where it stopped. Not every answer of the service
// tells the ids of tasks, so their names will do.
func (s *Server) changeTransferStates(r *request) (reply, error) {
	var body wire.ChangeTransferTasksRequest
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	action := wire.TransferAction(strings.ToLower(string(body.Action)))
	if action != wire.TransferStart && action != wire.TransferStop {
		return reply{}, invalidRequest("action", body.Action)
	}
	if len(body.Tasks) == 0 {
		return reply{}, invalidRequest("tasks", "")
	}
	err := s.changeTransfers(r, func(st *stream) error {
		tasks, err := st.namedTransfers(body.Tasks)
		if err != nil {
			return err
		}
		for _, t := range tasks {
			if err := s.setStopped(t, action == wire.TransferStop); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, struct{}{})
}

func (st *stream) namedTransfers(refs []wire.TransferRef) ([]*transfer, error) {
	tasks := make([]*transfer, len(refs))
	for i, ref := range refs {
		at := slices.IndexFunc(st.transfers, func(t *transfer) bool { return t.meta.ID == ref.ID })
		if at >= 0 {
			tasks[i] = st.transfers[at]
		} else if tasks[i] = st.transfer(ref.ID); tasks[i] == nil {
			return nil, transferNotFound(ref.ID, st.name)
		}
	}
	return tasks, nil
}

func (s *Server) setStopped(t *transfer, stopped bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	meta := t.meta
	meta.Stopped = stopped
	return s.setTransfer(t, meta)
}
