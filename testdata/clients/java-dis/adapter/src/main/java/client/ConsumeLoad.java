package client;

import com.huaweicloud.dis.adapter.kafka.clients.consumer.Consumer;
import com.huaweicloud.dis.adapter.kafka.clients.consumer.DISKafkaConsumer;
import com.huaweicloud.dis.adapter.kafka.common.TopicPartition;
import com.huaweicloud.dis.adapter.kafka.common.serialization.ByteArrayDeserializer;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** Times the adapter's consumer at full load, from the start of every partition. */
public final class ConsumeLoad {
    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) throws Exception {
        Properties config = Adapter.config(options);
        config.setProperty("group.id", options.get("group"));
        config.setProperty("auto.offset.reset", "earliest");
        config.setProperty("enable.auto.commit", "false");
        int partitions = options.number("partitions", 1);
        Consumer<byte[], byte[]> consumer =
                new DISKafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Throughput.measure(options, (topic, count) -> {
            List<TopicPartition> all = new ArrayList<>();
            for (int i = 0; i < partitions; i++) {
                all.add(new TopicPartition(topic, i));
            }
            consumer.assign(all);
            for (int got = 0; got < count; ) {
                got += consumer.poll(200).count();
            }
        });
        consumer.close();
    }
}
