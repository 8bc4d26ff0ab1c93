package garden.beds;

import garden.api.BedsGrpc;
import garden.api.LookReply;
import garden.api.LookRequest;
import garden.api.PlantReply;
import garden.api.PlantRequest;
import garden.api.SeedsGrpc;
import garden.api.TakeReply;
import garden.api.TakeRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

public class Beds {
  static class Service extends BedsGrpc.BedsImplBase {
    private static final Logger log = LoggerFactory.getLogger(Service.class);
    private final SeedsGrpc.SeedsBlockingStub seeds;

    Service(ManagedChannel channel) {
      this.seeds = SeedsGrpc.newBlockingStub(channel);
    }

    @Override
    public void plant(PlantRequest request, StreamObserver<PlantReply> answer) {
      log.info("Plant {} in bed {}", request.getKind(), request.getBed());
      boolean done = true;
      try {
        TakeReply reply = seeds.take(TakeRequest.newBuilder().setKind(request.getKind()).setCount(request.getBed() % 11).build());
        log.info("{} seeds are left", reply.getLeft());
      } catch (StatusRuntimeException e) {
        log.error("No seeds: {}", e.getStatus().getCode());
        done = false;
      }
      answer.onNext(PlantReply.newBuilder().setDone(done).build());
      answer.onCompleted();
    }

    @Override
    public void look(LookRequest request, StreamObserver<LookReply> answer) {
      log.info("Bed {} is looked at", request.getBed());
      answer.onNext(LookReply.newBuilder().setKind("rose").build());
      answer.onCompleted();
    }
  }

  public static void main(String[] args) throws Exception {
    ManagedChannel channel = ManagedChannelBuilder.forAddress("127.0.0.1", Integer.parseInt(args[1])).usePlaintext().build();
    Server server = ServerBuilder.forPort(Integer.parseInt(args[0])).addService(new Service(channel)).build().start();
    server.awaitTermination();
  }
}
