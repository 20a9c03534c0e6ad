//go:build !live

package dis_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// TestContractOverTime holds the embedded DIS to what is documented of cursors,
// records and partitions that grow old, which with a real service takes days.
func TestContractOverTime(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	clock.Store(time.Now().UnixMilli())
	pass := func(d time.Duration) { clock.Add(d.Milliseconds()) }
	c := &contract{stream: "s", app: "a", target: target{ctx: t.Context(), patience: 10 * time.Second}}
	c.config = startEmbedded(t, embedded.Config{
		Now: func() time.Time { return time.UnixMilli(clock.Load()) }, ClockSkew: -1, SweepInterval: 5 * time.Millisecond,
	})
	c.client = connect(t, c.config)
	for _, err := range []error{
		c.client.CreateStream(c.ctx, wire.CreateStreamRequest{StreamName: c.stream, PartitionCount: 2}), c.client.CreateApp(c.ctx, c.app),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c.put(t, to(0, "a"), to(0, "b"))
	if err := c.client.CommitCheckpoint(c.ctx, c.commit(c.stream, 0, 1)); err != nil {
		t.Fatal(err)
	}
	must[*wire.ChangePartitionCountResponse](t)(c.client.ChangePartitionCount(c.ctx, c.stream, 1))

	oldest := must[string](t)(c.client.GetCursor(c.ctx, at(c.stream, 0, wire.CursorTrimHorizon)))
	pass(wire.CursorLifetime + time.Second)
	_, err := c.client.GetRecords(c.ctx, dis.GetRecordsRequest{Cursor: oldest})
	refused(t, err, wire.CodeCursorExpired, "")

	pass(24*time.Hour - wire.CursorLifetime - 2*time.Second)
	oldest = must[string](t)(c.client.GetCursor(c.ctx, at(c.stream, 0, wire.CursorTrimHorizon)))
	pass(2 * time.Second)
	c.waitForExpiry(t, 2)
	_, err = c.client.GetRecords(c.ctx, dis.GetRecordsRequest{Cursor: oldest})
	refused(t, err, wire.CodeRecordExpired, "[0][ should be within ][2][ ][2]")
	_, err = c.client.GetCursor(c.ctx, atNumber(c.stream, 0, wire.CursorAtSequence, 1))
	refused(t, err, wire.CodeSequenceOutOfRange, "Sequence_number out of range. [1][ should be within ][2][ ][2]")
	refused(t, c.client.CommitCheckpoint(c.ctx, c.commit(c.stream, 0, 1)), wire.CodeSequenceOutOfRange, "")
	kept := must[*dis.Checkpoint](t)(c.client.GetCheckpoint(c.ctx, c.key(0)))
	equal(t, "checkpoint", kept.SequenceNumber, 1)
	equal(t, "number of the next record", c.put(t, to(0, "c")), 2)

	described := must[*wire.DescribeStreamResponse](t)(c.client.DescribeStream(c.ctx, c.stream))
	equal(t, "status of the retired partition", described.Partitions[1].Status, wire.PartitionExpired)
	equal(t, "that it has no numbers", described.Partitions[1].SequenceNumberRange == nil, true)
	equal(t, "readable partitions", described.ReadablePartitionCount, 1)
	_, err = c.client.GetCursor(c.ctx, at(c.stream, 1, wire.CursorTrimHorizon))
	refused(t, err, wire.CodePartitionExpired, "")
	states := must[[]wire.ConsumingState](t)(c.client.ConsumerState(c.ctx, c.app, c.stream, ""))
	equal(t, "status in the consumer state", states[1].Status, wire.PartitionExpired)
}

// waitForExpiry waits until partition 0 begins at a number and the other
// partition has gone as well.
func (c *contract) waitForExpiry(t *testing.T, oldest int64) {
	t.Helper()
	deadline := time.Now().Add(c.patience)
	for {
		described := must[*wire.DescribeStreamResponse](t)(c.client.DescribeStream(c.ctx, c.stream))
		if numbersOf(t, described, 0).Oldest == oldest && described.Partitions[1].Status == wire.PartitionExpired {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing expires: %+v", described)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestContractOfIdentities holds the client and the embedded DIS together in who
// may call.
func TestContractOfIdentities(t *testing.T) {
	t.Parallel()
	config := startEmbedded(t, embedded.Config{
		AccessKeys:     map[string]string{embedded.DevAccessKey: embedded.DevSecretKey, "temporary": "secret"},
		SecurityTokens: map[string]string{"temporary": "hour ticket"},
		Tokens:         []string{"day ticket"},
	})
	keys := func(accessKey, secretKey, token string) func(*dis.Config) {
		return func(c *dis.Config) {
			c.Credentials = dis.StaticCredentials(dis.Keys{AccessKey: accessKey, SecretKey: secretKey, SecurityToken: token})
		}
	}
	token := func(text string) func(*dis.Config) {
		return func(c *dis.Config) { c.Credentials, c.Tokens = nil, dis.StaticToken(text) }
	}
	tests := []struct {
		name string
		as   func(*dis.Config)
		code string
	}{
		{"keys", keys(embedded.DevAccessKey, embedded.DevSecretKey, ""), ""},
		{"wrong secret", keys(embedded.DevAccessKey, "wrong", ""), wire.CodeSignatureMismatch},
		{"unknown key", keys("nobody", embedded.DevSecretKey, ""), wire.CodeAccessKeyInvalid},
		{"temporary keys", keys("temporary", "secret", "hour ticket"), ""},
		{"temporary keys without their token", keys("temporary", "secret", ""), wire.CodeAccessKeyInvalid},
		{"token", token("day ticket"), ""},
		{"unknown token", token("forged"), wire.CodeTokenInvalid},
		{"another region", func(c *dis.Config) { c.Region = "elsewhere" }, wire.CodeRegionInvalid},
		{"another project", func(c *dis.Config) { c.ProjectID = "elsewhere" }, wire.CodeProjectInvalid},
	}
	for _, test := range tests {
		for _, signing := range []dis.Signing{dis.SigningScoped, dis.SigningUnscoped} {
			t.Run(test.name+" "+string(signing), func(t *testing.T) {
				settings := config
				settings.Signing = signing
				test.as(&settings)
				_, err := connect(t, settings).ListStreams(t.Context())
				switch {
				case test.code == "" || test.name == "another region" && signing == dis.SigningUnscoped: // the region plays no part there
					if err != nil {
						t.Error(err)
					}
				default:
					refused(t, err, test.code, "")
				}
				if failure, is := err.(*dis.Error); is && test.code != wire.CodeProjectInvalid {
					equal(t, "status", failure.HTTPStatus, http.StatusUnauthorized)
				}
			})
		}
	}
}
