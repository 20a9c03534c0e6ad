package client;

import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads all partitions of topics and prints the records. */
final class Consume {
    static void run(String bootstrap, List<String> topics, int count) {
        Properties config = new Properties();
        config.setProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        config.setProperty(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        config.setProperty(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(topics.stream()
                    .flatMap(topic -> consumer.partitionsFor(topic).stream())
                    .map(p -> new TopicPartition(p.topic(), p.partition()))
                    .toList());
            for (int read = 0; read < count; ) {
                for (ConsumerRecord<byte[], byte[]> record : Poll.once(consumer)) {
                    Line.print(record.topic(), record.partition(), record.offset(), record.timestamp(),
                            record.key(), record.value(), Headers.read(record));
                    read++;
                }
            }
        }
    }

    private Consume() {}
}
