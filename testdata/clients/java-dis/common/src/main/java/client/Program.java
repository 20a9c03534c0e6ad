package client;

/** The frame of every main: the clients leave threads behind that would keep the process alive. */
final class Program {
    private Program() {}

    static void run(Lines.Call main) {
        int status = 0;
        try {
            main.run();
        } catch (Exception | Error e) {
            e.printStackTrace();
            status = 1;
        }
        System.exit(status);
    }
}
