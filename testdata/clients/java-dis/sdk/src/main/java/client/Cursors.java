package client;

import com.huaweicloud.dis.DIS;
import com.huaweicloud.dis.exception.DISSequenceNumberOutOfRangeException;
import com.huaweicloud.dis.exception.DISStreamNotExistsException;
import com.huaweicloud.dis.exception.DISTimestampOutOfRangeException;
import com.huaweicloud.dis.iface.data.request.PutRecordsRequestEntry;
import com.huaweicloud.dis.iface.data.response.GetRecordsResult;
import java.util.ArrayList;
import java.util.List;

/** Cursors of every type over five records with the times 1000, 2000, ... 5000, and refused ones. */
public final class Cursors {
    private static final int COUNT = 5;

    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) throws Exception {
        DIS dis = Sdk.client(options);
        String stream = options.get("stream");
        Sdk.createStream(dis, stream, 1);
        List<PutRecordsRequestEntry> records = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            PutRecordsRequestEntry record = Sdk.record("0", "record " + i);
            record.setTimestamp(1000L * (i + 1));
            records.add(record);
        }
        dis.putRecords(Sdk.put(stream, records));

        show(dis, stream, null, "2", null);
        show(dis, stream, "AT_SEQUENCE_NUMBER", "5", null);
        show(dis, stream, "AFTER_SEQUENCE_NUMBER", "2", null);
        show(dis, stream, "TRIM_HORIZON", null, null);
        show(dis, stream, "LATEST", null, null);
        show(dis, stream, "AT_TIMESTAMP", null, 3000L);
        show(dis, stream, "AT_TIMESTAMP", null, 3001L);
        show(dis, stream, "AT_TIMESTAMP", null, 9000L);

        try {
            Sdk.cursor(dis, stream, 0, "AT_SEQUENCE_NUMBER", "6", null);
        } catch (DISSequenceNumberOutOfRangeException e) {
            Lines.print("out of range", e.getInvalidSequenceNumber(), e.getEarliestSequenceNumber(), e.getLatestSequenceNumber());
        }
        try {
            Sdk.cursor(dis, stream, 0, "AT_TIMESTAMP", null, 999L);
        } catch (DISTimestampOutOfRangeException e) {
            Lines.print("too early", e.getEarliestTimestamp());
            show(dis, stream, "AT_TIMESTAMP", null, e.getEarliestTimestamp());
        }
        try {
            Sdk.cursor(dis, "none", 0, "LATEST", null, null);
        } catch (DISStreamNotExistsException e) {
            Lines.print("no stream", e.getStreamName());
        }
        Lines.refused("partition", () -> Sdk.cursor(dis, stream, 1, "LATEST", null, null));
        Lines.refused("type", () -> Sdk.cursor(dis, stream, 0, "NEWEST", null, null));
        Lines.refused("number", () -> Sdk.cursor(dis, stream, 0, "AT_SEQUENCE_NUMBER", "x", null));
        Lines.refused("cursor", () -> Sdk.get(dis, "bm90IGEgY3Vyc29y"));
    }

    /** Prints the first record behind a cursor. */
    private static void show(DIS dis, String stream, String type, String number, Long timestamp) {
        GetRecordsResult result = Sdk.get(dis, Sdk.cursor(dis, stream, 0, type, number, timestamp));
        String first = result.getRecords().isEmpty() ? "end" : result.getRecords().get(0).getSequenceNumber();
        Lines.print("cursor", type, number, timestamp, first);
    }
}
