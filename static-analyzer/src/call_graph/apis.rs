//! What the call graph knows of libraries: tables, one row per interface.

use schema::LinkKind;

use crate::ir::{Body, Const, Op, ValueId};
use crate::program::{MethodRef, Name, Program};

/// One interface or class whose method runs in another thread, or is called back.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The interface or class of the library.
    pub class: &'static str,
    /// The method that does the work (all overloads; a prefix if it ends in `*`).
    pub method: &'static str,
    /// Another thread runs it (none: the caller's own, before the call returns).
    pub link: Option<LinkKind>,
}

const fn thread(class: &'static str, method: &'static str) -> Task {
    Task { class, method, link: Some(LinkKind::Thread) }
}

const fn callback(class: &'static str, method: &'static str) -> Task {
    Task { class, method, link: None }
}

/// Objects with a method that the library calls.
pub const TASKS: &[Task] = &[
    thread("java/lang/Thread", "run"),
    thread("java/lang/Runnable", "run"),
    thread("java/util/concurrent/Callable", "call"),
    thread("java/util/TimerTask", "run"),
    thread("java/util/concurrent/RecursiveTask", "compute"),
    thread("java/util/concurrent/RecursiveAction", "compute"),
    thread("com/google/common/util/concurrent/FutureCallback", "on*"),
    thread("com/google/common/util/concurrent/AsyncFunction", "apply"),
    thread("java/util/concurrent/Flow$Subscriber", "on*"),
    callback("java/security/PrivilegedAction", "run"),
    callback("java/security/PrivilegedExceptionAction", "run"),
    callback("java/util/Comparator", "compare"),
    callback("java/io/FileFilter", "accept"),
    callback("java/io/FilenameFilter", "accept"),
    callback("java/util/function/Function", "apply"),
    callback("java/util/function/BiFunction", "apply"),
    callback("java/util/function/Supplier", "get"),
    callback("java/util/function/Consumer", "accept"),
    callback("java/util/function/BiConsumer", "accept"),
    callback("java/util/function/Predicate", "test"),
    callback("java/util/function/BiPredicate", "test"),
    callback("java/util/function/UnaryOperator", "apply"),
    callback("java/util/function/BinaryOperator", "apply"),
    callback("com/google/common/base/Function", "apply"),
    callback("com/google/common/base/Predicate", "apply"),
    callback("com/google/common/base/Supplier", "get"),
    callback("scala/Function0", "apply*"),
    callback("scala/Function1", "apply*"),
    callback("scala/Function2", "apply*"),
    callback("scala/PartialFunction", "apply*"),
    callback("scala/runtime/AbstractFunction0", "apply*"),
    callback("scala/runtime/AbstractFunction1", "apply*"),
    callback("scala/runtime/AbstractFunction2", "apply*"),
    callback("scala/runtime/AbstractPartialFunction", "apply*"),
    callback("kotlin/jvm/functions/Function0", "invoke"),
    callback("kotlin/jvm/functions/Function1", "invoke"),
    callback("kotlin/jvm/functions/Function2", "invoke"),
];

/// Objects that a cache or table of a library keeps and calls whenever it is used, in the
/// thread of whoever uses it.
pub const KEPT_CALLBACKS: &[Task] = &[
    callback("com/google/common/cache/CacheLoader", "load*"),
    callback("com/google/common/cache/RemovalListener", "onRemoval"),
    callback("com/google/common/cache/Weigher", "weigh"),
    callback("com/google/common/collect/MapMaker$RemovalListener", "onRemoval"),
    callback("com/google/common/collect/MapEvictionListener", "onEviction"),
    callback("com/github/benmanes/caffeine/cache/CacheLoader", "load*"),
    callback("com/github/benmanes/caffeine/cache/RemovalListener", "onRemoval"),
    callback("com/github/benmanes/caffeine/cache/Weigher", "weigh"),
    callback("com/googlecode/concurrentlinkedhashmap/EntryWeigher", "weightOf"),
    callback("com/googlecode/concurrentlinkedhashmap/EvictionListener", "onEviction"),
    callback("com/googlecode/concurrentlinkedhashmap/Weigher", "weightOf"),
];

