package embedded

import (
	"crypto/md5"
	"encoding/binary"
	"math"
	"sort"
	"strconv"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// hashKey is the place of a partition key in [0, 2^63-1]: the first eight
// bytes of its MD5, big-endian, without the top bit.
func hashKey(key string) int64 {
	sum := md5.Sum([]byte(key))
	return int64(binary.BigEndian.Uint64(sum[:8]) &^ signBit)
}

// parseHashKey reads an explicit_hash_key; false when it is not a number in
// [0, 2^63-1], in which case the partition key decides.
func parseHashKey(text string) (int64, bool) {
	hash, err := strconv.ParseInt(text, 10, 64)
	return hash, err == nil && hash >= 0
}

// assignHashRanges cuts the key space into equal slices for the ACTIVE
// partitions in numeric order; the last one takes the rest.
func assignHashRanges(partitions []partitionMeta) {
	active := activePartitions(partitions)
	width := int64(math.MaxInt64) / int64(max(1, len(active)))
	for slice, number := range active {
		p := &partitions[number]
		p.Low = int64(slice) * width
		p.High = p.Low + width - 1
		if slice == len(active)-1 {
			p.High = math.MaxInt64
		}
	}
}

// activePartitions lists the numbers of the writable partitions.
func activePartitions(partitions []partitionMeta) []int {
	active := make([]int, 0, len(partitions))
	for number, p := range partitions {
		if p.Status == wire.PartitionActive {
			active = append(active, number)
		}
	}
	return active
}

// partitionOf finds the ACTIVE partition whose range contains the hash.
func partitionOf(partitions []partitionMeta, active []int, hash int64) int {
	slice := sort.Search(len(active), func(i int) bool { return partitions[active[i]].High >= hash })
	return active[slice]
}
