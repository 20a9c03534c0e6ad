package client;

import com.huaweicloud.dis.DIS;
import com.huaweicloud.dis.iface.data.request.PutRecordsRequestEntry;
import com.huaweicloud.dis.iface.data.response.GetRecordsResult;
import com.huaweicloud.dis.iface.data.response.PutRecordsResult;
import com.huaweicloud.dis.iface.data.response.PutRecordsResultEntry;
import com.huaweicloud.dis.iface.data.response.Record;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Writes the records of the standard input (partition, key or nothing, base64) with one client for
 * each form and compression of bodies, each into a stream of its own, and reads them back.
 */
public final class PutGet {
    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) throws Exception {
        List<PutRecordsRequestEntry> records = new ArrayList<>();
        for (String[] words : Lines.input()) {
            PutRecordsRequestEntry record = Sdk.record(words[0], Base64.getDecoder().decode(words[2]));
            if (!words[1].isEmpty()) {
                record.setPartitionKey(words[1]);
            }
            records.add(record);
        }
        int partitions = options.number("partitions", 1);
        for (String serialize : new String[] {"json", "protobuf"}) {
            for (String compress : new String[] {"none", "lz4", "snappy", "zstd"}) {
                DIS dis = Sdk.client(options, serialize, compress);
                String stream = serialize + "-" + compress;
                Sdk.createStream(dis, stream, partitions);
                put(dis, stream, records);
                for (int partition = 0; partition < partitions; partition++) {
                    get(dis, stream, partition);
                }
            }
        }
    }

    private static void put(DIS dis, String stream, List<PutRecordsRequestEntry> records) {
        PutRecordsResult result = dis.putRecords(Sdk.put(stream, records));
        Lines.print(stream, "failed", result.getFailedRecordCount());
        for (PutRecordsResultEntry entry : result.getRecords()) {
            Lines.print(stream, "put", entry.getPartitionId(), entry.getSequenceNumber(), entry.getErrorCode());
        }
    }

    private static void get(DIS dis, String stream, int partition) {
        String cursor = Sdk.cursor(dis, stream, partition, "TRIM_HORIZON", null, null);
        while (true) {
            GetRecordsResult page = Sdk.get(dis, cursor);
            if (page.getRecords().isEmpty()) {
                return;
            }
            for (Record record : page.getRecords()) {
                byte[] data = new byte[record.getData().remaining()];
                record.getData().get(data);
                Lines.print(stream, "got", partition, record.getSequenceNumber(), record.getPartitionKey(),
                        record.getTimestamp() > 0, record.getTimestampType(), Base64.getEncoder().encodeToString(data));
            }
            cursor = page.getNextPartitionCursor();
        }
    }
}