/// Classes of the library that hold at most one thing: what they call with it, they
/// call at most once.
pub const AT_MOST_ONE: &[&str] = &[
    "java/util/Optional",
    "scala/Option",
    "scala/Option$WithFilter",
    "scala/Some",
    "scala/util/Either",
    "scala/util/Try",
    "com/google/common/base/Optional",
];

/// Methods of maps that call a function for one key, at most once.
pub const OF_ONE_KEY: &[&str] =
    &["computeIfAbsent", "computeIfPresent", "compute", "merge", "getOrElseUpdate"];

/// Classes of the library whose methods run a functional object (that would
/// otherwise be called back at once) in another thread or later.
pub const ASYNC_RECEIVERS: &[&str] = &[
    "java/util/concurrent/CompletableFuture",
    "java/util/concurrent/CompletionStage",
    "java/util/concurrent/Executor",
    "java/util/concurrent/ExecutorService",
    "java/util/concurrent/ScheduledExecutorService",
    "java/util/concurrent/CompletionService",
    "java/util/concurrent/ExecutorCompletionService",
    "java/util/concurrent/ForkJoinPool",
    "java/util/concurrent/ThreadPoolExecutor",
    "java/util/concurrent/ScheduledThreadPoolExecutor",
    "com/google/common/util/concurrent/Futures",
    "com/google/common/util/concurrent/ListenableFuture",
    "com/google/common/util/concurrent/ListeningExecutorService",
    "scala/concurrent/Future",
    "scala/concurrent/Future$",
    "scala/concurrent/Promise",
    "scala/concurrent/ExecutionContext",
    "kotlin/concurrent/ThreadsKt",
    "kotlin/concurrent/TimersKt",
    "kotlinx/coroutines/BuildersKt",
    "reactor/core/publisher/Mono",
    "reactor/core/publisher/Flux",
    "io/reactivex/Single",
    "io/reactivex/Maybe",
    "io/reactivex/Observable",
    "io/reactivex/Flowable",
    "io/reactivex/Completable",
    "io/reactivex/rxjava3/core/Single",
    "io/reactivex/rxjava3/core/Maybe",
    "io/reactivex/rxjava3/core/Observable",
    "io/reactivex/rxjava3/core/Flowable",
    "io/reactivex/rxjava3/core/Completable",
    "io/smallrye/mutiny/Uni",
    "io/smallrye/mutiny/Multi",
    "io/smallrye/mutiny/groups/UniOnItem",
    "io/smallrye/mutiny/groups/UniOnFailure",
    "io/vertx/core/Future",
    "rx/Single",
    "rx/Observable",
];

/// Interfaces and classes of RPC frameworks: whoever implements an interface
/// that extends one of them serves remote callers.
pub const RPC_MARKERS: &[&str] = &[
    "org/apache/hadoop/ipc/VersionedProtocol",
    "org/apache/hadoop/hbase/ipc/VersionedProtocol",
    "java/rmi/Remote",
    "io/grpc/BindableService",
];

/// Nested interfaces that RPC compilers generate for a service, with the
/// nested class beside them that proves it: (interface suffix, sibling suffix).
pub const RPC_GENERATED: &[(&str, &str)] = &[
    ("$BlockingInterface", "$BlockingStub"),
    ("$Interface", "$Stub"),
    ("$Iface", "$Processor"),
    ("$AsyncIface", "$AsyncProcessor"),
];

/// Superclasses of generated stubs and of the classes that hold the wire's end.
pub const RPC_STUB_SUPERS: &[&str] = &[
    "org/apache/thrift/TServiceClient",
    "org/apache/thrift/async/TAsyncClient",
    "io/grpc/stub/AbstractStub",
    "io/grpc/stub/AbstractBlockingStub",
    "io/grpc/stub/AbstractFutureStub",
    "java/rmi/server/RemoteStub",
];

