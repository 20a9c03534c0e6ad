package oracle

import (
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AwaitReady waits until the broker at address gives out producer ids and
// coordinates groups: a broker makes the topics for that when it is first asked.
func AwaitReady(address string, timeout time.Duration) error {
	for deadline := time.Now().Add(timeout); ; time.Sleep(50 * time.Millisecond) {
		socket, err := net.Dial("tcp", address)
		if err == nil {
			_ = socket.Close()
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("nobody listens within %s: %w", timeout, err)
		}
	}
	_, err := Scenario{Name: "warm-up", Do: warmUp}.Play(address)
	return err
}

// AwaitTopic waits until all partitions of a topic can be read and written: a
// broker has answered that it is created before.
func AwaitTopic(address, topic string, partitions int) error {
	_, err := Scenario{Name: "topic", Do: func(r *Run) {
		r.prefix = "" // not one of the scenario's
		r.Usable(topic, partitions)
	}}.Play(address)
	return err
}

func warmUp(r *Run) {
	c := r.Conn("c")
	r.Eventually("producer ids", func() bool {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.Version = 4
		resp, ok := c.Ask("", req).(*kmsg.InitProducerIDResponse)
		return ok && resp.ErrorCode == 0
	})
	r.Eventually("the coordinator of transactions", func() bool {
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.Version, find.CoordinatorType, find.CoordinatorKeys = 4, 1, []string{r.Name("txn")}
		found, ok := c.Ask("", find).(*kmsg.FindCoordinatorResponse)
		return ok && found.Coordinators[0].ErrorCode == 0
	})
	r.Topic("t", 1)
	// Groups live in several partitions of the topic of offsets, which get their
	// coordinator one by one.
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		m := r.Group(name).Member(name, "t")
		r.Eventually("the coordinator of groups", func() bool {
			find := kmsg.NewPtrFindCoordinatorRequest()
			find.Version, find.CoordinatorKeys = 4, []string{m.Group.ID()}
			found, ok := c.Ask("", find).(*kmsg.FindCoordinatorResponse)
			if !ok || len(found.Coordinators) != 1 || found.Coordinators[0].ErrorCode != 0 {
				return false
			}
			committed, ok := m.Ask("", m.CommitRequest("t", 0, 0)).(*kmsg.OffsetCommitResponse)
			return ok && committed.Topics[0].Partitions[0].ErrorCode == 0
		})
	}
}
