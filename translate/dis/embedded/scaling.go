package embedded

import (
	"net/http"
	"slices"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	// maxScalings bounds the history of a stream.
	maxScalings = 100

	// The limits of the user manual.
	maxHourlyUps   = 10
	maxHourlyDowns = 1
)

// changePartitionCount serves PUT /v2/{project}/streams/{stream}.
func (s *Server) changePartitionCount(r *request) (reply, error) {
	var body wire.ChangePartitionCountRequest
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	if body.StreamName != "" && body.StreamName != r.path[0] {
		return reply{}, invalidRequest("stream_name", body.StreamName)
	}
	if body.TargetPartitionCount < 1 {
		return reply{}, invalidRequest("target_partition_count", body.TargetPartitionCount)
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	st, err := s.streamOfPath(r, r.path[0])
	if err != nil {
		return reply{}, err
	}
	current := len(st.active)
	if err := s.checkQuota(st.project, st.meta.Settings.StreamType, body.TargetPartitionCount, current); err != nil {
		return reply{}, err
	}
	if err := s.scale(st, body.TargetPartitionCount); err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, wire.ChangePartitionCountResponse{
		StreamName:            st.name,
		CurrentPartitionCount: current,
		TargetPartitionCount:  body.TargetPartitionCount,
	})
}

// scale changes the number of ACTIVE partitions, and with it every hash range.
func (s *Server) scale(st *stream, target int) error {
	current := len(st.active)
	if target == current {
		return nil
	}
	return s.changeMeta(st, func(meta *streamMeta) error {
		if err := checkScalingLimits(s.config.ScalingLimits, meta, target > current); err != nil {
			return err
		}
		meta.Partitions = rescale(slices.Clone(meta.Partitions), target, meta.ModifiedAt)
		meta.Scalings = append(slices.Clone(meta.Scalings), wire.PartitionCountUpdate{
			CreateTimestamp: meta.ModifiedAt, SrcPartitionCount: current, TargetPartitionCount: target,
		})
		if old := len(meta.Scalings) - maxScalings; old > 0 {
			meta.Scalings = meta.Scalings[old:]
		}
		return nil
	})
}

// checkScalingLimits looks at the scalings of the hour before the change.
func checkScalingLimits(limits ScalingLimits, meta *streamMeta, up bool) error {
	ups, downs := 0, 0
	for _, u := range meta.Scalings {
		switch {
		case u.CreateTimestamp <= meta.ModifiedAt-time.Hour.Milliseconds():
		case u.TargetPartitionCount > u.SrcPartitionCount:
			ups++
		default:
			downs++
		}
	}
	if limits == ScalingAPI && ups+downs > 0 ||
		limits == ScalingManual && (up && ups >= maxHourlyUps || !up && downs >= maxHourlyDowns) {
		return refuse(wire.CodeTooManyStreamCalls, "Too many stream requests. [%s][scaling]", meta.Settings.StreamName)
	}
	return nil
}

// rescale retires the highest ACTIVE partitions, or takes back DELETED ones,
// then EXPIRED ones, and then adds new ones. Readable or not, a partition goes
// on with its numbers.
func rescale(partitions []partitionMeta, target int, now int64) []partitionMeta {
	active := activePartitions(partitions)
	for len(active) > target {
		last := &partitions[active[len(active)-1]]
		last.Status, last.RetiredAt = wire.PartitionDeleted, now
		active = active[:len(active)-1]
	}
	missing := target - len(active)
	for _, from := range []wire.PartitionStatus{wire.PartitionDeleted, wire.PartitionExpired} {
		for i := range partitions {
			if missing > 0 && partitions[i].Status == from {
				partitions[i].Status, partitions[i].RetiredAt = wire.PartitionActive, 0
				missing--
			}
		}
	}
	for range missing {
		partitions = append(partitions, partitionMeta{Status: wire.PartitionActive})
	}
	assignHashRanges(partitions)
	return partitions
}