/// Fields' or parameters' classes by which a generated stub sends.
const RPC_CHANNELS: &[&str] =
    &["com/google/protobuf/RpcChannel", "com/google/protobuf/BlockingRpcChannel", "io/grpc/Channel"];

/// Whether a generated stub sends by an object of `class`, also where a build has moved the
/// library to a package of its own.
pub fn is_rpc_channel(class: &str) -> bool {
    RPC_CHANNELS.iter().any(|channel| {
        class.strip_suffix(channel).is_some_and(|front| front.is_empty() || front.ends_with('/'))
    })
}

/// Methods that give back a remote proxy of the interface whose class constant
/// they are given; recognised by name, because every framework has its own.
pub const PROXY_FACTORY_NAMES: &[&str] = &[
    "getProxy",
    "getProtocolProxy",
    "waitForProxy",
    "waitForProtocolProxy",
    "newProxyInstance",
    "createProxy",
    "createNNProxy",
    "getClient",
    "newReflectiveBlockingStub",
    "newMBeanProxy",
    "newMXBeanProxy",
];

/// Methods that keep a task until the process ends; recognised by name, because
/// frameworks wrap the one of the JDK to run their tasks in an order.
pub const REGISTERS_FOR_EXIT: &[&str] = &["addShutdownHook"];

/// Methods of the library that block until there is work: a loop around one of
/// them serves requests (class, method).
pub const BLOCKING: &[(&str, &str)] = &[
    ("java/lang/Thread", "sleep"),
    ("java/lang/Object", "wait"),
    ("java/util/concurrent/TimeUnit", "sleep"),
    ("java/util/concurrent/locks/Condition", "await"),
    ("java/util/concurrent/locks/LockSupport", "park"),
    ("java/util/concurrent/locks/LockSupport", "parkNanos"),
    ("java/util/concurrent/CountDownLatch", "await"),
    ("java/util/concurrent/BlockingQueue", "take"),
    ("java/util/concurrent/BlockingQueue", "poll"),
    ("java/util/concurrent/BlockingQueue", "drainTo"),
    ("java/util/concurrent/LinkedBlockingQueue", "take"),
    ("java/util/concurrent/LinkedBlockingQueue", "poll"),
    ("java/util/concurrent/ArrayBlockingQueue", "take"),
    ("java/util/concurrent/ArrayBlockingQueue", "poll"),
    ("java/util/concurrent/PriorityBlockingQueue", "take"),
    ("java/util/concurrent/PriorityBlockingQueue", "poll"),
    ("java/util/concurrent/LinkedBlockingDeque", "take"),
    ("java/util/concurrent/LinkedBlockingDeque", "poll"),
    ("java/util/concurrent/DelayQueue", "take"),
    ("java/util/concurrent/DelayQueue", "poll"),
    ("java/util/concurrent/SynchronousQueue", "take"),
    ("java/util/concurrent/CompletionService", "take"),
    ("java/util/concurrent/ExecutorCompletionService", "take"),
    ("java/util/Queue", "poll"),
    ("java/util/Queue", "remove"),
    ("java/util/LinkedList", "removeFirst"),
    ("java/util/concurrent/ConcurrentLinkedQueue", "poll"),
    ("java/net/ServerSocket", "accept"),
    ("java/net/DatagramSocket", "receive"),
    ("java/nio/channels/Selector", "select"),
    ("java/nio/channels/ServerSocketChannel", "accept"),
    ("java/io/DataInputStream", "readByte"),
    ("java/io/DataInputStream", "readInt"),
    ("java/io/DataInputStream", "readShort"),
    ("java/io/DataInputStream", "readLong"),
    ("java/io/DataInput", "readInt"),
    ("java/io/ObjectInputStream", "readObject"),
];

