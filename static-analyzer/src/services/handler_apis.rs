//! Who calls the methods of a program for what they are annotated with, or what they extend:
//! tables of libraries of servers and brokers.

/// What an annotation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// This verb, and a path if one is written in it.
    Verb(&'static str),
    /// A path, and verbs if some are written in it.
    Route,
    /// A path only.
    Path,
    /// A verb and a path in one text.
    Line,
    /// Topics or queues that messages come from.
    Message,
}

const SPRING: &str = "org/springframework/web/bind/annotation/";
const EXCHANGE: &str = "org/springframework/web/service/annotation/";
const JAVAX_REST: &str = "javax/ws/rs/";
const JAKARTA_REST: &str = "jakarta/ws/rs/";
const MICRONAUT: &str = "io/micronaut/http/annotation/";
const RETROFIT: &str = "retrofit2/http/";
const ARMERIA: &str = "com/linecorp/armeria/server/annotation/";

/// Annotations of methods and classes: (package, name, what it says).
pub(super) const ANNOTATIONS: &[(&str, &str, Says)] = &[
    (SPRING, "RequestMapping", Says::Route),
    (SPRING, "GetMapping", Says::Verb("GET")),
    (SPRING, "PostMapping", Says::Verb("POST")),
    (SPRING, "PutMapping", Says::Verb("PUT")),
    (SPRING, "DeleteMapping", Says::Verb("DELETE")),
    (SPRING, "PatchMapping", Says::Verb("PATCH")),
    (EXCHANGE, "HttpExchange", Says::Route),
    (EXCHANGE, "GetExchange", Says::Verb("GET")),
    (EXCHANGE, "PostExchange", Says::Verb("POST")),
    (EXCHANGE, "PutExchange", Says::Verb("PUT")),
    (EXCHANGE, "DeleteExchange", Says::Verb("DELETE")),
    (EXCHANGE, "PatchExchange", Says::Verb("PATCH")),
    (JAVAX_REST, "Path", Says::Path),
    (JAVAX_REST, "ApplicationPath", Says::Path),
    (JAVAX_REST, "GET", Says::Verb("GET")),
    (JAVAX_REST, "POST", Says::Verb("POST")),
    (JAVAX_REST, "PUT", Says::Verb("PUT")),
    (JAVAX_REST, "DELETE", Says::Verb("DELETE")),
    (JAVAX_REST, "PATCH", Says::Verb("PATCH")),
    (JAVAX_REST, "HEAD", Says::Verb("HEAD")),
    (JAVAX_REST, "OPTIONS", Says::Verb("OPTIONS")),
    (JAKARTA_REST, "Path", Says::Path),
    (JAKARTA_REST, "ApplicationPath", Says::Path),
    (JAKARTA_REST, "GET", Says::Verb("GET")),
    (JAKARTA_REST, "POST", Says::Verb("POST")),
    (JAKARTA_REST, "PUT", Says::Verb("PUT")),
    (JAKARTA_REST, "DELETE", Says::Verb("DELETE")),
    (JAKARTA_REST, "PATCH", Says::Verb("PATCH")),
    (JAKARTA_REST, "HEAD", Says::Verb("HEAD")),
    (JAKARTA_REST, "OPTIONS", Says::Verb("OPTIONS")),
    (MICRONAUT, "Controller", Says::Path),
    (MICRONAUT, "Get", Says::Verb("GET")),
    (MICRONAUT, "Post", Says::Verb("POST")),
    (MICRONAUT, "Put", Says::Verb("PUT")),
    (MICRONAUT, "Delete", Says::Verb("DELETE")),
    (MICRONAUT, "Patch", Says::Verb("PATCH")),
    (MICRONAUT, "Head", Says::Verb("HEAD")),
    (RETROFIT, "GET", Says::Verb("GET")),
    (RETROFIT, "POST", Says::Verb("POST")),
    (RETROFIT, "PUT", Says::Verb("PUT")),
    (RETROFIT, "DELETE", Says::Verb("DELETE")),
    (RETROFIT, "PATCH", Says::Verb("PATCH")),
    (RETROFIT, "HEAD", Says::Verb("HEAD")),
    (RETROFIT, "HTTP", Says::Route),
    (ARMERIA, "Get", Says::Verb("GET")),
    (ARMERIA, "Post", Says::Verb("POST")),
    (ARMERIA, "Put", Says::Verb("PUT")),
    (ARMERIA, "Delete", Says::Verb("DELETE")),
    (ARMERIA, "PathPrefix", Says::Path),
    ("feign/", "RequestLine", Says::Line),
    ("io/quarkus/vertx/web/", "Route", Says::Route),
    ("io/quarkus/vertx/web/", "RouteBase", Says::Path),
    ("javax/servlet/annotation/", "WebServlet", Says::Path),
    ("jakarta/servlet/annotation/", "WebServlet", Says::Path),
    ("org/springframework/kafka/annotation/", "KafkaListener", Says::Message),
    ("org/springframework/jms/annotation/", "JmsListener", Says::Message),
    ("org/springframework/amqp/rabbit/annotation/", "RabbitListener", Says::Message),
    ("org/springframework/pulsar/annotation/", "PulsarListener", Says::Message),
    ("org/springframework/cloud/stream/annotation/", "StreamListener", Says::Message),
    ("io/awspring/cloud/sqs/annotation/", "SqsListener", Says::Message),
    ("io/micronaut/configuration/kafka/annotation/", "Topic", Says::Message),
    ("io/micronaut/rabbitmq/annotation/", "Queue", Says::Message),
    ("org/eclipse/microprofile/reactive/messaging/", "Incoming", Says::Message),
];

