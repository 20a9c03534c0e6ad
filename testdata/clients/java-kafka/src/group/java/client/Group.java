package client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A member of a group, of the consumer protocol unless a setting says otherwise, until its input
 * ends; then it leaves. Arguments: bootstrap, group, "topic" or "pattern", its name, and settings
 * as key=value. Prints "assigned" and all it has after each change, "record" with topic, partition,
 * offset and value, and "committed" with topic, partition and offset. Commits after every batch; what
 * a rebalance has overtaken is "uncommitted", and tried again as long as the partition stays.
 */
public final class Group {
    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        config.setProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, args[0]);
        config.setProperty(ConsumerConfig.GROUP_ID_CONFIG, args[1]);
        config.setProperty(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "consumer");
        config.setProperty(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        config.setProperty(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        for (int i = 4; i < args.length; i++) {
            String[] setting = args[i].split("=", 2);
            config.setProperty(setting[0], setting[1]);
        }
        AtomicBoolean ended = new AtomicBoolean();
        Thread watcher = new Thread(() -> awaitEnd(ended));
        watcher.setDaemon(true);
        watcher.start();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            Listener listener = new Listener(consumer);
            if (args[2].equals("pattern")) {
                consumer.subscribe(new SubscriptionPattern(args[3]), listener);
            } else {
                consumer.subscribe(List.of(args[3]), listener);
            }
            while (!ended.get()) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(200));
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    System.out.println("record " + record.topic() + " " + record.partition() + " " + record.offset()
                            + " " + new String(record.value(), StandardCharsets.UTF_8));
                }
                listener.pending.putAll(records.nextOffsets());
                if (!listener.pending.isEmpty()) {
                    commit(consumer, listener.pending);
                }
            }
        }
    }

    private static void commit(KafkaConsumer<?, ?> consumer, Map<TopicPartition, OffsetAndMetadata> ends) {
        String outcome = "committed";
        String reason = "";
        try {
            consumer.commitSync(ends);
        } catch (CommitFailedException | RebalanceInProgressException e) {
            outcome = "uncommitted";
            reason = " " + e.getClass().getSimpleName();
        }
        for (Map.Entry<TopicPartition, OffsetAndMetadata> end : ends.entrySet()) {
            System.out.println(outcome + " " + end.getKey().topic() + " " + end.getKey().partition() + " "
                    + end.getValue().offset() + reason);
        }
        if (reason.isEmpty()) {
            ends.clear();
        }
    }

    private static void awaitEnd(AtomicBoolean ended) {
        try {
            while (System.in.read() >= 0) {
                // only its end counts
            }
        } catch (java.io.IOException e) {
            System.err.println(e);
        }
        ended.set(true);
    }

    /** Prints what the member has, and knows what of it is to be committed. */
    private static final class Listener implements ConsumerRebalanceListener {
        private final KafkaConsumer<?, ?> consumer;
        private final Map<TopicPartition, OffsetAndMetadata> pending = new HashMap<>();

        Listener(KafkaConsumer<?, ?> consumer) {
            this.consumer = consumer;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> added) {
            print(List.of());
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> removed) {
            print(removed);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> removed) {
            print(removed);
        }

        private void print(Collection<TopicPartition> without) {
            pending.keySet().removeAll(without);
            StringBuilder line = new StringBuilder("assigned");
            for (TopicPartition p : consumer.assignment()) {
                if (!without.contains(p)) {
                    line.append(' ').append(p.topic()).append('/').append(p.partition());
                }
            }
            System.out.println(line);
        }
    }

    private Group() {}
}
