package gosdkv3

import (
	"testing"

	"github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2/model"
)

func update(name string, change func(*model.UpdateStreamReq)) *model.UpdateStreamRequest {
	body := &model.UpdateStreamReq{StreamName: name}
	change(body)
	return &model.UpdateStreamRequest{StreamName: name, Body: body}
}

func TestUpdateStream(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	created := describe(t, c, "s")
	succeed(t, 200, c.UpdateStream, update("s", func(r *model.UpdateStreamReq) { r.DataDuration = new(int32(48)) }))
	got := describe(t, c, "s")
	equal(t, "retention", *got.RetentionPeriod, 48)
	equal(t, "data type", got.DataType.Value(), "BLOB")

	succeed(t, 200, c.UpdateStream, update("s", func(r *model.UpdateStreamReq) {
		r.DataType = new(model.GetUpdateStreamReqDataTypeEnum().JSON)
		r.DataSchema = new(`{"type":"record","name":"row","fields":[{"name":"a","type":"string"}]}`)
		r.AutoScaleEnabled = new(true)
		r.AutoScaleMinPartitionCount = new(int64(1))
		r.AutoScaleMaxPartitionCount = new(int64(5))
	}))
	got = describe(t, c, "s")
	equal(t, "retention is kept", *got.RetentionPeriod, 48)
	equal(t, "data type", got.DataType.Value(), "JSON")
	equal(t, "auto scaling", *got.AutoScaleEnabled, true)
	equal(t, "minimum", *got.AutoScaleMinPartitionCount, 1)
	equal(t, "maximum", *got.AutoScaleMaxPartitionCount, 5)
	equal(t, "id", *got.StreamId, *created.StreamId)
	if got.DataSchema == nil || *got.DataSchema == "" {
		t.Error("the schema is not stored")
	}
	if *got.LastModifiedTime < *created.LastModifiedTime {
		t.Errorf("last modified at %d, before that at %d", *got.LastModifiedTime, *created.LastModifiedTime)
	}

	succeed(t, 200, c.UpdateStream, update("s", func(r *model.UpdateStreamReq) { r.AutoScaleEnabled = new(false) }))
	if got = describe(t, c, "s"); got.AutoScaleEnabled != nil && *got.AutoScaleEnabled {
		t.Error("auto scaling is still on")
	}
}

func TestUpdateStreamRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	tests := []struct {
		code, message string
		change        func(*model.UpdateStreamReq)
	}{
		{"DIS.4200", "data_duration", func(r *model.UpdateStreamReq) { r.DataDuration = new(int32(1)) }},
		{"DIS.4200", "data_duration", func(r *model.UpdateStreamReq) { r.DataDuration = new(int32(1000)) }},
		{"DIS.4200", "auto_scale", func(r *model.UpdateStreamReq) {
			r.AutoScaleEnabled, r.AutoScaleMinPartitionCount, r.AutoScaleMaxPartitionCount = new(true), new(int64(5)), new(int64(2))
		}},
		{"DIS.4360", "", func(r *model.UpdateStreamReq) { r.DataSchema = new("no schema") }},
		{"DIS.4200", "stream_name", func(r *model.UpdateStreamReq) { r.StreamName = "other" }},
	}
	for _, test := range tests {
		refuse(t, test.code, test.message, c.UpdateStream, update("s", test.change))
	}
	nothing := func(*model.UpdateStreamReq) {}
	refuse(t, "DIS.4301", "Stream does not exist. [none][", c.UpdateStream, update("none", nothing))
	refuse(t, "DIS.4202", "", c.UpdateStream, &model.UpdateStreamRequest{StreamName: "s"})
	equal(t, "retention", *describe(t, c, "s").RetentionPeriod, 24)
}

// The SDK reads the grants of a stream and has no call to make one.
func TestPolicies(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	policies := succeed(t, 200, c.ListPolicies, &model.ListPoliciesRequest{StreamName: "s"})
	equal(t, "stream id", *policies.StreamId, streamID(t, c, "s"))
	if policies.Rules != nil && len(*policies.Rules) != 0 {
		t.Errorf("a new stream has the rules %v", *policies.Rules)
	}
	refuse(t, "DIS.4301", "Stream does not exist. [none][", c.ListPolicies, &model.ListPoliciesRequest{StreamName: "none"})
}