/// Elements of annotations in which paths stand.
pub(super) const PATHS: &[&str] = &["value", "path", "uri", "uris", "url", "urlPatterns", "regex"];

/// Elements in which topics and queues stand.
pub(super) const TOPICS: &[&str] = &[
    "value",
    "topics",
    "topicPattern",
    "queues",
    "queuesToDeclare",
    "destination",
    "name",
    "topic",
    "queue",
];

/// Annotations of interfaces that a library implements to ask others: (package, name, elements
/// that name the host or service).
pub(super) const CLIENTS: &[(&str, &str, &[&str])] = &[
    ("org/springframework/cloud/openfeign/", "FeignClient", &["name", "value", "url", "serviceId"]),
    ("org/springframework/cloud/netflix/feign/", "FeignClient", &["name", "value", "url", "serviceId"]),
    ("org/eclipse/microprofile/rest/client/inject/", "RegisterRestClient", &["configKey", "baseUri"]),
    ("io/micronaut/http/client/annotation/", "Client", &["id"]),
];

/// Packages of annotations with which clients are declared only.
pub(super) const CLIENT_PACKAGES: &[&str] = &[RETROFIT, "feign/"];

/// Classes whose methods of these names serve a verb: (class, method, verb; empty: any).
pub(super) const SERVLETS: &[(&str, &str, &str)] = &[
    ("javax/servlet/http/HttpServlet", "doGet", "GET"),
    ("javax/servlet/http/HttpServlet", "doPost", "POST"),
    ("javax/servlet/http/HttpServlet", "doPut", "PUT"),
    ("javax/servlet/http/HttpServlet", "doDelete", "DELETE"),
    ("javax/servlet/http/HttpServlet", "service", ""),
    ("jakarta/servlet/http/HttpServlet", "doGet", "GET"),
    ("jakarta/servlet/http/HttpServlet", "doPost", "POST"),
    ("jakarta/servlet/http/HttpServlet", "doPut", "PUT"),
    ("jakarta/servlet/http/HttpServlet", "doDelete", "DELETE"),
    ("jakarta/servlet/http/HttpServlet", "service", ""),
];

