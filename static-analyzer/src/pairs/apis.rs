//! What libraries do with the values they are given: tables of the calls that
//! carry a request from one thread or process to another. One row per API; the
//! call graph has its own table of what starts a thread.

use crate::call_graph::apis::is_stream;
use crate::program::{Name, Program};

/// Whether the end of a channel writes or reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Writes into it.
    Send,
    /// Reads from it.
    Receive,
}

/// Marks of objects that a stream takes as they are.
pub(super) const SERIALIZABLE: &[&str] = &["java/io/Serializable", "scala/Serializable"];

/// Calls that write and read such objects: (class, method).
pub(super) const WRITES_OBJECT: (&str, &str) = ("java/io/ObjectOutputStream", "writeObject");
pub(super) const READS_OBJECT: (&str, &str) = ("java/io/ObjectInputStream", "readObject");

/// Types of the fields in which a message keeps what was packed before it was made.
pub(super) const BYTES: &[&str] = &["[B", "Ljava/nio/ByteBuffer;"];

/// What the value of a container call is found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Argument number (0 is the receiver).
    Arg(usize),
    /// What the call returns.
    Result,
}

/// Kinds of containers shared between threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    /// Made for handing over: what is taken was put.
    Queue,
    /// Any collection: only its elements tell who talks to whom.
    Collection,
    /// Keyed: only equal keys tell.
    Map,
}

/// (suffix of the simple class name, what it is): the first that fits.
const CONTAINERS: &[(&str, Container)] = &[
    ("Queue", Container::Queue),
    ("Deque", Container::Queue),
    ("Exchanger", Container::Queue),
    ("EvictingQueue", Container::Queue),
    ("Map", Container::Map),
    ("Cache", Container::Map),
    ("Hashtable", Container::Map),
    ("List", Container::Collection),
    ("Vector", Container::Collection),
    ("Set", Container::Collection),
    ("Collection", Container::Collection),
];

/// Packages whose containers are known.
const CONTAINER_PACKAGES: &[&str] = &[
    "java/util/",
    "com/google/common/",
    "scala/collection/",
    "org/jboss/netty/util/internal/",
    "io/netty/util/internal/",
    "org/cliffc/high_scale_lib/",
];

/// (container, method, role, where the element or key is). Who looks into a map
/// (`get`, `containsKey`) works on state that all share; handed over is only what
/// is taken out of it.
const CONTAINER_CALLS: &[(Container, &str, Role, Part)] = &[
    (Container::Queue, "put", Role::Send, Part::Arg(1)),
    (Container::Queue, "offer", Role::Send, Part::Arg(1)),
    (Container::Queue, "add", Role::Send, Part::Arg(1)),
    (Container::Queue, "addFirst", Role::Send, Part::Arg(1)),
    (Container::Queue, "addLast", Role::Send, Part::Arg(1)),
    (Container::Queue, "offerFirst", Role::Send, Part::Arg(1)),
    (Container::Queue, "offerLast", Role::Send, Part::Arg(1)),
    (Container::Queue, "push", Role::Send, Part::Arg(1)),
    (Container::Queue, "enqueue", Role::Send, Part::Arg(1)),
    (Container::Queue, "take", Role::Receive, Part::Result),
    (Container::Queue, "poll", Role::Receive, Part::Result),
    (Container::Queue, "pop", Role::Receive, Part::Result),
    (Container::Queue, "remove", Role::Receive, Part::Result),
    (Container::Queue, "removeFirst", Role::Receive, Part::Result),
    (Container::Queue, "removeLast", Role::Receive, Part::Result),
    (Container::Queue, "pollFirst", Role::Receive, Part::Result),
    (Container::Queue, "pollLast", Role::Receive, Part::Result),
    (Container::Queue, "peek", Role::Receive, Part::Result),
    (Container::Queue, "takeFirst", Role::Receive, Part::Result),
    (Container::Queue, "takeLast", Role::Receive, Part::Result),
    (Container::Queue, "dequeue", Role::Receive, Part::Result),
    (Container::Queue, "drainTo", Role::Receive, Part::Arg(1)),
    (Container::Queue, "iterator", Role::Receive, Part::Result),
    (Container::Collection, "add", Role::Send, Part::Arg(1)),
    (Container::Collection, "addFirst", Role::Send, Part::Arg(1)),
    (Container::Collection, "addLast", Role::Send, Part::Arg(1)),
    (Container::Collection, "get", Role::Receive, Part::Result),
    (Container::Collection, "remove", Role::Receive, Part::Result),
    (Container::Collection, "removeFirst", Role::Receive, Part::Result),
    (Container::Collection, "pollFirst", Role::Receive, Part::Result),
    (Container::Collection, "iterator", Role::Receive, Part::Result),
    (Container::Map, "put", Role::Send, Part::Arg(1)),
    (Container::Map, "putIfAbsent", Role::Send, Part::Arg(1)),
    (Container::Map, "computeIfAbsent", Role::Send, Part::Arg(1)),
    (Container::Map, "remove", Role::Receive, Part::Arg(1)),
];

