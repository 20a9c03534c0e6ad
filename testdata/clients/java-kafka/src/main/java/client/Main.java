package client;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The client program of Kafka's own client: the command of the command line, or those of the
 * standard input, one per line. README.md two folders above describes it.
 */
public final class Main {
    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            run(args);
            return;
        }
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            run(line.trim().split("\\s+"));
            System.out.println("ok");
        }
    }

    private static void run(String[] words) throws Exception {
        Map<String, String> options = options(words);
        String bootstrap = options.getOrDefault("--bootstrap", "localhost:9092");
        int count = Integer.parseInt(options.getOrDefault("--count", "0"));
        switch (words[0]) {
            case "produce" -> Produce.run(bootstrap, options.get("--topic"), options.getOrDefault("--codec", "none"),
                    records(options, count), "on".equals(options.get("--idempotence")),
                    Integer.parseInt(options.getOrDefault("--rate", "0")));
            case "consume" -> Consume.run(bootstrap, Arrays.asList(options.get("--topic").split(",")), count);
            case "load" -> Load.run(bootstrap, options.get("--topic"), number(options, "--size"), number(options, "--rate"),
                    number(options, "--seconds"));
            default -> throw new IllegalArgumentException("produce, consume or load");
        }
    }

    private static int number(Map<String, String> options, String name) {
        return Integer.parseInt(options.get(name));
    }

    private static List<Seed.Record> records(Map<String, String> options, int count) {
        long seed = Long.parseLong(options.getOrDefault("--seed", "0"));
        if (options.containsKey("--size")) {
            return Seed.ofSize(seed, Integer.parseInt(options.get("--size")));
        }
        return Seed.records(seed, count, Integer.parseInt(options.getOrDefault("--partitions", "3")));
    }

    private static Map<String, String> options(String[] words) {
        if (words.length % 2 == 0) {
            throw new IllegalArgumentException("an option without a value: " + String.join(" ", words));
        }
        Map<String, String> options = new HashMap<>();
        for (int i = 1; i < words.length; i += 2) {
            options.put(words[i], words[i + 1]);
        }
        return options;
    }

    private Main() {}
}
