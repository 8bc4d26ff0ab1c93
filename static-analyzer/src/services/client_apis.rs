//! Calls with which libraries ask others: over HTTP, by the addresses that they are given, and
//! by messages to topics and queues.

/// A call that is given an address.
pub(super) struct Row {
    /// The class, or how its name begins if it ends in `*`.
    pub(super) class: &'static str,
    /// The method, or how its name begins if it ends in `*`; empty: any.
    pub(super) method: &'static str,
    /// Where the address stands among the arguments, the receiver first.
    pub(super) address: usize,
}

const fn row(class: &'static str, method: &'static str, address: usize) -> Row {
    Row { class, method, address }
}

/// Calls that are given an address, be it without a host.
pub(super) const CALLS: &[Row] = &[
    row("org/springframework/web/client/RestTemplate", "", 1),
    row("org/springframework/web/client/RestOperations", "", 1),
    row("org/springframework/web/client/AsyncRestTemplate", "", 1),
    row("org/springframework/boot/test/web/client/TestRestTemplate", "", 1),
    row("org/springframework/web/reactive/function/client/WebClient$*", "uri", 1),
    row("org/springframework/web/client/RestClient$*", "uri", 1),
    row("org/springframework/http/RequestEntity", "", 0),
    row("java/net/http/HttpRequest", "newBuilder", 0),
    row("java/net/http/HttpRequest$Builder", "uri", 1),
    row("java/net/URL", "openConnection", 0),
    row("java/net/URL", "openStream", 0),
    row("org/apache/http/client/methods/*", "<init>", 1),
    row("org/apache/http/client/fluent/Request", "", 0),
    row("org/apache/hc/client5/http/*", "<init>", 1),
    row("org/apache/hc/client5/http/fluent/Request", "", 0),
    row("org/apache/hc/client5/http/async/methods/SimpleHttpRequests", "", 0),
    row("org/apache/commons/httpclient/methods/*", "<init>", 1),
    row("okhttp3/Request$Builder", "url", 1),
    row("com/squareup/okhttp/Request$Builder", "url", 1),
    row("javax/ws/rs/client/WebTarget", "request", 0),
    row("jakarta/ws/rs/client/WebTarget", "request", 0),
    row("com/sun/jersey/api/client/Client", "resource", 1),
    row("io/micronaut/http/HttpRequest", "", 0),
    row("io/vertx/ext/web/client/WebClient", "*Abs", 1),
    row("io/vertx/ext/web/client/WebClient", "", 3),
    row("kong/unirest/Unirest", "", 0),
    row("com/mashape/unirest/http/Unirest", "", 0),
    row("org/eclipse/jetty/client/HttpClient", "newRequest", 1),
    row("org/eclipse/jetty/client/HttpClient", "GET", 1),
    row("org/asynchttpclient/AsyncHttpClient", "prepare*", 1),
    row("feign/RequestTemplate", "uri", 1),
];

/// Classes whose calls that are given an address send it themselves.
pub(super) const DIRECT: &[&str] = &[
    "org/springframework/web/client/RestTemplate",
    "org/springframework/web/client/RestOperations",
    "org/springframework/web/client/AsyncRestTemplate",
    "org/springframework/boot/test/web/client/TestRestTemplate",
];

/// Verbs of calls that do not say one: (class, verb).
pub(super) const DEFAULT_VERBS: &[(&str, &str)] = &[
    ("java/net/http/HttpRequest", "GET"),
    ("java/net/http/HttpRequest$Builder", "GET"),
    ("java/net/URL", "GET"),
    ("okhttp3/Request$Builder", "GET"),
    ("com/squareup/okhttp/Request$Builder", "GET"),
];

/// Calls that set the verb.
pub(super) const SETS_VERB: &[&str] = &["setRequestMethod", "method"];

/// Calls that make a POST of what was a GET.
pub(super) const SENDS_BODY: &[&str] = &["setDoOutput", "getOutputStream"];

/// Calls that send what was made before, and wait.
pub(super) const SENDS: &[&str] = &[
    "execute",
    "send",
    "exchange",
    "openStream",
    "getInputStream",
    "getResponseCode",
    "getResponseMessage",
    "getErrorStream",
    "block",
    "blockFirst",
    "blockLast",
    "blockOptional",
    "blockingGet",
    "toBodilessEntity",
    "toEntity",
    "body",
    "invoke",
    "join",
    "await",
    "returnContent",
    "executeMethod",
];

