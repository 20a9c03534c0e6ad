package client;

import com.huaweicloud.dis.iface.stream.request.ListStreamsRequest;

/** A call with keys that are not accepted. */
public final class Refused {
    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) {
        Lines.refused("signature", () -> Sdk.client(options).listStreams(new ListStreamsRequest()));
    }
}
