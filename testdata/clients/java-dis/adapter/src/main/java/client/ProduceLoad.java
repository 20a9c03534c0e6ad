package client;

import com.huaweicloud.dis.adapter.kafka.clients.producer.DISKafkaProducer;
import com.huaweicloud.dis.adapter.kafka.clients.producer.Producer;
import com.huaweicloud.dis.adapter.kafka.clients.producer.ProducerRecord;
import com.huaweicloud.dis.adapter.kafka.common.serialization.ByteArraySerializer;
import java.util.Properties;

/**
 * Times the adapter's producer at full load. {@code --order true} keeps the order within a partition, as Kafka
 * does; the adapter's default lets requests overtake each other.
 */
public final class ProduceLoad {
    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) throws Exception {
        Properties config = Adapter.config(options);
        config.setProperty("order.by.partition", options.get("order", "false"));
        byte[][] values = Throughput.values(options.number("size", 0));
        int partitions = options.number("partitions", 1);
        Producer<byte[], byte[]> producer =
                new DISKafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        Throughput.measure(options, (topic, count) -> {
            Throughput.Acknowledgements stored = new Throughput.Acknowledgements(count);
            for (int i = 0; i < count; i++) {
                producer.send(new ProducerRecord<>(topic, i % partitions, null, values[i % values.length]),
                        (where, refused) -> stored.one(refused));
            }
            producer.flush();
            stored.await();
        });
        producer.close();
    }
}
