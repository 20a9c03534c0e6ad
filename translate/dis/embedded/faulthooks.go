package embedded

import (
	"net/http"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// process serves a request, with the faults that any call can have around it.
func (s *Server) process(route *route, r *request) (answer reply, err error) {
	var delay time.Duration
	if fault, hit := s.faults.hit(FaultLatency, r.operation); hit {
		delay = time.Duration(fault.Latency)
	}
	if err := s.refusedByFault(r.operation); err != nil {
		return reply{delay: delay}, err
	}
	answer, err = route.serve(s, r)
	answer.delay = delay
	if err == nil {
		_, answer.lost = s.faults.hit(FaultLostReply, r.operation)
	}
	return answer, err
}

// refusedByFault is the answer of the faults that leave a request undone.
func (s *Server) refusedByFault(operation string) error {
	if fault, hit := s.faults.hit(FaultError, operation); hit {
		return &apiError{max(fault.Status, http.StatusInternalServerError), wire.CodeInternal, "System error. [fault]"}
	}
	if _, hit := s.faults.hit(FaultTooMany, operation); hit {
		return &apiError{http.StatusTooManyRequests, wire.CodeThrottled, "Traffic control limit is exceeded. [fault]"}
	}
	if _, hit := s.faults.hit(FaultThrottle, operation); hit {
		return refuse(wire.CodeThrottled, "Traffic control limit is exceeded. [fault]")
	}
	if _, hit := s.faults.hit(FaultForbidden, operation); hit {
		return &apiError{http.StatusForbidden, wire.CodeForbidden, "Invalid RBAC. [fault]"}
	}
	return nil
}

// refuseRecordsByFault is what faults do to the records of a put, before the
// others are stored. It also says how many sequence numbers each partition
// leaves out.
func (s *Server) refuseRecordsByFault(st *stream, results []putResult) (gap int64) {
	if s.faults == nil {
		return 0
	}
	accepted := acceptedPerPartition(results)
	from := s.suffixFault(accepted)
	holes := s.holeFault(accepted)
	seen := map[*partition]int{}
	for i := range results {
		p := results[i].partition
		if results[i].refused != nil {
			continue
		}
		index := seen[p]
		seen[p]++
		if (from >= 0 && index >= from) || (holes && accepted[p] > 1 && index == (accepted[p]-1)/2) {
			results[i].refused = throttled(st.name, p.id)
		}
	}
	if len(acceptedPerPartition(results)) > 0 {
		if fault, hit := s.faults.hit(FaultSequenceGaps, "PutRecords"); hit {
			return fault.by()
		}
	}
	return 0
}

func acceptedPerPartition(results []putResult) map[*partition]int {
	accepted := map[*partition]int{}
	for i := range results {
		if results[i].refused == nil {
			accepted[results[i].partition]++
		}
	}
	return accepted
}

func mostIn(accepted map[*partition]int) int {
	most := 0
	for _, n := range accepted {
		most = max(most, n)
	}
	return most
}

// suffixFault is the index from which records are refused, -1 for none.
func (s *Server) suffixFault(accepted map[*partition]int) int {
	if fault, hit := s.faults.hitAbove(FaultThrottleSuffix, "PutRecords", mostIn(accepted)); hit {
		return fault.From
	}
	return -1
}

func (s *Server) holeFault(accepted map[*partition]int) bool {
	if mostIn(accepted) < 2 {
		return false
	}
	_, hit := s.faults.hit(FaultHole, "PutRecords")
	return hit
}

// staleBy is how many records the ends of partitions are shown too low, 0 for
// none.
func (s *Server) staleBy(partitions []*partition) int64 {
	for _, p := range partitions {
		if at := p.position(); at.Next > at.Oldest {
			if fault, hit := s.faults.hit(FaultStaleEnd, "DescribeStream"); hit {
				return fault.by()
			}
			return 0
		}
	}
	return 0
}
