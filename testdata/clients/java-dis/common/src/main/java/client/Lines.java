package client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the clients read and print: lines of words with tabs between them. */
final class Lines {
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private static final Pattern CODE = Pattern.compile("DIS\\.\\d{4}");

    private Lines() {}

    static synchronized void print(Object... words) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < words.length; i++) {
            line.append(i == 0 ? "" : "\t").append(words[i]);
        }
        OUT.println(line);
    }

    /** A call that may be refused. */
    interface Call {
        void run() throws Exception;
    }

    /** Makes a call that must fail, and prints the class of the exception and the code in it. */
    static void refused(String what, Call call) {
        try {
            call.run();
            print(what, "not refused");
        } catch (Exception e) {
            print(what, e.getClass().getSimpleName(), code(e));
        }
    }

    static String code(Throwable e) {
        Matcher found = CODE.matcher(String.valueOf(e.getMessage()));
        return found.find() ? found.group() : String.valueOf(e.getMessage());
    }

    /** All of the standard input. */
    static List<String[]> input() throws IOException {
        List<String[]> lines = new ArrayList<>();
        BufferedReader reader = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            lines.add(line.split("\t", -1));
        }
        return lines;
    }
}