/// Calls that register a handler for all paths that begin so: (class, method).
pub(super) const OF_PREFIXES: &[(&str, &str)] = &[("com/sun/net/httpserver/HttpServer", "createContext")];

/// Annotations that make calls of a method tasks of other threads.
pub(crate) const ASYNCHRONOUS: &[(&str, &str)] = &[
    ("org/springframework/scheduling/annotation/", "Async"),
    ("io/micronaut/scheduling/annotation/", "Async"),
    ("javax/ejb/", "Asynchronous"),
    ("jakarta/ejb/", "Asynchronous"),
    ("jakarta/enterprise/concurrent/", "Asynchronous"),
];

/// Calls that hand an event to whoever listens to its class, one listener after the other before
/// they return: (how the class begins, method).
pub(crate) const PUBLISHES: &[(&str, &str)] = &[
    ("org/springframework/context/", "publishEvent"),
    ("io/micronaut/context/event/", "publishEvent"),
    ("javax/enterprise/event/Event", "fire"),
    ("jakarta/enterprise/event/Event", "fire"),
];

/// Annotations of who listens to them, be it of a parameter: (package, name).
pub(crate) const LISTENS: &[(&str, &str)] = &[
    ("org/springframework/context/event/", "EventListener"),
    ("org/springframework/transaction/event/", "TransactionalEventListener"),
    ("io/micronaut/runtime/event/annotation/", "EventListener"),
    ("javax/enterprise/event/", "Observes"),
    ("jakarta/enterprise/event/", "Observes"),
];

/// Interfaces of who listens to them: (interface, method).
pub(crate) const LISTENERS: &[(&str, &str)] = &[
    ("org/springframework/context/ApplicationListener", "onApplicationEvent"),
    ("io/micronaut/context/event/ApplicationEventListener", "onApplicationEvent"),
];

/// When a library runs something, seen from a handler of the same request and thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// It is given the chain, and goes on with that.
    Around,
    Before,
    After,
    /// After it, for an exception, and before all else that runs then.
    Answers,
}

/// What libraries run around handlers: (super-class, method, when).
pub(crate) const AROUND: &[(&str, &str, Runs)] = &[
    ("javax/servlet/Filter", "doFilter", Runs::Around),
    ("jakarta/servlet/Filter", "doFilter", Runs::Around),
    ("javax/servlet/http/HttpFilter", "doFilter", Runs::Around),
    ("jakarta/servlet/http/HttpFilter", "doFilter", Runs::Around),
    ("org/springframework/web/filter/GenericFilterBean", "doFilter", Runs::Around),
    ("org/springframework/web/filter/OncePerRequestFilter", "doFilterInternal", Runs::Around),
    ("com/sun/net/httpserver/Filter", "doFilter", Runs::Around),
    ("org/springframework/web/servlet/HandlerInterceptor", "preHandle", Runs::Before),
    ("org/springframework/web/servlet/HandlerInterceptor", "postHandle", Runs::After),
    ("org/springframework/web/servlet/HandlerInterceptor", "afterCompletion", Runs::After),
    ("org/springframework/web/servlet/handler/HandlerInterceptorAdapter", "preHandle", Runs::Before),
    ("org/springframework/web/servlet/handler/HandlerInterceptorAdapter", "postHandle", Runs::After),
    ("org/springframework/web/servlet/handler/HandlerInterceptorAdapter", "afterCompletion", Runs::After),
    ("org/springframework/web/servlet/HandlerExceptionResolver", "resolveException", Runs::Answers),
    (
        "org/springframework/web/servlet/mvc/method/annotation/RequestBodyAdvice",
        "afterBodyRead",
        Runs::Before,
    ),
    (
        "org/springframework/web/servlet/mvc/method/annotation/ResponseBodyAdvice",
        "beforeBodyWrite",
        Runs::After,
    ),
    ("org/springframework/web/method/support/HandlerMethodArgumentResolver", "resolveArgument", Runs::Before),
    ("javax/ws/rs/container/ContainerRequestFilter", "filter", Runs::Before),
    ("jakarta/ws/rs/container/ContainerRequestFilter", "filter", Runs::Before),
    ("javax/ws/rs/container/ContainerResponseFilter", "filter", Runs::After),
    ("jakarta/ws/rs/container/ContainerResponseFilter", "filter", Runs::After),
    ("javax/ws/rs/ext/ExceptionMapper", "toResponse", Runs::Answers),
    ("jakarta/ws/rs/ext/ExceptionMapper", "toResponse", Runs::Answers),
];

