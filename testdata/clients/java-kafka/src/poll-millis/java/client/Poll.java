package client;

import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** The only wait before 2.0 is in milliseconds. */
final class Poll {
    static ConsumerRecords<byte[], byte[]> once(KafkaConsumer<byte[], byte[]> consumer) {
        return consumer.poll(200);
    }

    private Poll() {}
}
