package client;

import java.time.Duration;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** The only wait since 4.0 is a duration; it came with 2.0. */
final class Poll {
    static ConsumerRecords<byte[], byte[]> once(KafkaConsumer<byte[], byte[]> consumer) {
        return consumer.poll(Duration.ofMillis(200));
    }

    private Poll() {}
}
