package client;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Writes records of a size at a rate, with the default settings, and counts what became of them. */
final class Load {
    private static final long STEP_MILLIS = 10;

    private final Map<String, Integer> refused = new TreeMap<>();
    private int acknowledged;

    static void run(String bootstrap, String topic, int size, int rate, int seconds) throws Exception {
        Properties config = new Properties();
        config.setProperty(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        Load load = new Load();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            load.write(producer, topic, size, rate, seconds);
        }
        load.print();
    }

    private void write(KafkaProducer<byte[], byte[]> producer, String topic, int size, int rate, int seconds)
            throws Exception {
        long begin = System.nanoTime();
        for (long sent = 0; ; Thread.sleep(STEP_MILLIS)) {
            double passed = (System.nanoTime() - begin) / 1e9;
            if (passed >= seconds) {
                return;
            }
            for (long due = (long) (passed * rate); sent < due; sent++) {
                producer.send(new ProducerRecord<>(topic, Seed.utf8("key-" + sent), value(sent, size)),
                        (stored, error) -> answered(error));
            }
        }
    }

    private static byte[] value(long i, int size) {
        byte[] number = Long.toString(i).getBytes(StandardCharsets.US_ASCII);
        byte[] value = Arrays.copyOf(number, Math.max(size, number.length));
        Arrays.fill(value, number.length, value.length, (byte) 'x');
        return value;
    }

    private synchronized void answered(Exception error) {
        if (error == null) {
            acknowledged++;
        } else {
            refused.merge(error.toString(), 1, Integer::sum);
        }
    }

    private synchronized void print() {
        System.out.println("acknowledged " + acknowledged);
        refused.forEach((message, times) -> System.out.println("refused " + times + " \"" + message + "\""));
    }
}
