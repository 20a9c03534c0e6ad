package client;

import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Times Kafka's producer at full load, with its default settings or another --batch-size. */
public final class ProduceLoad {
    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) throws Exception {
        Properties config = new Properties();
        config.setProperty(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, options.get("bootstrap"));
        int batchSize = options.number("batch-size", 0);
        if (batchSize > 0) {
            config.setProperty(ProducerConfig.BATCH_SIZE_CONFIG, Integer.toString(batchSize));
        }
        byte[][] values = Throughput.values(options.number("size", 0));
        int partitions = options.number("partitions", 1);
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            Throughput.measure(options, (topic, count) -> {
                Throughput.Acknowledgements stored = new Throughput.Acknowledgements(count);
                for (int i = 0; i < count; i++) {
                    producer.send(new ProducerRecord<>(topic, i % partitions, null, values[i % values.length]),
                            (where, refused) -> stored.one(refused));
                }
                producer.flush();
                stored.await();
            });
        }
    }
}