/// The same of what is registered: (how the class begins, method that registers it, when).
pub(crate) const REGISTERED_AROUND: &[(&str, &str, Runs)] = &[
    ("io/javalin/", "before", Runs::Before),
    ("io/javalin/", "beforeMatched", Runs::Before),
    ("io/javalin/", "after", Runs::After),
    ("io/javalin/", "afterMatched", Runs::After),
    ("io/javalin/", "exception", Runs::Answers),
    ("io/javalin/", "error", Runs::After),
    ("spark/", "before", Runs::Before),
    ("spark/", "after", Runs::After),
    ("spark/", "afterAfter", Runs::After),
    ("spark/", "exception", Runs::Answers),
];

/// The same of what annotations mark: (package, name, when).
pub(crate) const AROUND_ANNOTATIONS: &[(&str, &str, Runs)] = &[
    ("org/springframework/web/bind/annotation/", "ExceptionHandler", Runs::Answers),
    ("org/springframework/web/bind/annotation/", "ModelAttribute", Runs::Before),
    ("org/springframework/web/bind/annotation/", "InitBinder", Runs::Before),
    ("org/jboss/resteasy/reactive/server/", "ServerExceptionMapper", Runs::Answers),
    ("org/jboss/resteasy/reactive/server/", "ServerRequestFilter", Runs::Before),
    ("org/jboss/resteasy/reactive/server/", "ServerResponseFilter", Runs::After),
    ("org/aspectj/lang/annotation/", "Around", Runs::Around),
    ("org/aspectj/lang/annotation/", "Before", Runs::Before),
    ("org/aspectj/lang/annotation/", "After", Runs::After),
    ("org/aspectj/lang/annotation/", "AfterReturning", Runs::After),
    ("org/aspectj/lang/annotation/", "AfterThrowing", Runs::After),
];

/// What a library calls back in the thread that calls it.
#[derive(Debug)]
pub(crate) struct CalledBack {
    /// How the names of its super-classes begin.
    pub(crate) of: &'static str,
    /// How the names of the classes begin whose calls can call it back.
    pub(crate) by: &'static [&'static str],
    /// When else it runs for a handler, who may make no such call.
    pub(crate) else_runs: Option<Runs>,
}

