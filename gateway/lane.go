package gateway

import "sync"

// lane runs the jobs of one connection in the order in which they came, one
// after the other or, where it is wider, a few at a time. Its goroutines exist
// only while there are jobs.
type lane struct {
	// width is how many jobs run at a time; 0 is 1.
	width int

	mu      sync.Mutex
	jobs    []func()
	running int
}

// run appends a job; spawn starts a goroutine when there is none for it.
func (l *lane) run(spawn func(func()), job func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jobs = append(l.jobs, job)
	if l.running < max(l.width, 1) {
		l.running++
		spawn(l.work)
	}
}

// claim takes a place in the lane when one is free, for a job that its caller
// begins itself; work gives the place back.
func (l *lane) claim() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running >= max(l.width, 1) {
		return false
	}
	l.running++
	return true
}

// work runs jobs until there are none, and then gives its place back.
func (l *lane) work() {
	for {
		job := l.take()
		if job == nil {
			return
		}
		job()
	}
}

func (l *lane) take() func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.jobs) == 0 {
		l.jobs = nil
		l.running--
		return nil
	}
	job := l.jobs[0]
	l.jobs[0] = nil
	l.jobs = l.jobs[1:]
	return job
}