/// Calls that send it, and go on.
pub(super) const SENDS_ASYNC: &[&str] =
    &["enqueue", "sendAsync", "executeAsync", "subscribe", "rxSend", "submit"];

/// Calls that wait for what was sent so.
pub(super) const WAITS: &[&str] = &[
    "block",
    "blockFirst",
    "blockLast",
    "blockOptional",
    "blockingGet",
    "blockingFirst",
    "join",
    "await",
    "toIterable",
    "execute",
];

/// Classes that stand for an answer that has not come yet.
pub(super) const LATER: &[&str] = &[
    "reactor/core/publisher/",
    "org/reactivestreams/",
    "java/util/concurrent/",
    "com/google/common/util/concurrent/",
    "org/springframework/util/concurrent/",
    "io/reactivex/",
    "rx/",
    "io/smallrye/mutiny/",
    "io/vertx/core/Future",
    "retrofit2/Call",
    "okhttp3/Call",
    "scala/concurrent/",
    "kotlinx/coroutines/",
];

/// Calls that add a path to an address.
pub(super) const APPENDS: &[&str] = &[
    "path",
    "pathSegment",
    "addPathSegment",
    "addPathSegments",
    "appendPath",
    "segment",
    "setPath",
    "replacePath",
    "resolve",
];

/// Calls that add a parameter to an address: its name and its value.
pub(super) const PARAMETERS: &[&str] =
    &["queryParam", "addQueryParameter", "addParameter", "setParameter", "addQueryParam", "queryString"];

/// Calls that fill in a variable of an address: its name and its value.
pub(super) const FILLS: &[&str] = &["resolveTemplate", "routeParam", "setTemplateValue", "pathParam"];

/// Calls that send a message: (class, method, arguments that name topic, exchange or queue, the
/// receiver first).
pub(super) const MESSAGES: &[(&str, &str, &[usize])] = &[
    ("org/springframework/kafka/core/KafkaTemplate", "send", &[1]),
    ("org/springframework/kafka/core/KafkaOperations", "send", &[1]),
    ("org/springframework/amqp/rabbit/core/RabbitTemplate", "convertAndSend", &[1, 2]),
    ("org/springframework/amqp/rabbit/core/RabbitTemplate", "send", &[1, 2]),
    ("org/springframework/amqp/rabbit/core/RabbitTemplate", "convertSendAndReceive", &[1, 2]),
    ("org/springframework/amqp/rabbit/core/RabbitOperations", "convertAndSend", &[1, 2]),
    ("org/springframework/amqp/core/AmqpTemplate", "convertAndSend", &[1, 2]),
    ("org/springframework/amqp/core/AmqpTemplate", "send", &[1, 2]),
    ("org/springframework/jms/core/JmsTemplate", "convertAndSend", &[1]),
    ("org/springframework/jms/core/JmsTemplate", "send", &[1]),
    ("org/springframework/jms/core/JmsOperations", "convertAndSend", &[1]),
    ("org/springframework/jms/core/JmsMessagingTemplate", "convertAndSend", &[1]),
    ("org/springframework/pulsar/core/PulsarTemplate", "send", &[1]),
    ("org/springframework/cloud/stream/function/StreamBridge", "send", &[1]),
    ("org/apache/kafka/clients/producer/ProducerRecord", "<init>", &[1]),
    ("com/rabbitmq/client/Channel", "basicPublish", &[1, 2]),
    ("io/awspring/cloud/sqs/operations/SqsTemplate", "send", &[1]),
];

/// Calls among those that wait for an answer.
pub(super) const MESSAGES_ANSWERED: &[&str] = &["convertSendAndReceive", "sendAndReceive"];

/// Whether a class is one of those with which requests are made and answers awaited: closures
/// that it is given serve nobody.
pub(super) fn is_of_clients(class: &str) -> bool {
    let is = |row: &Row| match row.class.strip_suffix('*') {
        Some(front) => class.starts_with(front),
        None => class == row.class,
    };
    CALLS.iter().any(is) || LATER.iter().any(|later| class.starts_with(later))
}
