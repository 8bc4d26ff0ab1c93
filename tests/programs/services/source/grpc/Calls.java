package taxi.calls;

import com.google.common.util.concurrent.ListenableFuture;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.grpc.Channel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import taxi.api.Car;
import taxi.api.Cents;
import taxi.api.DispatchGrpc;
import taxi.api.Ride;
import truth.Truth;

public class Calls {
  private static final Logger LOG = LoggerFactory.getLogger(Calls.class);
  private final DispatchGrpc.DispatchBlockingStub blocking;
  private final DispatchGrpc.DispatchFutureStub future;
  private final DispatchGrpc.DispatchStub async;

  Calls(Channel channel) {
    this.blocking = DispatchGrpc.newBlockingStub(channel);
    this.future = DispatchGrpc.newFutureStub(channel);
    this.async = DispatchGrpc.newStub(channel);
  }

  void ride(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    String[] parts = exchange.getRequestURI().getPath().split("/");
    LOG.info("{} wants to go {} km", parts[2], parts[3]);
    try {
      Car car = blocking.send(Ride.newBuilder().setGuest(parts[2]).setKm(Integer.parseInt(parts[3])).build());
      LOG.info("{} is picked up by {}", parts[2], car.getPlate());
    } catch (StatusRuntimeException e) {
      LOG.warn("No car: {}", e.getStatus().getCode());
    }
    reply(exchange);
  }

  void price(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    String path = exchange.getRequestURI().getPath();
    LOG.info("Price asked");
    ListenableFuture<Cents> cents = future.price(Ride.newBuilder().setKm(Integer.parseInt(path.substring(7))).build());
    try {
      LOG.info("It costs {}", cents.get().getValue());
    } catch (Exception e) {
      throw new IOException(e);
    }
    reply(exchange);
  }

  void rate(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst("X-T"));
    String path = exchange.getRequestURI().getPath();
    LOG.info("Rating");
    async.rate(Cents.newBuilder().setValue(Integer.parseInt(path.substring(6))).build(), new Ignore());
    reply(exchange);
  }

  static class Ignore implements StreamObserver<Car> {
    @Override
    public void onNext(Car car) { }

    @Override
    public void onError(Throwable e) { }

    @Override
    public void onCompleted() { }
  }

  private static void reply(HttpExchange exchange) throws IOException {
    exchange.sendResponseHeaders(200, -1);
    exchange.close();
  }

  public static void main(String[] args) throws IOException {
    ManagedChannelBuilder<?> channel = ManagedChannelBuilder.forAddress("127.0.0.1", Integer.parseInt(args[1])).usePlaintext();
    channel.intercept(truth.GrpcTruth.CLIENT); // Truth.
    Calls calls = new Calls(channel.build());
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
    server.createContext("/ride", calls::ride);
    server.createContext("/price", calls::price);
    server.createContext("/rate", calls::rate);
    server.setExecutor(Executors.newFixedThreadPool(6));
    server.start();
  }
}
