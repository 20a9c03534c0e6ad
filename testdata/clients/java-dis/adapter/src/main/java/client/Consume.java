package client;

import com.huaweicloud.dis.adapter.kafka.clients.consumer.Consumer;
import com.huaweicloud.dis.adapter.kafka.clients.consumer.ConsumerRebalanceListener;
import com.huaweicloud.dis.adapter.kafka.clients.consumer.ConsumerRecord;
import com.huaweicloud.dis.adapter.kafka.clients.consumer.DISKafkaConsumer;
import com.huaweicloud.dis.adapter.kafka.clients.consumer.OffsetAndMetadata;
import com.huaweicloud.dis.adapter.kafka.common.TopicPartition;
import com.huaweicloud.dis.adapter.kafka.common.serialization.StringDeserializer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;

/**
 * Reads with the adapter's consumer: {@code --mode assign} (all partitions), {@code subscribe} or
 * {@code pattern}. Stops after {@code --count} records or at a signal, commits what it
 * printed and leaves the group. Prints each record and each change of its partitions.
 */
public final class Consume implements ConsumerRebalanceListener {
    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) throws Exception {
        Properties config = Adapter.config(options);
        config.setProperty("group.id", options.get("group"));
        config.setProperty("auto.offset.reset", options.get("reset", "earliest"));
        config.setProperty("enable.auto.commit", "false");
        new Consume(new DISKafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())).run(options);
    }

    private final Consumer<String, String> consumer;
    /** What was printed, as the offsets to commit. */
    private final Map<TopicPartition, OffsetAndMetadata> printed = new HashMap<>();

    private Consume(Consumer<String, String> consumer) {
        this.consumer = consumer;
    }

    private void run(Options options) {
        Stop stop = new Stop();
        try {
            choose(options);
            int count = options.number("count", Integer.MAX_VALUE);
            while (count > 0 && !stop.requested()) {
                for (ConsumerRecord<String, String> record : consumer.poll(200)) {
                    if (count-- > 0) {
                        print(record);
                    }
                }
                commit();
            }
            consumer.unsubscribe(); // close does not leave the group
            consumer.close();
        } finally {
            stop.done();
        }
    }

    private void choose(Options options) {
        String topic = options.get("topic");
        switch (options.get("mode")) {
            case "assign" -> {
                List<TopicPartition> all = new ArrayList<>();
                consumer.partitionsFor(topic).forEach(p -> all.add(new TopicPartition(topic, p.partition())));
                consumer.assign(all);
            }
            case "subscribe" -> consumer.subscribe(List.of(topic), this);
            case "pattern" -> consumer.subscribe(Pattern.compile(topic), this);
            default -> throw new IllegalArgumentException("--mode");
        }
    }

    private void print(ConsumerRecord<String, String> record) {
        Lines.print("record", record.topic(), record.partition(), record.offset(), record.key(), record.value());
        printed.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
    }

    private void commit() {
        if (!printed.isEmpty()) {
            consumer.commitSync(printed);
            printed.clear();
        }
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        commit();
        Lines.print("revoked", text(partitions));
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        Lines.print("assigned", text(partitions));
    }

    private static String text(Collection<TopicPartition> partitions) {
        return String.join(" ", partitions.stream().map(p -> p.topic() + "-" + p.partition()).sorted().toList());
    }
}