/// Whether a method is one of a queue that was made for handing things from thread to thread.
pub fn is_shared_queue(method: &MethodRef) -> bool {
    let class = method.class.as_str();
    let is_of_jdk = class.starts_with("java/util/concurrent/");
    // Builds give libraries packages of their own; the end of the name stays.
    let is_of_library = || SHARED_QUEUES.iter().any(|part| class.contains(part));
    (class.ends_with("Queue") || class.ends_with("Deque")) && (is_of_jdk || is_of_library())
}

/// Packages of libraries of queues between threads.
const SHARED_QUEUES: &[&str] = &["jctools/queues/", "com/conversantmedia/util/concurrent/"];

/// What takes the next one from a queue between threads.
const TAKES: &[&str] =
    &["take", "poll", "takeFirst", "pollFirst", "takeLast", "pollLast", "relaxedPoll", "drainTo"];

/// Whether a method blocks until there is work, or takes what there is of it: a loop around it
/// serves requests.
pub(crate) fn gives_work(method: &MethodRef) -> bool {
    BLOCKING.contains(&(method.class.as_str(), method.name.as_str()))
        || is_shared_queue(method) && TAKES.contains(&method.name.as_str())
}

/// Types that hand on what is read from a stream.
const STREAMS: &[&str] = &[
    "java/io/InputStream",
    "java/io/Reader",
    "java/io/DataInput",
    "java/nio/Buffer",
    "java/nio/channels/Channel",
    "org/apache/jute/InputArchive",
    "org/apache/thrift/protocol/TProtocol",
    "org/apache/thrift/transport/TTransport",
];

/// Whether objects of a class hand on what is read from a stream.
pub(crate) fn is_stream(program: &Program, class: Name) -> bool {
    STREAMS.iter().any(|stream| program.is_subtype(class, Name::from(stream)))
}

/// Whether a call gives the next number or text of a stream: what another process, or this
/// one long ago, has written.
pub(crate) fn reads_stream(program: &Program, method: MethodRef) -> bool {
    let reads = method.name.starts_with("read") || method.name.starts_with("get");
    reads && is_stream(program, method.class)
}

/// Methods of collections that put an argument in, by name: it is an element
/// afterwards (class names are those of `java/util`).
pub const COLLECTION_PUT: &[&str] =
    &["add", "put", "offer", "addLast", "addFirst", "push", "putIfAbsent", "set", "addElement"];

/// Methods of maps that keep a value under a key: table, key, value.
pub const TABLE_PUT: &[&str] = &["put", "putIfAbsent", "replace"];

/// Methods of maps that find a value by its key: table, key.
pub const TABLE_GET: &[&str] = &["get", "getOrDefault", "getIfPresent", "remove"];

/// Methods of collections (and of iterators over them) that give an element.
pub const COLLECTION_GET: &[&str] = &[
    "get",
    "next",
    "take",
    "poll",
    "peek",
    "remove",
    "removeFirst",
    "removeLast",
    "pollFirst",
    "pollLast",
    "peekFirst",
    "peekLast",
    "getFirst",
    "getLast",
    "element",
    "first",
    "last",
    "firstElement",
    "lastElement",
    "elementAt",
    "nextElement",
    "pop",
    "getKey",
    "getValue",
    "higherEntry",
    "floorEntry",
    "ceilingEntry",
    "firstEntry",
    "lastEntry",
    "pollFirstEntry",
];

/// Methods that give a view or copy of a collection with the same elements.
pub const COLLECTION_VIEW: &[&str] = &[
    "iterator",
    "listIterator",
    "values",
    "keySet",
    "entrySet",
    "subList",
    "toArray",
    "elements",
    "descendingIterator",
    "keys",
    "stream",
    "parallelStream",
    "clone",
];

/// Calls that split a text: (class, method). What each part is depends on its position.
const SPLITS: &[(&str, &str)] = &[
    ("java/lang/String", "split"),
    ("kotlin/text/StringsKt", "split$default"),
    ("com/google/common/base/Splitter", "splitToList"),
];

