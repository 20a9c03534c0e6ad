package gateway

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestFindCoordinatorForTransactions(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	for version := int16(1); version <= 4; version++ {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.Version, req.CoordinatorType, req.CoordinatorKey, req.CoordinatorKeys = version, 1, "tx", []string{"tx"}
		resp := c.ask(req).(*kmsg.FindCoordinatorResponse)
		code, message, node, port := resp.ErrorCode, resp.ErrorMessage, resp.NodeID, resp.Port
		if version >= 4 {
			one := resp.Coordinators[0]
			code, message, node, port = one.ErrorCode, one.ErrorMessage, one.NodeID, one.Port
		}
		if code != clusterAuthorizationFailed || message == nil || !strings.Contains(*message, "transactions are not supported") || node != -1 || port != -1 {
			t.Errorf("version %d: error %d, message %v, node %d, port %d", version, code, message, node, port)
		}
	}
}

func TestFindCoordinatorOfUnknownType(t *testing.T) {
	b := newBench(t)
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.Version, req.CoordinatorType = 3, 2
	if resp := dial(t, b.listen()).ask(req).(*kmsg.FindCoordinatorResponse); resp.ErrorCode != invalidRequest || resp.NodeID != -1 {
		t.Errorf("%+v", resp)
	}
}

func TestFindCoordinatorOfGroupsThatAreRefused(t *testing.T) {
	ask := func(group string, change func(*Config)) (code, node, v4code int, message string) {
		c := dial(t, newBench(t, change).listen())
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.Version, req.CoordinatorKey = 1, group
		resp := c.ask(req).(*kmsg.FindCoordinatorResponse)
		req.Version, req.CoordinatorKeys = 4, []string{group}
		one := c.ask(req).(*kmsg.FindCoordinatorResponse).Coordinators[0]
		if resp.ErrorMessage != nil {
			message = *resp.ErrorMessage
		}
		return int(resp.ErrorCode), int(resp.NodeID), int(one.ErrorCode), message
	}
	off := func(c *Config) { c.GroupsOff = true }
	short := func(c *Config) {
		c.CheckGroup = func(group string) error {
			if len(group) > 3 {
				return errors.New("too long")
			}
			return nil
		}
	}
	if code, node, v4code, message := ask("g", off); code != 30 || v4code != 30 || node != -1 || !strings.Contains(message, "--groups=off") {
		t.Errorf("off: %d %d, node %d, %q", code, v4code, node, message)
	}
	if code, node, v4code, message := ask("long", short); code != 24 || v4code != 24 || node != -1 || message != "too long" {
		t.Errorf("too long: %d %d, node %d, %q", code, v4code, node, message)
	}
	if code, node, v4code, _ := ask("g", short); code != 0 || v4code != 0 || node != 1 {
		t.Errorf("short enough: %d %d, node %d", code, v4code, node)
	}
}

func TestInitProducerID(t *testing.T) {
	b := newBench(t)
	c := dial(t, b.listen())
	for _, tc := range []struct {
		name   string
		change func(*kmsg.InitProducerIDRequest)
		code   int16
		id     int64
		epoch  int16
	}{
		{"fresh", func(*kmsg.InitProducerIDRequest) {}, 0, 4712, 0},
		{"another", func(*kmsg.InitProducerIDRequest) {}, 0, 4713, 0},
		{"with one already", func(r *kmsg.InitProducerIDRequest) { r.ProducerID, r.ProducerEpoch = 4712, 6 }, 0, 4714, 0},
		{"epoch without id", func(r *kmsg.InitProducerIDRequest) { r.ProducerEpoch = 0 }, 42, -1, -1},
		{"id without epoch", func(r *kmsg.InitProducerIDRequest) { r.ProducerID = 4712 }, 42, -1, -1},
		{"transactional", func(r *kmsg.InitProducerIDRequest) { r.TransactionalID = kmsg.StringPtr("tx") }, 53, -1, -1},
		{"transactional without a name", func(r *kmsg.InitProducerIDRequest) { r.TransactionalID = kmsg.StringPtr("") }, 42, -1, -1},
	} {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.Version = 4
		tc.change(req)
		resp := c.ask(req).(*kmsg.InitProducerIDResponse)
		if resp.ErrorCode != tc.code || resp.ProducerID != tc.id || resp.ProducerEpoch != tc.epoch {
			t.Errorf("%s: error %d, id %d, epoch %d", tc.name, resp.ErrorCode, resp.ProducerID, resp.ProducerEpoch)
		}
	}
}

func TestGroupRequestsKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := b.pipe()
		var ids []int32
		requests := []kmsg.Request{
			&kmsg.JoinGroupRequest{Version: 5}, &kmsg.SyncGroupRequest{Version: 3}, &kmsg.OffsetCommitRequest{Version: 8},
			&kmsg.OffsetFetchRequest{Version: 8}, &kmsg.HeartbeatRequest{Version: 4}, &kmsg.DescribeGroupsRequest{Version: 5},
			&kmsg.ListGroupsRequest{Version: 4}, &kmsg.DeleteGroupsRequest{Version: 2}, &kmsg.OffsetDeleteRequest{},
			&kmsg.ConsumerGroupHeartbeatRequest{Version: 1}, &kmsg.ConsumerGroupDescribeRequest{Version: 1},
			&kmsg.LeaveGroupRequest{Version: 5},
		}
		for _, req := range requests {
			ids = append(ids, c.send(req))
		}
		for i, req := range requests {
			c.receive(ids[i], req)
		}
		want := []string{"join", "sync", "commit", "offsets", "heartbeat", "describe", "list", "delete", "delete offsets",
			"consumer heartbeat", "describe consumers", "leave"}
		if !slices.Equal(b.groups.calls, want) {
			t.Errorf("the coordinator saw %v", b.groups.calls)
		}
		c.nc.Close()
		synctest.Wait()
		for i, ctx := range b.groups.contexts {
			goesOn := want[i] == "commit" || want[i] == "leave" || want[i] == "consumer heartbeat"
			if (ctx.Err() == nil) != goesOn {
				t.Errorf("%s after the connection died: context error %v", want[i], ctx.Err())
			}
		}
	})
}
