package main

import (
	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
)

// checkGroup tells why DIS could not keep a group by its name.
func (s gatewaySettings) checkGroup(group string) error {
	_, err := offsets.AppName(group, s.DISAppNameMax)
	return err
}

// coordinator makes the coordinator of the consumer groups.
func (s gatewaySettings) coordinator(store gateway.OffsetStore, topics gateway.GroupTopics, changed func(groupcoord.ForeignChange), logger zerolog.Logger) *groupcoord.Coordinator {
	return groupcoord.New(groupcoord.Config{
		Off:                   s.Groups == "off",
		CheckGroup:            s.checkGroup,
		InitialRebalanceDelay: s.InitialRebalanceDelay,
		MaxGroupSize:          s.MaxGroupSize,
		AddedFromReset:        s.AddedPartitions == "reset",
		Topics:                topics,

		ConsumerSessionTimeout:    s.ConsumerSessionTimeout,
		ConsumerHeartbeatInterval: s.ConsumerHeartbeatInterval,

		ForeignChange: changed,
		Logger:        logger,
	}, store, groupcoord.NewMemoryStore(), new(groupcoord.LocalOwners))
}
