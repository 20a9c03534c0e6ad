package status

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// BenchmarkPage makes the page anew each time, with so many clients, topics and groups
// each. The rate of its calls is once a second at most.
func BenchmarkPage(b *testing.B) {
	for _, n := range []int{10, 1000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := crowded(n).status()
			mux := http.NewServeMux()
			s.Register(mux)
			for b.Loop() {
				s.latest = nil
				answer := httptest.NewRecorder()
				mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
				b.ReportMetric(float64(answer.Body.Len()), "bytes")
			}
		})
	}
}

// BenchmarkSample takes a sample of the traffic of so many topics, as happens every two
// seconds all the time.
func BenchmarkSample(b *testing.B) {
	s := crowded(1000).status()
	for b.Loop() {
		s.rates.take(time.Now())
	}
}