const fn called_back(of: &'static str, by: &'static [&'static str], else_runs: Option<Runs>) -> CalledBack {
    CalledBack { of, by, else_runs }
}

const SECURITY: &[&str] = &["org/springframework/security/"];
const JACKSON: &[&str] = &["com/fasterxml/jackson/"];
const GSON: &[&str] = &["com/google/gson/"];
const CONVERSION: &[&str] = &["org/springframework/core/convert/"];
const PERSISTENCE: &[&str] =
    &["jakarta/persistence/", "javax/persistence/", "org/hibernate/", "org/springframework/data/"];
const REST_CLIENT: &[&str] = &["org/springframework/web/client/"];

/// See [`CalledBack`].
pub(crate) const CALLED_BACK: &[CalledBack] = &[
    called_back("org/springframework/security/core/", SECURITY, Some(Runs::Before)),
    called_back("org/springframework/security/authentication/", SECURITY, Some(Runs::Before)),
    called_back("org/springframework/security/crypto/", SECURITY, Some(Runs::Before)),
    called_back("org/springframework/security/access/", SECURITY, Some(Runs::Before)),
    called_back("org/springframework/security/provisioning/", SECURITY, Some(Runs::Before)),
    called_back("org/thymeleaf/", &["org/thymeleaf/"], Some(Runs::After)),
    called_back("freemarker/", &["freemarker/"], Some(Runs::After)),
    called_back("com/fasterxml/jackson/databind/JsonSerializer", JACKSON, Some(Runs::After)),
    called_back("com/fasterxml/jackson/databind/ser/", JACKSON, Some(Runs::After)),
    called_back("com/fasterxml/jackson/databind/JsonDeserializer", JACKSON, Some(Runs::Before)),
    called_back("com/fasterxml/jackson/databind/deser/", JACKSON, Some(Runs::Before)),
    called_back("com/google/gson/JsonSerializer", GSON, Some(Runs::After)),
    called_back("com/google/gson/JsonDeserializer", GSON, Some(Runs::Before)),
    called_back("com/google/gson/TypeAdapter", GSON, None),
    called_back("org/springframework/core/convert/converter/", CONVERSION, Some(Runs::Before)),
    called_back("org/springframework/format/", CONVERSION, Some(Runs::Before)),
    called_back(
        "org/springframework/validation/Validator",
        &["org/springframework/validation/"],
        Some(Runs::Before),
    ),
    called_back("jakarta/validation/ConstraintValidator", &["jakarta/validation/"], Some(Runs::Before)),
    called_back("javax/validation/ConstraintValidator", &["javax/validation/"], Some(Runs::Before)),
    called_back("org/springframework/jdbc/", &["org/springframework/jdbc/"], None),
    called_back(
        "org/springframework/transaction/support/TransactionCallback",
        &["org/springframework/transaction/"],
        None,
    ),
    called_back("org/springframework/web/client/ResponseErrorHandler", REST_CLIENT, None),
    called_back("org/springframework/http/client/ClientHttpRequestInterceptor", REST_CLIENT, None),
    called_back("jakarta/persistence/AttributeConverter", PERSISTENCE, None),
    called_back("javax/persistence/AttributeConverter", PERSISTENCE, None),
    called_back("org/hibernate/", PERSISTENCE, None),
    called_back("org/apache/ibatis/", &["org/apache/ibatis/"], None),
    called_back("com/google/common/cache/CacheLoader", &["com/google/common/cache/"], None),
    called_back(
        "com/github/benmanes/caffeine/cache/CacheLoader",
        &["com/github/benmanes/caffeine/cache/"],
        None,
    ),
];

/// How the names of classes end with which what goes around goes on.
pub(crate) const CHAINS: &[&str] = &["Chain", "JoinPoint"];

/// How the names of classes end that compilers of services make for who serves one.
pub(super) const SERVICE_BASES: &[&str] = &["ImplBase"];

/// Verbs.
pub(super) const VERBS: &[&str] = &["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"];

/// Settings of what all paths of a service are below, one below the other.
pub(super) const BASES: &[&str] = &[
    "server.servlet.context-path",
    "server.context-path",
    "spring.mvc.servlet.path",
    "spring.webflux.base-path",
    "micronaut.server.context-path",
    "quarkus.http.root-path",
    "quarkus.rest.path",
];

/// How annotations begin that name paths and make nobody a handler: documents, tests, caches,
/// permissions, stores.
pub(super) const NO_ROUTES: &[&str] = &[
    "io/swagger/",
    "org/eclipse/microprofile/openapi/",
    "org/junit/",
    "org/springframework/cache/",
    "org/springframework/data/",
    "org/springframework/security/",
    "org/springframework/test/",
    "javax/persistence/",
    "jakarta/persistence/",
    "javax/xml/",
    "jakarta/xml/",
    "com/fasterxml/",
];

/// Classes of requests over HTTP that are handed to handlers which find out themselves what is
/// asked for: (super-class of the handler, method, class of a parameter as it is or in part).
pub(super) const CHANNEL_HANDLERS: &[(&str, &str, &str)] = &[
    ("io/netty/channel/SimpleChannelInboundHandler", "channelRead0", "HttpRequest;"),
    ("io/netty/channel/SimpleChannelInboundHandler", "messageReceived", "HttpRequest;"),
    ("org/eclipse/jetty/server/handler/AbstractHandler", "handle", "HttpServletRequest;"),
    ("org/eclipse/jetty/server/Handler$Abstract", "handle", "Request;"),
    ("com/sun/net/httpserver/HttpHandler", "handle", "HttpExchange;"),
];

/// Annotations of classes of which a container makes the objects, and gives their constructors
/// what they need: (package, name).
pub(crate) const COMPONENTS: &[(&str, &str)] = &[
    ("org/springframework/stereotype/", "Component"),
    ("org/springframework/stereotype/", "Service"),
    ("org/springframework/stereotype/", "Repository"),
    ("org/springframework/stereotype/", "Controller"),
    ("org/springframework/web/bind/annotation/", "RestController"),
    ("org/springframework/web/bind/annotation/", "ControllerAdvice"),
    ("org/springframework/web/bind/annotation/", "RestControllerAdvice"),
    ("org/springframework/context/annotation/", "Configuration"),
    ("org/springframework/boot/autoconfigure/", "SpringBootApplication"),
    ("javax/inject/", "Singleton"),
    ("javax/inject/", "Named"),
    ("jakarta/inject/", "Singleton"),
    ("jakarta/inject/", "Named"),
    ("javax/enterprise/context/", "ApplicationScoped"),
    ("javax/enterprise/context/", "RequestScoped"),
    ("jakarta/enterprise/context/", "ApplicationScoped"),
    ("jakarta/enterprise/context/", "RequestScoped"),
    ("javax/ejb/", "Stateless"),
    ("jakarta/ejb/", "Stateless"),
    ("javax/ws/rs/", "Path"),
    ("jakarta/ws/rs/", "Path"),
    ("javax/ws/rs/ext/", "Provider"),
    ("jakarta/ws/rs/ext/", "Provider"),
    ("io/micronaut/http/annotation/", "Controller"),
];

/// Annotations of constructors that a container calls: (package, name).
pub(crate) const INJECTED: &[(&str, &str)] = &[
    ("javax/inject/", "Inject"),
    ("jakarta/inject/", "Inject"),
    ("org/springframework/beans/factory/annotation/", "Autowired"),
];

/// Words in the names of classes of what handlers are given that are registered with a path.
pub(super) const GIVEN: &[&str] = &["Request", "Exchange", "Context", "Ctx", "Http", "Routing", "Call"];

/// Annotations with which libraries find whom to call, beside those of handlers and listeners:
/// (package, name).
const CALLED_BY: &[(&str, &str)] = &[
    ("com/google/common/eventbus/", "Subscribe"),
    ("org/greenrobot/eventbus/", "Subscribe"),
    ("com/squareup/otto/", "Subscribe"),
    ("net/engio/mbassy/listener/", "Handler"),
    ("org/springframework/kafka/annotation/", "KafkaHandler"),
    ("org/springframework/amqp/rabbit/annotation/", "RabbitHandler"),
    ("org/springframework/scheduling/annotation/", "Scheduled"),
    ("org/springframework/messaging/handler/annotation/", "MessageMapping"),
    ("javax/websocket/", "OnMessage"),
    ("jakarta/websocket/", "OnMessage"),
];

/// Whether a library of servers, brokers or events calls methods with an annotation.
pub(crate) fn calls(package: &str, name: &str) -> bool {
    ANNOTATIONS.iter().any(|row| (row.0, row.1) == (package, name))
        || LISTENS.contains(&(package, name))
        || CALLED_BY.contains(&(package, name))
}
