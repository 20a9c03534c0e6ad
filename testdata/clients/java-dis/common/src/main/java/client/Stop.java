package client;

import java.util.concurrent.CountDownLatch;

/** Ends a client at a signal only after it has tidied up. */
final class Stop {
    private final CountDownLatch tidied = new CountDownLatch(1);
    private volatile boolean requested;

    Stop() {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            requested = true;
            try {
                tidied.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
    }

    boolean requested() {
        return requested;
    }

    /** Lets the process end. */
    void done() {
        tidied.countDown();
    }
}
