package topics

import (
	"slices"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// confirms reports whether a description needs no other to confirm it. A stream may
// change after a list, be described, and change back before the next list, which then
// shows nothing new: so what does not fit the last list is described once more. DIS
// does not document which partitions its list counts, hence any count fits that is one
// of them, and what is described twice without a change is believed whatever the list
// shows.
func (e *entry) confirms(topic *translate.Topic) bool {
	return e.listing.fits(topic) || sameShape(e.topic, topic)
}

// fits reports whether a list that shows this may be of the same moment as the
// description.
func (l listing) fits(topic *translate.Topic) bool {
	active, readable := 0, 0
	for _, p := range topic.Partitions {
		switch p.Status {
		case wire.PartitionActive:
			active++
			readable++
		case wire.PartitionDeleted:
			readable++
		}
	}
	counted := []int{active, readable, len(topic.Partitions)}
	return l.createTime == topic.CreatedAt && l.retention == topic.RetentionHours &&
		(l.streamID == "" || l.streamID == topic.StreamID) && slices.Contains(counted, l.partitions)
}

// sameShape reports whether two descriptions differ in nothing but what the records do.
func sameShape(a, b *translate.Topic) bool {
	return a != nil && a.StreamID == b.StreamID && a.CreatedAt == b.CreatedAt && a.RetentionHours == b.RetentionHours &&
		slices.EqualFunc(a.Partitions, b.Partitions, func(p, q translate.Partition) bool { return p.Status == q.Status })
}
