package client;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Reads {@code --count} records with Kafka's consumer, {@code --mode assign} (all partitions),
 * {@code subscribe} or {@code pattern}, and commits exactly those. {@code --metadata-age} is how old
 * metadata may get, in ms; default Kafka's own five minutes. {@code --auto-commit true} also commits
 * on the way, as Kafka's own default does.
 */
public final class Consume {
    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) throws Exception {
        Properties config = new Properties();
        config.setProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, options.get("bootstrap"));
        config.setProperty(ConsumerConfig.GROUP_ID_CONFIG, options.get("group"));
        config.setProperty(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, options.get("reset", "earliest"));
        config.setProperty(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, options.get("auto-commit", "false"));
        config.setProperty(ConsumerConfig.METADATA_MAX_AGE_CONFIG, options.get("metadata-age", "300000"));
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            choose(consumer, options);
            Map<TopicPartition, OffsetAndMetadata> read = new HashMap<>();
            for (int count = options.number("count", 0); count > 0; ) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    if (count-- > 0) {
                        Lines.print("record", record.topic(), record.partition(), record.offset(), record.key(), record.value());
                        read.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
                    }
                }
            }
            consumer.commitSync(read);
        }
    }

    private static void choose(KafkaConsumer<String, String> consumer, Options options) {
        String topic = options.get("topic");
        switch (options.get("mode")) {
            case "assign" -> consumer.assign(consumer.partitionsFor(topic).stream()
                    .map(p -> new TopicPartition(topic, p.partition())).toList());
            case "subscribe" -> consumer.subscribe(List.of(topic));
            case "pattern" -> consumer.subscribe(Pattern.compile(topic));
            default -> throw new IllegalArgumentException("--mode");
        }
    }
}