/// What a call on a container of class `class` does, if it is one.
pub(super) fn container_call(class: &str, method: &str) -> Option<(Container, Role, Part)> {
    CONTAINER_PACKAGES.iter().find(|p| class.starts_with(**p))?;
    let (_, container) = CONTAINERS.iter().find(|(suffix, _)| class.ends_with(suffix))?;
    let row = CONTAINER_CALLS.iter().find(|(c, m, _, _)| c == container && *m == method)?;
    Some((row.0, row.2, row.3))
}

/// How the type that a serializing call handles is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// Class named by the call.
    Owner,
    /// Class named by the call, which is a builder nested in it.
    BuilderOf,
    /// Static field that holds the serializer, else the class named by the call.
    Serializer,
}

/// One row: (method, part of the descriptor, role, type, value).
type SerializerRow = (&'static str, &'static str, Role, Typed, Part);

/// Both ends of what is written in one process and read in another.
const SERIALIZERS: &[SerializerRow] = &[
    // Protocol buffers.
    ("build", "()", Role::Send, Typed::BuilderOf, Part::Result),
    ("buildPartial", "()", Role::Send, Typed::BuilderOf, Part::Result),
    ("parseFrom", "(", Role::Receive, Typed::Owner, Part::Result),
    ("parseDelimitedFrom", "(", Role::Receive, Typed::Owner, Part::Result),
    // Writables, externalizables.
    ("write", "(Ljava/io/DataOutput;)V", Role::Send, Typed::Owner, Part::Arg(0)),
    ("readFields", "(Ljava/io/DataInput;)V", Role::Receive, Typed::Owner, Part::Arg(0)),
    ("writeExternal", "(Ljava/io/ObjectOutput;)V", Role::Send, Typed::Owner, Part::Arg(0)),
    ("readExternal", "(Ljava/io/ObjectInput;)V", Role::Receive, Typed::Owner, Part::Arg(0)),
    // Records of jute and Thrift.
    ("serialize", "(Lorg/apache/jute/OutputArchive;", Role::Send, Typed::Owner, Part::Arg(0)),
    ("deserialize", "(Lorg/apache/jute/InputArchive;", Role::Receive, Typed::Owner, Part::Arg(0)),
    ("write", "(Lorg/apache/thrift/protocol/TProtocol;)V", Role::Send, Typed::Owner, Part::Arg(0)),
    ("read", "(Lorg/apache/thrift/protocol/TProtocol;)V", Role::Receive, Typed::Owner, Part::Arg(0)),
    // Serializer objects: one method each way, by name.
    ("serialize", "(", Role::Send, Typed::Serializer, Part::Arg(1)),
    ("deserialize", "(", Role::Receive, Typed::Serializer, Part::Result),
];

/// What a call does to a serialized type, if it is a serializing call.
pub(super) fn serializer_call(method: &str, descriptor: &str) -> Option<(Role, Typed, Part)> {
    let row = SERIALIZERS.iter().find(|r| r.0 == method && descriptor.starts_with(r.1))?;
    Some((row.2, row.3, row.4))
}

/// Suffix of builders of protocol buffers.
pub(super) const BUILDER_SUFFIX: &str = "$Builder";

