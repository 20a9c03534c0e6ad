package client;

import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Records have no headers before 0.11. */
final class Headers {
    static ProducerRecord<byte[], byte[]> toKafka(String topic, Seed.Record record) {
        return new ProducerRecord<>(topic, record.partition(), record.timestamp(), record.key(), record.value());
    }

    static List<Seed.Pair> written(Seed.Record record) {
        return null;
    }

    static List<Seed.Pair> read(ConsumerRecord<byte[], byte[]> record) {
        return null;
    }

    private Headers() {}
}
