package client;

import com.huaweicloud.dis.DIS;
import com.huaweicloud.dis.iface.stream.request.OBSDestinationDescriptorRequest;
import com.huaweicloud.dis.iface.stream.request.StreamDestinationType;
import com.huaweicloud.dis.iface.transfertask.model.BatchTransferTask;
import com.huaweicloud.dis.iface.transfertask.request.BatchTransferTaskRequest;
import com.huaweicloud.dis.iface.transfertask.request.CreateTransferTaskRequest;
import com.huaweicloud.dis.iface.transfertask.request.DeleteTransferTaskRequest;
import com.huaweicloud.dis.iface.transfertask.request.DescribeTransferTaskRequest;
import com.huaweicloud.dis.iface.transfertask.request.ListTransferTasksRquest;
import com.huaweicloud.dis.iface.transfertask.request.UpdateTransferTaskRequest;
import com.huaweicloud.dis.iface.transfertask.response.DescribeTransferTaskResult;
import com.huaweicloud.dis.iface.transfertask.response.TransferTaskResult;
import java.util.List;

/** The life of a transfer task, and another that is left with a record to deliver. */
public final class TransferTasks {
    private static DIS dis;
    private static String stream;

    public static void main(String[] args) {
        Program.run(() -> main(new Options(args)));
    }

    private static void main(Options options) throws Exception {
        dis = Sdk.client(options);
        stream = options.get("stream");
        Sdk.createStream(dis, stream, 1);
        dis.createTransferTask(describe(new CreateTransferTaskRequest(), "task", 60));
        Lines.refused("again", () -> dis.createTransferTask(describe(new CreateTransferTaskRequest(), "task", 60)));
        Lines.refused("interval", () -> dis.createTransferTask(describe(new CreateTransferTaskRequest(), "other", 10)));
        show("created");
        dis.updateTransferTask((UpdateTransferTaskRequest) describe(new UpdateTransferTaskRequest(), "task", 90));
        show("updated");
        change("stop");
        show("stopped");
        change("start");
        show("started");
        dis.createTransferTask(describe(new CreateTransferTaskRequest(), "left", 30));
        ListTransferTasksRquest list = new ListTransferTasksRquest();
        list.setStreamName(stream);
        for (TransferTaskResult task : dis.listTransferTasks(list).getTasks()) {
            Lines.print("listed", task.getTransferTaskName(), task.getDestinationType(), task.getState());
        }
        DeleteTransferTaskRequest delete = new DeleteTransferTaskRequest();
        delete.setStreamName(stream);
        delete.setTransferTaskName("task");
        dis.deleteTransferTask(delete);
        Lines.refused("deleted", TransferTasks::find);
        dis.putRecords(Sdk.put(stream, List.of(Sdk.record("0", "delivered"))));
    }

    private static CreateTransferTaskRequest describe(CreateTransferTaskRequest request, String name, int interval) {
        OBSDestinationDescriptorRequest obs = new OBSDestinationDescriptorRequest();
        obs.setTransferTaskName(name);
        obs.setAgencyName("dis_admin_agency");
        obs.setObsBucketPath("bucket");
        obs.setFilePrefix("from_java");
        obs.setDeliverTimeInterval(interval);
        obs.setConsumerStrategy("TRIM_HORIZON");
        obs.setRecordDelimiter("\n");
        request.setStreamName(stream);
        request.setDestinationType(StreamDestinationType.OBS);
        request.setObsDestinationDescriptor(obs);
        return request;
    }

    private static DescribeTransferTaskResult find() {
        DescribeTransferTaskRequest request = new DescribeTransferTaskRequest();
        request.setStreamName(stream);
        request.setTransferTaskName("task");
        return dis.describeTransferTask(request);
    }

    private static void show(String what) {
        DescribeTransferTaskResult task = find();
        Lines.print(what, task.getTransferTaskName(), task.getState(), task.getPartitions().get(0).getPartitionId(),
                task.getPartitions().get(0).getLastTransferOffset(), task.getObsDestinationDescription().getDeliverTimeInterval());
    }

    private static void change(String action) {
        BatchTransferTask task = new BatchTransferTask();
        task.setTaskId(find().getTransferTaskId());
        BatchTransferTaskRequest request = new BatchTransferTaskRequest();
        request.setStreamName(stream);
        request.setAction(action);
        request.setTransferTasks(List.of(task));
        dis.batchTransferTask(request);
    }
}
