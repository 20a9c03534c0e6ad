package client;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Sends the records of the standard input (key or nothing, value) with Kafka's producer; with {@code --partitioner},
 * a class, to the partitions that it chooses.
 */
public final class Produce {
    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) throws Exception {
        Properties config = new Properties();
        config.setProperty(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, options.get("bootstrap"));
        String partitioner = options.get("partitioner", "");
        if (!partitioner.isEmpty()) {
            config.setProperty(ProducerConfig.PARTITIONER_CLASS_CONFIG, partitioner);
        }
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (String[] words : Lines.input()) {
                String key = words[0].isEmpty() ? null : words[0];
                sent.add(producer.send(new ProducerRecord<>(options.get("topic"), key, words[1])));
            }
            for (Future<RecordMetadata> one : sent) {
                RecordMetadata stored = one.get();
                Lines.print("sent", stored.topic(), stored.partition(), stored.offset());
            }
        }
    }
}
