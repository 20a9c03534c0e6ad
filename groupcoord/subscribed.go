package groupcoord

// consumerType is the protocol type of consumers, whose metadata and assignments
// the coordinator can read. To all other types they are bytes.
const consumerType = "consumer"

// noteSubscribed keeps the topics of the members of a generation that begins. A
// later rebalance changes them only when it is complete.
func (g *group) noteSubscribed() {
	g.subscribed = nil
	if g.protocolType != consumerType || g.protocol == "" {
		return
	}
	topics := make(map[string]bool)
	for _, m := range g.members.list {
		subscription, err := readSubscription(m.metadata(g.protocol))
		if err != nil {
			return // a client of its own kind: nobody knows what it reads
		}
		for _, topic := range subscription.Topics {
			topics[topic] = true
		}
	}
	g.subscribed = topics
}

// subscribes reports whether a member reads the topic, or could: before the first
// generation, and where the metadata cannot be read, every topic.
func (g *group) subscribes(topic string) bool {
	if g.state == empty {
		return false
	}
	if g.consumer != nil {
		return g.consumerSubscribes(topic)
	}
	return g.subscribed == nil || g.subscribed[topic]
}
