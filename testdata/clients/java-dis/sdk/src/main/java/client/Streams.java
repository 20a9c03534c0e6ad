package client;

import com.huaweicloud.dis.DIS;
import com.huaweicloud.dis.iface.stream.request.CreateStreamRequest;
import com.huaweicloud.dis.iface.stream.request.DeleteStreamRequest;
import com.huaweicloud.dis.iface.stream.request.DescribeStreamRequest;
import com.huaweicloud.dis.iface.stream.request.ListStreamsRequest;
import com.huaweicloud.dis.iface.stream.request.UpdatePartitionCountRequest;
import com.huaweicloud.dis.iface.stream.request.UpdateStreamRequest;
import com.huaweicloud.dis.iface.stream.response.DescribeStreamResult;
import com.huaweicloud.dis.iface.stream.response.PartitionResult;
import com.huaweicloud.dis.iface.stream.response.UpdatePartitionCountResult;

/** The life of a stream. */
public final class Streams {
    private static DIS dis;
    private static String stream;

    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) throws Exception {
        dis = Sdk.client(options);
        stream = options.get("stream");
        CreateStreamRequest create = new CreateStreamRequest();
        create.setStreamName(stream);
        create.setPartitionCount(2);
        create.setStreamType("COMMON");
        create.setDataType("JSON");
        create.setDataDuration(48);
        dis.createStream(create);
        Lines.refused("again", () -> dis.createStream(create));
        describe();
        ListStreamsRequest list = new ListStreamsRequest();
        list.setLimit(100);
        Lines.print("list", dis.listStreams(list).getStreamNames().contains(stream));

        scale(3);
        scale(1);
        describe();
        UpdateStreamRequest update = new UpdateStreamRequest();
        update.setStreamName(stream);
        update.setUpdateType("AUTO_SCALE");
        update.setAutoScaleEnabled(true);
        update.setAutoScaleMinPartitionCount(1);
        update.setAutoScaleMaxPartitionCount(5);
        dis.updateStream(update);
        Lines.print("auto scale", find().getAutoScaleEnabled(), find().getAutoScaleMaxPartitionCount());

        DeleteStreamRequest delete = new DeleteStreamRequest();
        delete.setStreamName(stream);
        dis.deleteStream(delete);
        Lines.refused("deleted", Streams::find);
    }

    private static DescribeStreamResult find() {
        DescribeStreamRequest request = new DescribeStreamRequest();
        request.setStreamName(stream);
        return dis.describeStream(request);
    }

    private static void describe() {
        DescribeStreamResult found = find();
        Lines.print("stream", found.getStreamName(), found.getStatus(), found.getStreamType(), found.getDataType(),
                found.getRetentionPeriod(), found.getWritablePartitionCount(), found.getReadablePartitionCount());
        for (PartitionResult partition : found.getPartitions()) {
            Lines.print("partition", partition.getPartitionId(), partition.getStatus(), partition.getSequenceNumberRange());
        }
    }

    private static void scale(int target) {
        UpdatePartitionCountRequest request = new UpdatePartitionCountRequest();
        request.setStreamName(stream);
        request.setTargetPartitionCount(target);
        UpdatePartitionCountResult result = dis.updatePartitionCount(request);
        Lines.print("scaled", result.getCurrentPartitionCount(), result.getTargetPartitionCount());
    }
}