/// Calls that cut a part out of a text: (class, method).
const PARTS: &[(&str, &str)] = &[
    ("java/lang/String", "substring"),
    ("java/lang/String", "trim"),
    ("java/lang/String", "strip"),
    ("java/util/StringTokenizer", "nextToken"),
    ("java/util/regex/Matcher", "group"),
];

/// Whether a call gives a part of a text, which names what the text names.
pub(crate) fn is_part_of_text(method: &MethodRef) -> bool {
    PARTS.contains(&(method.class.as_str(), method.name.as_str()))
}

/// Whether a call looks something up under a name that is written in the code: what a map holds
/// under it is one thing, not one of many.
pub(crate) fn is_named(body: &Body, method: &MethodRef, args: &[ValueId]) -> bool {
    let key = args.get(1).map(|&key| body.op(body.uncast(key)));
    let is_lookup = matches!(method.name.as_str(), "get" | "getOrDefault" | "remove");
    is_lookup && matches!(key, Some(Op::Const(Const::Text(_))))
}

/// Whether a call splits a text into parts.
pub(crate) fn splits(method: &MethodRef) -> bool {
    SPLITS.contains(&(method.class.as_str(), method.name.as_str()))
}

/// Calls that read a line of text: (class, method).
const LINES_READ: &[(&str, &str)] = &[
    ("java/io/BufferedReader", "readLine"),
    ("java/io/LineNumberReader", "readLine"),
    ("java/io/DataInputStream", "readLine"),
    ("java/util/Scanner", "nextLine"),
    ("kotlin/io/ConsoleKt", "readLine"),
];

/// Whether a call reads a line of text.
pub(crate) fn reads_line(called: &MethodRef) -> bool {
    LINES_READ.contains(&(called.class.as_str(), called.name.as_str()))
}

/// Calls of a server that give what it was asked for by its address: (class, method).
const ASKED: &[(&str, &str)] = &[
    ("com/sun/net/httpserver/HttpExchange", "getRequestURI"),
    ("javax/servlet/http/HttpServletRequest", "getRequestURI"),
    ("javax/servlet/http/HttpServletRequest", "getPathInfo"),
    ("javax/servlet/http/HttpServletRequest", "getServletPath"),
    ("javax/servlet/http/HttpServletRequest", "getQueryString"),
    ("jakarta/servlet/http/HttpServletRequest", "getRequestURI"),
    ("jakarta/servlet/http/HttpServletRequest", "getPathInfo"),
    ("jakarta/servlet/http/HttpServletRequest", "getServletPath"),
    ("jakarta/servlet/http/HttpServletRequest", "getQueryString"),
    ("io/netty/handler/codec/http/HttpRequest", "uri"),
    ("io/netty/handler/codec/http/HttpRequest", "getUri"),
];

/// Whether a call gives the address that a server was asked for.
pub(crate) fn is_asked_for(called: &MethodRef) -> bool {
    ASKED.contains(&(called.class.as_str(), called.name.as_str()))
}

/// Calls of a server that give the value of a name in the address that it was asked by.
const PARAMETERS: &[(&str, &str)] = &[
    ("javax/servlet/http/HttpServletRequest", "getParameter"),
    ("javax/servlet/ServletRequest", "getParameter"),
    ("jakarta/servlet/http/HttpServletRequest", "getParameter"),
    ("jakarta/servlet/ServletRequest", "getParameter"),
];

/// Whether a call gives the value of a name in the address that a server was asked by.
pub(crate) fn is_parameter(called: &MethodRef) -> bool {
    PARAMETERS.contains(&(called.class.as_str(), called.name.as_str()))
}

/// Where the classes of streams of elements are.
pub const STREAM_PACKAGE: &str = "java/util/stream/";

