package offsets

import "sync"

// knownApps are the apps that a commit was stored for. Of a request with many
// commits for another one the first goes alone: if the app does not exist, it is
// created before the rest is sent, and they are not all refused.
type knownApps struct {
	mu   sync.Mutex
	apps map[string]bool
}

// maxKnownApps bounds the memory; those forgotten cost a little time.
const maxKnownApps = 10_000

func (k *knownApps) note(app string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.apps == nil || len(k.apps) >= maxKnownApps {
		k.apps = map[string]bool{}
	}
	k.apps[app] = true
}

func (k *knownApps) forget(app string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.apps, app)
}

// firstAlone is what the others of n commits wait for.
func (k *knownApps) firstAlone(app string, n int) gate {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n < 2 || k.apps[app] {
		return nil
	}
	return make(gate)
}

// gate is open when it is nil or closed.
type gate chan struct{}

func (g gate) done() {
	if g != nil {
		close(g)
	}
}

func (g gate) wait() {
	if g != nil {
		<-g
	}
}
