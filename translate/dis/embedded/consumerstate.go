package embedded

import (
	"net/http"
	"strconv"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// consumerState serves GET /v2/{project}/apps/{app}/streams/{stream}: the
// checkpoint of the app in each partition, next to the readable range.
func (s *Server) consumerState(r *request) (reply, error) {
	limit, err := r.query.number("limit", 1, maxPartitions, defaultPartitions)
	if err != nil {
		return reply{}, err
	}
	from, err := firstState(r.query.get("start_partition_id"))
	if err != nil {
		return reply{}, err
	}
	id := r.query.get("stream_id")
	if id == "" {
		id = r.path[1]
	}
	at, err := s.target(r.project, r.path[0], r.path[1], id, r.query.get("checkpoint_type"))
	if err != nil {
		return reply{}, err
	}
	defer at.unlock()
	st := at.stream
	from = min(from, len(st.partitions))
	to := min(from+limit, len(st.partitions))
	state := wire.ConsumerStateResponse{
		HasMore:                  to < len(st.partitions),
		StreamName:               st.name,
		AppName:                  at.app.meta.Name,
		PartitionConsumingStates: make([]wire.ConsumingState, 0, to-from),
	}
	for number := from; number < to; number++ {
		one, err := s.consumingState(at, number)
		if err != nil {
			return reply{}, err
		}
		state.PartitionConsumingStates = append(state.PartitionConsumingStates, one)
	}
	return jsonReply(http.StatusOK, state)
}

// firstState is the partition with which a page of states begins. An id is
// exclusive, as the API page says. A plain number is the form of the older page,
// where the first page begins at 0; the Python SDK always sends that.
func firstState(start string) (int, error) {
	if number, err := strconv.Atoi(start); err == nil && number >= 0 {
		return number, nil
	}
	return afterPartition(start)
}

func (s *Server) consumingState(at *lockedTarget, number int) (wire.ConsumingState, error) {
	stored, err := s.store.checkpoint(checkpointKey(at.app.meta.Number, at.stream.number, number))
	if err != nil {
		return wire.ConsumingState{}, err
	}
	p := at.stream.partitions[number]
	readable := p.position()
	return wire.ConsumingState{
		PartitionID:    wire.Text(p.id),
		SequenceNumber: wire.Text(strconv.FormatInt(stored.number, 10)),
		LatestOffset:   readable.Next,
		EarliestOffset: readable.Oldest,
		CheckpointType: wire.CheckpointLastRead,
		Status:         at.stream.meta.Partitions[number].Status,
		Metadata:       stored.metadata,
	}, nil
}
