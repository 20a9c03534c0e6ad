package fetch

// HighWatermark is the end of a partition as far as it is known without asking
// DIS; false for a partition that nobody wrote to or read from through this
// gateway.
func (e *Engine) HighWatermark(topic string, partition int32) (offset int64, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.streams[e.latest[topic]]
	if s == nil {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.partitions[partition]
	if p == nil {
		return 0, false
	}
	return p.high, true
}
