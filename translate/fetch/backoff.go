package fetch

import (
	"math/rand/v2"
	"time"
)

// backoff is the wait after the given number of earlier ones: first, doubled
// each time up to last, less a random part of up to a fifth that keeps pollers
// from running in step.
func backoff(first, last time.Duration, earlier int) time.Duration {
	delay := last
	if earlier < 32 && first<<earlier < last {
		delay = first << earlier
	}
	return delay - rand.N(delay/5+1)
}
