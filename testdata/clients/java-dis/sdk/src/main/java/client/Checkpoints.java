package client;

import com.huaweicloud.dis.DIS;
import com.huaweicloud.dis.iface.app.request.ListAppsRequest;
import com.huaweicloud.dis.iface.app.request.ListStreamConsumingStateRequest;
import com.huaweicloud.dis.iface.app.response.DescribeAppResult;
import com.huaweicloud.dis.iface.app.response.PartitionConsumingState;
import com.huaweicloud.dis.iface.data.request.CommitCheckpointRequest;
import com.huaweicloud.dis.iface.data.request.DeleteCheckpointRequest;
import com.huaweicloud.dis.iface.data.request.GetCheckpointRequest;
import com.huaweicloud.dis.iface.data.response.GetCheckpointResult;
import java.util.List;

/** Apps and their checkpoints. */
public final class Checkpoints {
    private static DIS dis;
    private static String stream;
    private static String app;

    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) throws Exception {
        dis = Sdk.client(options);
        stream = options.get("stream");
        app = options.get("app");
        Sdk.createStream(dis, stream, 2);
        dis.putRecords(Sdk.put(stream, List.of(Sdk.record("0", "a"), Sdk.record("0", "b"))));

        Lines.refused("unknown app", () -> dis.describeApp(app));
        dis.createApp(app);
        Lines.refused("known app", () -> dis.createApp(app));
        show("none");
        dis.commitCheckpoint(commit("1", "half way"));
        show("committed");
        dis.commitCheckpoint(commit("2", null));
        show("again");
        Lines.refused("out of range", () -> dis.commitCheckpoint(commit("3", null)));
        Lines.refused("no member", () -> {
            CommitCheckpointRequest request = commit("1", null);
            request.setClientId("nobody");
            request.setGenerationId(1L);
            dis.commitCheckpoint(request);
        });
        states();
        DescribeAppResult described = dis.describeApp(app);
        Lines.print("app", described.getAppName(), described.getAppId().isEmpty());
        dis.deleteCheckpoint(delete());
        show("deleted");
        ListAppsRequest list = new ListAppsRequest();
        list.setLimit(10);
        Lines.print("apps", dis.listApps(list).getApps().size());
        dis.deleteApp(app);
        Lines.refused("deleted app", () -> dis.describeApp(app));
    }

    private static void show(String what) {
        GetCheckpointRequest request = new GetCheckpointRequest();
        request.setAppName(app);
        request.setStreamName(stream);
        request.setPartitionId("0");
        request.setCheckpointType("LAST_READ");
        GetCheckpointResult result = dis.getCheckpoint(request);
        Lines.print(what, result.getSequenceNumber(), result.getMetadata());
    }

    private static CommitCheckpointRequest commit(String number, String metadata) {
        CommitCheckpointRequest request = new CommitCheckpointRequest();
        request.setAppName(app);
        request.setStreamName(stream);
        request.setPartitionId("0");
        request.setCheckpointType("LAST_READ");
        request.setSequenceNumber(number);
        request.setMetadata(metadata);
        return request;
    }

    private static DeleteCheckpointRequest delete() {
        DeleteCheckpointRequest request = new DeleteCheckpointRequest();
        request.setAppName(app);
        request.setStreamName(stream);
        request.setCheckpointType("LAST_READ");
        return request;
    }

    private static void states() {
        ListStreamConsumingStateRequest request = new ListStreamConsumingStateRequest();
        request.setAppName(app);
        request.setStreamName(stream);
        request.setCheckpointType("LAST_READ");
        request.setLimit(10);
        for (PartitionConsumingState state : dis.listStreamConsumingState(request).getPartitionConsumingStates()) {
            Lines.print("state", state.getPartitionId(), state.getSequenceNumber(), state.getEarliestOffset(),
                    state.getLatestOffset(), state.getStatus());
        }
    }
}
