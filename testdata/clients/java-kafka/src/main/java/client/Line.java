package client;

import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/** The line that a record is printed as. */
final class Line {
    private static final int LONGEST = 64;

    /** Prints a record; headers are null when the client has none. */
    static void print(String topic, int partition, long offset, long timestamp, byte[] key, byte[] value,
            List<Seed.Pair> headers) {
        System.out.println(String.join(" ", "record", topic, Integer.toString(partition), Long.toString(offset),
                Long.toString(timestamp), text(key), text(value), headers == null ? "-" : text(headers)));
    }

    /** Prints what the client says of a record that was not acknowledged. */
    static void refused(Throwable reason) {
        System.out.println("refused \"" + reason + "\"");
    }

    private static String text(List<Seed.Pair> headers) {
        return headers.stream()
                .map(h -> text(Seed.utf8(h.name())) + "=" + text(h.value()))
                .collect(Collectors.joining(",", "[", "]"));
    }

    private static String text(byte[] data) {
        if (data == null) {
            return "null";
        }
        return data.length > LONGEST ? "sha256:" + hex(Seed.sha256(data)) : "0x" + hex(data);
    }

    private static String hex(byte[] data) {
        return HexFormat.of().formatHex(data);
    }

    private Line() {}
}
