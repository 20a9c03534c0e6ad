package client;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Writes records and prints them as they were acknowledged or refused. */
final class Produce {
    /**
     * @param idempotent asks for an idempotent producer, otherwise it is as the client's defaults say
     * @param rate records a second that are given to the client, 0 for all at once
     */
    static void run(String bootstrap, String topic, String codec, List<Seed.Record> records, boolean idempotent, int rate)
            throws Exception {
        Properties config = new Properties();
        config.setProperty(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        config.setProperty(ProducerConfig.COMPRESSION_TYPE_CONFIG, codec);
        config.setProperty(ProducerConfig.ACKS_CONFIG, "all");
        config.setProperty(ProducerConfig.LINGER_MS_CONFIG, "20");
        // Up to here it is the gateway that refuses.
        config.setProperty(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(2 << 20));
        if (idempotent) {
            config.setProperty("enable.idempotence", "true"); // no constant of 0.10
        }
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            long begin = System.nanoTime();
            for (Seed.Record record : records) {
                if (rate > 0) {
                    long due = begin + sent.size() * 1_000_000_000L / rate;
                    TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
                }
                sent.add(producer.send(Headers.toKafka(topic, record)));
            }
            for (int i = 0; i < records.size(); i++) {
                Seed.Record record = records.get(i);
                try {
                    RecordMetadata stored = sent.get(i).get();
                    Line.print(stored.topic(), stored.partition(), stored.offset(), stored.timestamp(),
                            record.key(), record.value(), Headers.written(record));
                } catch (ExecutionException e) {
                    Line.refused(e.getCause());
                }
            }
        }
    }

    private Produce() {}
}
