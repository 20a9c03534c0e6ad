package gateway

import "golang.org/x/sync/errgroup"

// inParallel calls do(0) to do(n-1), at most limit at a time, and returns when
// all have. A panic in one becomes the caller's, since nobody could recover it
// in a goroutine of its own.
func inParallel(n, limit int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	var work errgroup.Group
	work.SetLimit(limit)
	for i := range n {
		work.Go(func() (err error) {
			defer func() {
				if value := recover(); value != nil {
					err = asPanicked(value)
				}
			}()
			do(i)
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		panic(err)
	}
}
