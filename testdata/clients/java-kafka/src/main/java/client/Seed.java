package client;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The records that a seed stands for. */
final class Seed {
    /** A record to be written. */
    record Record(int partition, long timestamp, byte[] key, byte[] value, List<Pair> headers) {}

    /** A header of a record. */
    record Pair(String name, byte[] value) {}

    private static final long FIRST_TIMESTAMP = 1_600_000_000_000L;

    static List<Record> records(long seed, int count, int partitions) {
        List<Record> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] digest = sha256(utf8(seed + "/" + i));
            long timestamp = FIRST_TIMESTAMP + Integer.toUnsignedLong(ByteBuffer.wrap(digest).getInt());
            records.add(new Record(i % partitions, timestamp, key(i, digest), value(i, seed, digest), headers(i)));
        }
        return records;
    }

    static List<Record> ofSize(long seed, int size) {
        ByteBuffer value = ByteBuffer.allocate(size);
        for (int i = 0; value.hasRemaining(); i++) {
            value.put(sha256(utf8(seed + "/" + i)), 0, Math.min(32, value.remaining()));
        }
        return List.of(new Record(0, FIRST_TIMESTAMP, null, value.array(), List.of()));
    }

    private static byte[] key(int i, byte[] digest) {
        return switch (i % 5) {
            case 0 -> null;
            case 1 -> new byte[0];
            case 2 -> ByteBuffer.allocate(8).put((byte) 0x00).put((byte) 0xff).put(digest, 0, 6).array();
            case 3 -> utf8("ключ-" + i + "-🔑");
            default -> utf8("key-" + i);
        };
    }

    private static byte[] value(int i, long seed, byte[] digest) {
        return switch (i / 5 % 5) {
            case 0 -> utf8("value " + i + " of seed " + seed);
            case 1 -> null;
            case 2 -> new byte[0];
            case 3 -> digest;
            default -> repeat(digest, i % 50 == 24 ? 3125 : 300);
        };
    }

    private static List<Pair> headers(int i) {
        return switch (i % 7) {
            case 1 -> Arrays.asList(new Pair("trace-id", utf8("trace " + i)));
            case 2 -> Arrays.asList(new Pair("a", utf8("1")), new Pair("b", utf8("2")), new Pair("a", utf8("3")));
            case 3 -> Arrays.asList(new Pair("empty", new byte[0]));
            case 4 -> Arrays.asList(new Pair("null", null), new Pair("after", utf8("x")));
            case 5 -> Arrays.asList(new Pair("binary", new byte[] {(byte) 0xff, (byte) 0xfe, (byte) 0x80, 0x01, 0x7f}));
            case 6 -> Arrays.asList(new Pair("", utf8("no name")), new Pair("имя", utf8("значение")));
            default -> List.of();
        };
    }

    private static byte[] repeat(byte[] data, int times) {
        ByteBuffer repeated = ByteBuffer.allocate(data.length * times);
        while (repeated.hasRemaining()) {
            repeated.put(data);
        }
        return repeated.array();
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static byte[] sha256(byte[] data) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(data);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every Java has it
        }
    }

    private Seed() {}
}
