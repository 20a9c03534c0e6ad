package client;

import com.huaweicloud.dis.DIS;
import com.huaweicloud.dis.DISClient;
import com.huaweicloud.dis.DISConfig;
import com.huaweicloud.dis.DISConfig.BodySerializeType;
import com.huaweicloud.dis.iface.data.request.GetPartitionCursorRequest;
import com.huaweicloud.dis.iface.data.request.GetRecordsRequest;
import com.huaweicloud.dis.iface.data.request.PutRecordsRequest;
import com.huaweicloud.dis.iface.data.request.PutRecordsRequestEntry;
import com.huaweicloud.dis.iface.data.response.GetRecordsResult;
import com.huaweicloud.dis.iface.stream.request.CreateStreamRequest;
import com.huaweicloud.dis.util.compress.CompressionType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Clients of the DIS SDK, and the requests that several tasks make. */
final class Sdk {
    private Sdk() {}

    static DISConfig config(Options options) {
        DISConfig config = new DISConfig();
        config.setEndpoint(options.get("endpoint"));
        config.setRegion(options.get("region", "local"));
        config.setProjectId(options.get("project", "local"));
        config.setAK(options.get("ak", "dev"));
        config.setSK(options.get("sk", "dev-secret"));
        return config;
    }

    /** A client with a form of bodies, json or protobuf, and a compression of bodies or none. */
    static DIS client(Options options, String serialize, String compress) {
        DISConfig config = config(options);
        config.setBodySerializeType(BodySerializeType.valueOf(serialize));
        if (!compress.equals("none")) {
            config.setBodyCompressEnabled(true);
            config.setBodyCompressType(CompressionType.valueOf(compress.toUpperCase()));
        }
        return new DISClient(config);
    }

    static DIS client(Options options) {
        return client(options, "json", "none");
    }

    static void createStream(DIS dis, String name, int partitions) {
        CreateStreamRequest request = new CreateStreamRequest();
        request.setStreamName(name);
        request.setPartitionCount(partitions);
        request.setStreamType("COMMON");
        request.setDataType("BLOB");
        dis.createStream(request);
    }

    static PutRecordsRequestEntry record(String partition, byte[] data) {
        PutRecordsRequestEntry entry = new PutRecordsRequestEntry();
        entry.setPartitionId(partition);
        entry.setData(ByteBuffer.wrap(data));
        return entry;
    }

    static PutRecordsRequestEntry record(String partition, String data) {
        return record(partition, data.getBytes(StandardCharsets.UTF_8));
    }

    static PutRecordsRequest put(String stream, List<PutRecordsRequestEntry> records) {
        PutRecordsRequest request = new PutRecordsRequest();
        request.setStreamName(stream);
        request.setRecords(new ArrayList<>(records));
        return request;
    }

    static String cursor(DIS dis, String stream, int partition, String type, String number, Long timestamp) {
        GetPartitionCursorRequest request = new GetPartitionCursorRequest();
        request.setStreamName(stream);
        request.setPartitionId(String.valueOf(partition));
        request.setCursorType(type);
        request.setStartingSequenceNumber(number);
        request.setTimestamp(timestamp);
        return dis.getPartitionCursor(request).getPartitionCursor();
    }

    static GetRecordsResult get(DIS dis, String cursor) {
        GetRecordsRequest request = new GetRecordsRequest();
        request.setPartitionCursor(cursor);
        return dis.getRecords(request);
    }
}
