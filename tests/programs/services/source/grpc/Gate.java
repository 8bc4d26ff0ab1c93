package garden.gate;

import garden.api.BedsGrpc;
import garden.api.LookRequest;
import garden.api.PlantReply;
import garden.api.PlantRequest;
import io.grpc.ManagedChannelBuilder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
class GateApplication {
  public static void main(String[] args) {
    SpringApplication.run(GateApplication.class, args);
  }

  @Bean
  BedsGrpc.BedsBlockingStub beds(@Value("${beds.port}") int port) {
    return BedsGrpc.newBlockingStub(ManagedChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build());
  }
}

@RestController
class GateController {
  private static final Logger log = LoggerFactory.getLogger(GateController.class);
  private final BedsGrpc.BedsBlockingStub beds;

  GateController(BedsGrpc.BedsBlockingStub beds) {
    this.beds = beds;
  }

  @PostMapping("/beds/{bed}")
  String plant(@PathVariable("bed") int bed, @RequestBody String kind) {
    log.info("Somebody plants {}", kind);
    PlantReply reply = beds.plant(PlantRequest.newBuilder().setBed(bed).setKind(kind).build());
    log.info("Done: {}", reply.getDone());
    return "" + reply.getDone();
  }

  @GetMapping("/beds/{bed}")
  String look(@PathVariable("bed") int bed) {
    log.info("Somebody looks");
    return beds.look(LookRequest.newBuilder().setBed(bed).build()).getKind();
  }
}