/// Methods of streams that give a stream or collection of the same elements.
pub const STREAM_VIEW: &[&str] =
    &["filter", "sorted", "distinct", "limit", "skip", "peek", "parallel", "sequential", "collect", "toList"];

/// Methods of streams that give what the closure makes of the elements.
pub const STREAM_MAP: &[&str] = &["map", "mapToObj"];

/// Boxes, holders and identity functions of the library: the result is the
/// receiver or first argument (class, method).
pub const SAME_VALUE: &[(&str, &str)] = &[
    ("java/lang/Long", "valueOf"),
    ("java/lang/Integer", "valueOf"),
    ("java/lang/Short", "valueOf"),
    ("java/lang/Byte", "valueOf"),
    ("java/lang/Character", "valueOf"),
    ("java/lang/Boolean", "valueOf"),
    ("java/lang/Double", "valueOf"),
    ("java/lang/Float", "valueOf"),
    ("java/lang/Long", "longValue"),
    ("java/lang/Long", "intValue"),
    ("java/lang/Integer", "intValue"),
    ("java/lang/Integer", "longValue"),
    ("java/lang/Short", "shortValue"),
    ("java/lang/Byte", "byteValue"),
    ("java/lang/Character", "charValue"),
    ("java/lang/Boolean", "booleanValue"),
    ("java/lang/Double", "doubleValue"),
    ("java/lang/Float", "floatValue"),
    ("java/lang/String", "valueOf"),
    ("java/lang/String", "toString"),
    ("java/lang/String", "intern"),
    ("java/lang/String", "trim"),
    ("java/lang/Long", "toString"),
    ("java/lang/Integer", "toString"),
    ("java/util/UUID", "toString"),
    ("java/util/UUID", "fromString"),
    ("java/lang/Long", "parseLong"),
    ("java/lang/Integer", "parseInt"),
    ("java/lang/Long", "toHexString"),
    ("java/util/Objects", "requireNonNull"),
    ("com/google/common/base/Preconditions", "checkNotNull"),
    ("scala/runtime/BoxesRunTime", "boxToBoolean"),
    ("scala/runtime/BoxesRunTime", "boxToCharacter"),
    ("scala/runtime/BoxesRunTime", "boxToByte"),
    ("scala/runtime/BoxesRunTime", "boxToShort"),
    ("scala/runtime/BoxesRunTime", "boxToInteger"),
    ("scala/runtime/BoxesRunTime", "boxToLong"),
    ("scala/runtime/BoxesRunTime", "boxToFloat"),
    ("scala/runtime/BoxesRunTime", "boxToDouble"),
    ("scala/runtime/BoxesRunTime", "unboxToBoolean"),
    ("scala/runtime/BoxesRunTime", "unboxToChar"),
    ("scala/runtime/BoxesRunTime", "unboxToByte"),
    ("scala/runtime/BoxesRunTime", "unboxToShort"),
    ("scala/runtime/BoxesRunTime", "unboxToInt"),
    ("scala/runtime/BoxesRunTime", "unboxToLong"),
    ("scala/runtime/BoxesRunTime", "unboxToFloat"),
    ("scala/runtime/BoxesRunTime", "unboxToDouble"),
];

/// Methods whose results name no thing: texts of errors, names of classes.
pub const NO_IDENTITY: &[&str] = &[
    "getMessage",
    "getLocalizedMessage",
    "getCause",
    "getStackTrace",
    "getClass",
    "getSimpleName",
    "getProperty",
    "getenv",
    "currentTimeMillis",
    "nanoTime",
    "size",
    "length",
    "available",
];

/// Packages of supertypes that data, resources and exceptions have: an uncalled
/// method of their subclasses is part of an interface for programs, no callback.
const PASSIVE_PACKAGES: &[&str] = &[
    "java/io/",
    "java/lang/",
    "java/math/",
    "java/net/",
    "java/nio/",
    "java/security/",
    "java/text/",
    "java/util/",
    "scala/collection/",
    "scala/math/",
    "scala/Product",
    "scala/Equals",
    "scala/Serializable",
];

