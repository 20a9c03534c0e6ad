package embedded

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// value computes a metric from the counts of a minute.
type value func(*counts) int64

func total(c counter) value { return func(n *counts) int64 { return n[c] } }

// mean is in ms, rounded up so that it is 0 only where nothing happened.
func mean(micros, requests counter) value {
	return func(n *counts) int64 {
		if n[requests] == 0 {
			return 0
		}
		return (n[micros]/n[requests] + 999) / 1000
	}
}

var streamLabels = map[string]value{
	wire.MetricPutBytes:      total(countPutBytes),
	wire.MetricGetBytes:      total(countGetBytes),
	wire.MetricPutRecords:    total(countPutRecords),
	wire.MetricGetRecords:    total(countGetRecords),
	wire.MetricPutLatency:    mean(countPutMicros, countPutRequests),
	wire.MetricGetLatency:    mean(countGetMicros, countGetRequests),
	wire.MetricPutSuccesses:  total(countPutRequests),
	wire.MetricGetSuccesses:  total(countGetRequests),
	wire.MetricPutsThrottled: total(countPutThrottled),
	wire.MetricGetsThrottled: total(countGetThrottled),
}

var partitionLabels = map[string]value{
	wire.MetricPartitionPutBytes:   total(countPutBytes),
	wire.MetricPartitionGetBytes:   total(countGetBytes),
	wire.MetricPartitionPutRecords: total(countPutRecords),
	wire.MetricPartitionGetRecords: total(countGetRecords),
}

// streamMetrics serves GET /v2/{project}/streams/{stream}/metrics.
func (s *Server) streamMetrics(r *request) (reply, error) {
	st, unlock, err := s.openStreamOfPath(r)
	if err != nil {
		return reply{}, err
	}
	defer unlock()
	return s.answerMetrics(r, streamLabels, st.number, wholeStream, &st.meter)
}

// partitionMetrics serves GET /v2/{project}/streams/{stream}/partitions/{partition}/metrics.
func (s *Server) partitionMetrics(r *request) (reply, error) {
	st, unlock, err := s.openStreamOfPath(r)
	if err != nil {
		return reply{}, err
	}
	defer unlock()
	p, err := st.listed(r.path[1])
	if err != nil {
		return reply{}, err
	}
	return s.answerMetrics(r, partitionLabels, st.number, uint32(p.number), &p.meter)
}

func (s *Server) openStreamOfPath(r *request) (*stream, func(), error) {
	st, err := s.streamOfPath(r, r.path[0])
	if err != nil {
		return nil, nil, err
	}
	unlock, err := st.open()
	return st, unlock, err
}

// answerMetrics has a point for each minute of the period that has begun, also
// for those in which nothing happened. No document says where points lie or the
// unit of their time: here it is the begin of the minute in ms, as in most of
// the API.
func (s *Server) answerMetrics(r *request, known map[string]value, stream uint64, partition uint32, m *meter) (reply, error) {
	labels, isList, err := readLabels(r.query, known)
	if err != nil {
		return reply{}, err
	}
	from, to, err := s.readPeriod(r.query)
	if err != nil {
		return reply{}, err
	}
	minutes, err := s.readMetrics(stream, partition, m, from, to)
	if err != nil {
		return reply{}, err
	}
	list := make([]wire.Metric, len(labels))
	for i, label := range labels {
		list[i] = wire.Metric{Label: label, DataPoints: make([]wire.DataPoint, 0, max(0, to-from))}
		for minute := from; minute < to; minute++ {
			c := minutes[minute]
			list[i].DataPoints = append(list[i].DataPoints, wire.DataPoint{Timestamp: minute * 60_000, Value: known[label](&c)})
		}
	}
	if isList {
		return jsonReply(http.StatusOK, wire.MetricsResponse{MetricsList: list})
	}
	return jsonReply(http.StatusOK, wire.MetricsResponse{Metrics: &list[0]})
}

// readLabels prefers the list when a request has both.
func readLabels(q query, known map[string]value) (labels []string, isList bool, err error) {
	text := q.get("label_list")
	if isList = text != ""; !isList {
		text = q.get("label")
	}
	for label := range strings.SplitSeq(text, ",") {
		label = strings.TrimSpace(label)
		if known[label] == nil || (!isList && len(labels) > 0) {
			return nil, false, refuse(wire.CodeInvalidLabel, "Invalid label. [%s]", text)
		}
		if !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	return labels, isList, nil
}

// readPeriod gives the minutes of [from, to) that a request asks for and that
// have begun.
func (s *Server) readPeriod(q query) (from, to int64, err error) {
	start, wrongStart := strconv.ParseInt(q.get("start_time"), 10, 64)
	end, wrongEnd := strconv.ParseInt(q.get("end_time"), 10, 64)
	const maxSeconds = 1 << 40 // far behind every date, and no overflow
	if wrongStart != nil || wrongEnd != nil || start < 0 || end > maxSeconds || start > end {
		return 0, 0, refuse(wire.CodeInvalidPeriod, "Invalid monitoring period. [%s][%s]", q.get("start_time"), q.get("end_time"))
	}
	if seconds := int64(wire.MaxMetricsWindow.Seconds()); end-start > seconds {
		return 0, 0, refuse(wire.CodePeriodTooLong, "Monitoring period is longer than 7 days. [%d][%d]", end-start, seconds)
	}
	return start / 60, min(end/60, minuteOf(s.now())) + 1, nil
}