/// External stores: (class, method, store, role, argument with the key). Who looks
/// up a key works on state that all share; handed over is only what is told.
const STORES: &[(&str, &str, &str, Role, usize)] = &[
    ("org/apache/zookeeper/ZooKeeper", "create", "zookeeper", Role::Send, 1),
    ("org/apache/zookeeper/ZooKeeper", "setData", "zookeeper", Role::Send, 1),
    ("org/apache/zookeeper/ZooKeeper", "delete", "zookeeper", Role::Send, 1),
    ("org/apache/zookeeper/WatchedEvent", "getPath", "zookeeper", Role::Receive, 0),
    ("org/apache/curator/framework/CuratorFramework", "create", "zookeeper", Role::Send, 0),
    ("org/apache/curator/framework/CuratorFramework", "setData", "zookeeper", Role::Send, 0),
    ("org/apache/curator/framework/CuratorFramework", "delete", "zookeeper", Role::Send, 0),
    ("org/apache/kafka/clients/producer/Producer", "send", "kafka", Role::Send, 1),
    ("org/apache/kafka/clients/producer/KafkaProducer", "send", "kafka", Role::Send, 1),
    ("org/apache/kafka/clients/consumer/Consumer", "poll", "kafka", Role::Receive, 0),
    ("org/apache/kafka/clients/consumer/KafkaConsumer", "poll", "kafka", Role::Receive, 0),
    ("java/sql/PreparedStatement", "executeUpdate", "database", Role::Send, 0),
    ("java/sql/Statement", "executeUpdate", "database", Role::Send, 0),
    ("java/sql/PreparedStatement", "executeQuery", "database", Role::Receive, 0),
    ("java/sql/Statement", "executeQuery", "database", Role::Receive, 0),
    ("javax/jms/MessageProducer", "send", "jms", Role::Send, 1),
    ("javax/jms/MessageConsumer", "receive", "jms", Role::Receive, 0),
];

/// What a call does to an external store, if it is one: (store, role, argument
/// with the key).
pub(super) fn store_call(class: &str, method: &str) -> Option<(&'static str, Role, usize)> {
    let row = STORES.iter().find(|r| r.0 == class && r.1 == method)?;
    Some((row.2, row.3, row.4))
}

/// Calls that run what they are given once per element.
const ITERATIONS: &[&str] = &[
    "forEach",
    "forEachOrdered",
    "forEachRemaining",
    "foreach",
    "map",
    "flatMap",
    "filter",
    "transform",
    "replaceAll",
    "removeIf",
    "computeIfAbsent",
    "anyMatch",
    "allMatch",
    "reduce",
    "collect",
    "foldLeft",
    "invokeAll",
    "scheduleAtFixedRate",
    "scheduleWithFixedDelay",
];

/// Whether a library method of this name calls back once per element.
pub(super) fn iterates(method: &str) -> bool {
    ITERATIONS.contains(&method)
}

/// Classes that read from files: so does what is made over them, or by their methods.
pub(super) const FILES: &[&str] =
    &["java/io/FileInputStream", "java/io/RandomAccessFile", "java/io/FileReader", "java/util/zip/ZipFile"];

/// Static methods of libraries that open a file, or read one.
const FILE_OPENERS: &[(&str, &str)] = &[
    ("java/nio/file/Files", "newInputStream"),
    ("java/nio/file/Files", "newByteChannel"),
    ("java/nio/file/Files", "newBufferedReader"),
    ("java/nio/file/Files", "readAllBytes"),
    ("java/nio/channels/FileChannel", "open"),
    ("com/google/common/io/Files", "toByteArray"),
    ("org/apache/commons/io/FileUtils", "openInputStream"),
    ("org/apache/commons/io/FileUtils", "readFileToByteArray"),
];

/// Whether a call gives what is in a file.
pub(super) fn opens_file(class: &str, method: &str) -> bool {
    FILE_OPENERS.contains(&(class, method))
}

/// Whether values of this type hold what is read from a stream.
pub(super) fn carries(program: &Program, descriptor: &str) -> bool {
    let class = descriptor.strip_prefix('L').and_then(|d| d.strip_suffix(';'));
    descriptor == "[B" || class.is_some_and(|class| is_stream(program, Name::from(class)))
}

/// Whether a call that hands tasks over returns when they are done.
pub(super) fn returns_when_done(method: &Name) -> bool {
    matches!(method.as_str(), "invokeAll" | "invokeAny")
}