/// Packages among those whose types are callbacks.
const ACTIVE_PACKAGES: &[&str] = &["java/lang/management/", "java/util/EventListener", "java/util/Observer"];

/// Whether a library that knows an object as one of this type may call it back.
pub fn calls_back(supertype: &str) -> bool {
    let is_in = |packages: &[&str]| packages.iter().any(|p| supertype.starts_with(p));
    is_in(ACTIVE_PACKAGES) || !is_in(PASSIVE_PACKAGES)
}

/// (class, method): waits until tasks are done that nothing stands for.
const WAITS_FOR_TASKS: &[(&str, &str)] = &[
    ("java/util/concurrent/CountDownLatch", "await"),
    ("java/util/concurrent/ExecutorService", "invokeAll"),
    ("java/util/concurrent/ExecutorService", "awaitTermination"),
];

/// Whether a call waits until a task is done.
pub(crate) fn waits_for_task(class: &Name, method: &Name) -> bool {
    waits_for(class, method) || WAITS_FOR_TASKS.contains(&(class.as_str(), method.as_str()))
}

/// (class, method): asks for the result of what stands for something that runs in another
/// thread, and waits until there is one.
const WAITS: &[(&str, &str)] = &[
    ("java/util/concurrent/CompletionService", "take"),
    ("java/util/concurrent/ExecutorCompletionService", "take"),
    ("java/util/concurrent/Future", "get"),
    ("java/util/concurrent/RunnableFuture", "get"),
    ("java/util/concurrent/ScheduledFuture", "get"),
    ("java/util/concurrent/FutureTask", "get"),
    ("java/util/concurrent/CompletableFuture", "get"),
    ("java/util/concurrent/CompletableFuture", "join"),
    ("java/util/concurrent/ForkJoinTask", "get"),
    ("java/util/concurrent/ForkJoinTask", "join"),
    ("java/lang/Thread", "join"),
    ("com/google/common/util/concurrent/ListenableFuture", "get"),
    ("com/google/common/util/concurrent/ListenableFutureTask", "get"),
    ("com/google/common/util/concurrent/SettableFuture", "get"),
    ("com/google/common/util/concurrent/CheckedFuture", "checkedGet"),
    ("com/google/common/util/concurrent/Futures", "get"),
    ("com/google/common/util/concurrent/Futures", "getUnchecked"),
    ("com/google/common/util/concurrent/Uninterruptibles", "getUninterruptibly"),
    ("com/google/common/util/concurrent/Uninterruptibles", "joinUninterruptibly"),
    ("io/netty/util/concurrent/Future", "get"),
    ("io/netty/util/concurrent/Future", "sync"),
    ("io/netty/util/concurrent/Future", "await"),
    ("scala/concurrent/Await$", "result"),
    ("scala/concurrent/Await$", "ready"),
    ("scala/concurrent/Awaitable", "result"),
    ("scala/concurrent/Awaitable", "ready"),
];

/// Classes whose objects take tasks and give back what is done of them: each stands for the
/// tasks that it was given.
const COMPLETIONS: &[&str] =
    &["java/util/concurrent/CompletionService", "java/util/concurrent/ExecutorCompletionService"];

/// Whether objects of a class stand for the tasks that they are given.
pub(crate) fn stands_for_tasks(class: &Name) -> bool {
    COMPLETIONS.contains(&class.as_str())
}

/// Whether a call waits for what it is given.
pub(crate) fn waits_for(class: &Name, method: &Name) -> bool {
    WAITS.iter().any(|&(c, m)| c == class.as_str() && m == method.as_str())
}

/// Whether a collection keeps what such a call gives it.
pub(crate) fn is_kept_by(method: &Name) -> bool {
    matches!(method.as_str(), "add" | "addAll" | "offer" | "put" | "push" | "addLast" | "addFirst")
}

