package truth;

import io.grpc.*;

/** Takes the unit over gRPC. */
public final class GrpcTruth {
  private static final Metadata.Key<String> KEY = Metadata.Key.of("x-t", Metadata.ASCII_STRING_MARSHALLER);
  private static final Context.Key<String> UNIT = Context.key("unit");

  private GrpcTruth() { }

  public static void in() { Truth.set(UNIT.get()); }

  public static final ServerInterceptor SERVER = new ServerInterceptor() {
    @Override public <Q, R> ServerCall.Listener<Q> interceptCall(ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      return Contexts.interceptCall(Context.current().withValue(UNIT, headers.get(KEY)), call, headers, next);
    }
  };

  public static final ClientInterceptor CLIENT = new ClientInterceptor() {
    @Override public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override public void start(Listener<R> listener, Metadata headers) {
          headers.put(KEY, Truth.get());
          super.start(listener, headers);
        }
      };
    }
  };
}
