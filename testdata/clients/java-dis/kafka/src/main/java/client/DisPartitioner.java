package client;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.common.Cluster;

/**
 * Sends a key to the partition to which DIS sends it, as producers with the DIS SDKs and the DIS Kafka adapter
 * leave it to do: by the first eight bytes of the key's MD5. For streams that were never scaled down, since DIS
 * shares the keys out among the partitions that can be written.
 */
public final class DisPartitioner implements Partitioner {
    @Override
    public int partition(String topic, Object key, byte[] keyBytes, Object value, byte[] valueBytes, Cluster cluster) {
        int partitions = cluster.partitionCountForTopic(topic);
        if (keyBytes == null) {
            return ThreadLocalRandom.current().nextInt(partitions);
        }
        long hash = ByteBuffer.wrap(md5(keyBytes)).getLong() & Long.MAX_VALUE;
        return (int) Math.min(hash / (Long.MAX_VALUE / partitions), partitions - 1);
    }

    private static byte[] md5(byte[] key) {
        try {
            return MessageDigest.getInstance("MD5").digest(key);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has MD5", e);
        }
    }

    @Override
    public void configure(Map<String, ?> configs) {}

    @Override
    public void close() {}
}