/// Whether such a call on a collection gives what it keeps, or goes through that.
pub(crate) fn gives_kept(method: &Name) -> bool {
    matches!(
        method.as_str(),
        "iterator" | "next" | "get" | "values" | "entrySet" | "getValue" | "poll" | "remove" | "pop"
    )
}

/// Calls that run a task again and again, whoever asked for it: (method, descriptor of
/// its parameters; empty: any).
const REPEATS: &[(&str, &str)] = &[
    ("scheduleAtFixedRate", ""),
    ("scheduleWithFixedDelay", ""),
    ("schedule", "(Ljava/util/TimerTask;JJ)"),
    ("schedule", "(Ljava/util/TimerTask;Ljava/util/Date;J)"),
];

/// Classes whose objects are connections to another process.
pub const CONNECTIONS: &[&str] = &["java/net/Socket", "javax/net/ssl/SSLSocket"];

/// Whether a call of this name and descriptor runs a task again and again.
pub fn repeats(name: &str, descriptor: &str) -> bool {
    REPEATS.iter().any(|row| row.0 == name && descriptor.starts_with(row.1))
}

/// Classes whose methods run a task when something else is done: whoever gives them
/// one asks to be told, and hands over nothing. Those that take an executor do.
pub const FUTURES: &[&str] = &[
    "java/util/concurrent/CompletableFuture",
    "java/util/concurrent/CompletionStage",
    "scala/concurrent/Future",
    "scala/concurrent/Future$",
];

/// Calls that attach an object to a connection: (class, method).
pub const ATTACHES: &[(&str, &str)] = &[
    ("java/nio/channels/SelectionKey", "attach"),
    ("org/jboss/netty/channel/Channel", "setAttachment"),
    ("org/jboss/netty/channel/ChannelHandlerContext", "setAttachment"),
    ("io/netty/util/Attribute", "set"),
    ("org/apache/mina/core/session/IoSession", "setAttachment"),
    ("org/apache/mina/core/session/IoSession", "setAttribute"),
    ("org/xnio/conduits/Conduit", "setAttachment"),
];

/// Calls that give back the object which a program has attached to a connection:
/// (class, method).
pub const ATTACHED: &[(&str, &str)] = &[
    ("java/nio/channels/SelectionKey", "attachment"),
    ("org/jboss/netty/channel/Channel", "getAttachment"),
    ("org/jboss/netty/channel/ChannelHandlerContext", "getAttachment"),
    ("io/netty/util/Attribute", "get"),
    ("org/apache/mina/core/session/IoSession", "getAttachment"),
    ("org/apache/mina/core/session/IoSession", "getAttribute"),
    ("org/xnio/conduits/Conduit", "getAttachment"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_is_known_where_a_build_has_moved_its_library() {
        assert!(is_rpc_channel("com/google/protobuf/BlockingRpcChannel"));
        assert!(is_rpc_channel("org/shop/thirdparty/com/google/protobuf/RpcChannel"));
        assert!(!is_rpc_channel("org/shop/telecom/google/protobuf/RpcChannel"));
        assert!(!is_rpc_channel("org/shop/RpcChannel"));
    }

    #[test]
    fn what_takes_from_queues_between_threads_gives_work_also_where_a_build_has_moved_their_library() {
        let gives = |class: &str, name: &str| {
            let descriptor = "()Ljava/lang/Object;".into();
            gives_work(&MethodRef { class: class.into(), name: name.into(), descriptor })
        };
        assert!(gives("org/jctools/queues/MpscArrayQueue", "poll"));
        assert!(gives("org/shop/shade/org/jctools/queues/SpscLinkedQueue", "relaxedPoll"));
        assert!(gives("java/util/concurrent/ConcurrentLinkedDeque", "pollFirst"));
        assert!(gives("java/util/concurrent/LinkedTransferQueue", "take"));
        assert!(!gives("org/jctools/queues/MpscArrayQueue", "size"));
        assert!(!gives("org/shop/OrderQueue", "poll"));
    }
}
