package taxi.fleet;

import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import taxi.api.Car;
import taxi.api.Cents;
import taxi.api.DispatchGrpc;
import taxi.api.Ride;
import truth.Truth;

public class Fleet extends DispatchGrpc.DispatchImplBase {
  private static final Logger LOG = LoggerFactory.getLogger(Fleet.class);
  private final AtomicInteger next = new AtomicInteger();

  @Override
  public void send(Ride ride, StreamObserver<Car> out) {
    truth.GrpcTruth.in(); // Truth.
    LOG.info("Ride for {}", ride.getGuest());
    if (ride.getKm() > 17) {
      LOG.warn("{} km is too far", ride.getKm());
      out.onError(Status.OUT_OF_RANGE.asRuntimeException());
      return;
    }
    String plate = "T-" + next.incrementAndGet() % 9;
    LOG.info("Car {} goes", plate);
    out.onNext(Car.newBuilder().setPlate(plate).build());
    out.onCompleted();
  }

  @Override
  public void price(Ride ride, StreamObserver<Cents> out) {
    truth.GrpcTruth.in(); // Truth.
    LOG.info("Pricing {} km", ride.getKm());
    out.onNext(Cents.newBuilder().setValue(300 + 150 * ride.getKm()).build());
    out.onCompleted();
  }

  @Override
  public void rate(Cents stars, StreamObserver<Car> out) {
    truth.GrpcTruth.in(); // Truth.
    LOG.info("{} stars", stars.getValue());
    out.onNext(Car.getDefaultInstance());
    out.onCompleted();
  }

  public static void main(String[] args) throws Exception {
    ServerBuilder<?> builder = ServerBuilder.forPort(Integer.parseInt(args[0])).addService(new Fleet()).executor(Executors.newFixedThreadPool(6));
    builder.intercept(truth.GrpcTruth.SERVER); // Truth.
    Server server = builder.build().start();
    server.awaitTermination();
  }
}
