package client;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** Records have headers since 0.11. */
final class Headers {
    static ProducerRecord<byte[], byte[]> toKafka(String topic, Seed.Record record) {
        List<Header> headers = new ArrayList<>();
        for (Seed.Pair pair : record.headers()) {
            headers.add(new RecordHeader(pair.name(), pair.value()));
        }
        return new ProducerRecord<>(topic, record.partition(), record.timestamp(), record.key(), record.value(), headers);
    }

    static List<Seed.Pair> written(Seed.Record record) {
        return record.headers();
    }

    static List<Seed.Pair> read(ConsumerRecord<byte[], byte[]> record) {
        List<Seed.Pair> pairs = new ArrayList<>();
        for (Header header : record.headers()) {
            pairs.add(new Seed.Pair(header.key(), header.value()));
        }
        return pairs;
    }

    private Headers() {}
}
