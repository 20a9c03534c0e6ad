package client;

import com.huaweicloud.dis.adapter.kafka.clients.producer.DISKafkaProducer;
import com.huaweicloud.dis.adapter.kafka.clients.producer.Producer;
import com.huaweicloud.dis.adapter.kafka.clients.producer.ProducerRecord;
import com.huaweicloud.dis.adapter.kafka.clients.producer.RecordMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;

/** Sends the records of the standard input (key or nothing, value) with the adapter's producer. */
public final class Produce {
    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) throws Exception {
        Properties config = Adapter.config(options);
        config.setProperty("order.by.partition", "true"); // by default requests overtake each other
        Producer<String, String> producer = new DISKafkaProducer<>(config);
        Lines.print("partitions", producer.partitionsFor(options.get("topic")).size());
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (String[] words : Lines.input()) {
            String key = words[0].isEmpty() ? null : words[0];
            sent.add(producer.send(new ProducerRecord<>(options.get("topic"), key, words[1])));
        }
        for (Future<RecordMetadata> one : sent) {
            RecordMetadata stored = one.get();
            Lines.print("sent", stored.topic(), stored.partition(), stored.offset());
        }
        producer.close();
    }
}
