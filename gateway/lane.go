package gateway

import "sync"

// lane runs the jobs of one connection that must not overtake each other, one
// after the other. Its goroutine exists only while there are jobs.
type lane struct {
	mu      sync.Mutex
	jobs    []func()
	running bool
}

// run appends a job; spawn starts the goroutine when there is none.
func (l *lane) run(spawn func(func()), job func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jobs = append(l.jobs, job)
	if !l.running {
		l.running = true
		spawn(l.work)
	}
}

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
		l.jobs, l.running = nil, false
		return nil
	}
	job := l.jobs[0]
	l.jobs[0] = nil
	l.jobs = l.jobs[1:]
	return job
}
