package client;

import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Times a client at full load, {@code --count} records of {@code --size} bytes in {@code --topic}. The same
 * work on the topic {@code --warm-up} comes first, until the JVM has compiled what matters. Prints the
 * nanoseconds from the first record to the last.
 */
final class Throughput {
    private Throughput() {}

    /** Passes so many records and returns when the last is acknowledged, or read. */
    interface Work {
        void pass(String topic, int count) throws Exception;
    }

    static void measure(Options options, Work work) throws Exception {
        for (int i = options.number("warm-up-rounds", 1); i > 0; i--) {
            work.pass(options.get("warm-up"), options.number("warm-up-count", 0));
        }
        long begin = System.nanoTime();
        work.pass(options.get("topic"), options.number("count", 0));
        Lines.print("took", System.nanoTime() - begin);
    }

    /** Values that do not compress, to be used in turn. */
    static byte[][] values(int size) {
        Random random = new Random(1);
        byte[][] values = new byte[4096][size];
        for (byte[] value : values) {
            random.nextBytes(value);
        }
        return values;
    }

    /** Waits for the acknowledgement of every record: the adapter's flush does not. */
    static final class Acknowledgements {
        private final CountDownLatch missing;
        private final AtomicReference<Exception> failure = new AtomicReference<>();

        Acknowledgements(int count) {
            missing = new CountDownLatch(count);
        }

        void one(Exception refused) {
            failure.compareAndSet(null, refused);
            missing.countDown();
        }

        void await() throws Exception {
            missing.await();
            if (failure.get() != null) {
                throw new Exception("a record was refused", failure.get());
            }
        }
    }
}
