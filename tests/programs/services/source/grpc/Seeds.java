package garden.seeds;

import garden.api.SeedsGrpc;
import garden.api.TakeReply;
import garden.api.TakeRequest;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

public class Seeds extends SeedsGrpc.SeedsImplBase {
  private static final Logger log = LoggerFactory.getLogger(Seeds.class);
  private final AtomicInteger left = new AtomicInteger(10000);

  @Override
  public void take(TakeRequest request, StreamObserver<TakeReply> answer) {
    log.info("{} seeds wanted", request.getCount());
    if (request.getCount() > 8) {
      log.warn("That is too many");
      answer.onError(Status.RESOURCE_EXHAUSTED.asRuntimeException());
      return;
    }
    int now = left.addAndGet(-request.getCount());
    log.info("Some seeds less");
    answer.onNext(TakeReply.newBuilder().setLeft(now).build());
    answer.onCompleted();
  }

  public static void main(String[] args) throws Exception {
    Server server = ServerBuilder.forPort(Integer.parseInt(args[0])).addService(new Seeds()).build().start();
    server.awaitTermination();
  }
}
