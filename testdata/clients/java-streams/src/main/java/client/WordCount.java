package client;

import java.util.List;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Counts the words of a topic, at least once, until its input ends. Arguments: bootstrap, application
 * id, the topic with lines of words, the topic for the counts (keys are words, values are numbers as
 * text), a folder for its state, and settings as key=value. Prints "state" and each state it reaches.
 */
public final class WordCount {
    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        config.setProperty(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, args[0]);
        config.setProperty(StreamsConfig.APPLICATION_ID_CONFIG, args[1]);
        config.setProperty(StreamsConfig.STATE_DIR_CONFIG, args[4]);
        config.setProperty(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, "500");
        config.setProperty("consumer.auto.offset.reset", "earliest");
        for (int i = 5; i < args.length; i++) {
            String[] setting = args[i].split("=", 2);
            config.setProperty(setting[0], setting[1]);
        }
        StreamsBuilder builder = new StreamsBuilder();
        // Words have another partition than their line, so Streams writes them to a
        // topic of its own first; the counts are in a store with a changelog topic.
        builder.stream(args[2], Consumed.with(Serdes.ByteArray(), Serdes.String()))
                .flatMapValues(line -> List.of(line.split(" ")))
                .groupBy((key, word) -> word, Grouped.with("words", Serdes.String(), Serdes.String()))
                .count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts")
                        .withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()))
                .toStream()
                .mapValues(count -> Long.toString(count))
                .to(args[3], Produced.with(Serdes.String(), Serdes.String()));
        try (KafkaStreams streams = new KafkaStreams(builder.build(), config)) {
            streams.setStateListener((now, before) -> System.out.println("state " + now));
            streams.start();
            while (System.in.read() >= 0) {
                // only its end counts
            }
        }
    }

    private WordCount() {}
}
