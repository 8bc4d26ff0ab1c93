//! What libraries do with the values they are given: tables of the calls that
//! carry a request from one thread or process to another. One row per API; the
//! call graph has its own table of what starts a thread.

use crate::call_graph::apis::{COLLECTION_GET, COLLECTION_VIEW, is_stream, reads_line};
use crate::program::{MethodRef, Name, Program};

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
    /// The elements of argument number.
    Elements(usize),
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
    /// Holds one thing at a time.
    Slot,
}

/// (suffix of the simple class name, what it is): the first that fits.
const CONTAINERS: &[(&str, Container)] = &[
    ("Queue", Container::Queue),
    ("Deque", Container::Queue),
    ("Exchanger", Container::Queue),
    ("AtomicReference", Container::Slot),
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
    (Container::Queue, "putFirst", Role::Send, Part::Arg(1)),
    (Container::Queue, "putLast", Role::Send, Part::Arg(1)),
    (Container::Queue, "transfer", Role::Send, Part::Arg(1)),
    (Container::Queue, "tryTransfer", Role::Send, Part::Arg(1)),
    (Container::Queue, "exchange", Role::Send, Part::Arg(1)),
    (Container::Queue, "exchange", Role::Receive, Part::Result),
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
    (Container::Queue, "drainTo", Role::Receive, Part::Elements(1)),
    (Container::Queue, "addAll", Role::Send, Part::Elements(1)),
    (Container::Queue, "iterator", Role::Receive, Part::Result),
    (Container::Collection, "add", Role::Send, Part::Arg(1)),
    (Container::Collection, "addFirst", Role::Send, Part::Arg(1)),
    (Container::Collection, "addLast", Role::Send, Part::Arg(1)),
    (Container::Collection, "addAll", Role::Send, Part::Elements(1)),
    (Container::Collection, "offer", Role::Send, Part::Arg(1)),
    (Container::Collection, "push", Role::Send, Part::Arg(1)),
    (Container::Collection, "poll", Role::Receive, Part::Result),
    (Container::Collection, "pop", Role::Receive, Part::Result),
    (Container::Collection, "removeLast", Role::Receive, Part::Result),
    (Container::Collection, "pollLast", Role::Receive, Part::Result),
    (Container::Collection, "get", Role::Receive, Part::Result),
    (Container::Collection, "remove", Role::Receive, Part::Result),
    (Container::Collection, "removeFirst", Role::Receive, Part::Result),
    (Container::Collection, "pollFirst", Role::Receive, Part::Result),
    (Container::Collection, "iterator", Role::Receive, Part::Result),
    (Container::Map, "put", Role::Send, Part::Arg(1)),
    (Container::Map, "putIfAbsent", Role::Send, Part::Arg(1)),
    (Container::Map, "computeIfAbsent", Role::Send, Part::Arg(1)),
    (Container::Map, "remove", Role::Receive, Part::Arg(1)),
    // Who only looks at it works on state that all share.
    (Container::Slot, "set", Role::Send, Part::Arg(1)),
    (Container::Slot, "lazySet", Role::Send, Part::Arg(1)),
    (Container::Slot, "compareAndSet", Role::Send, Part::Arg(2)),
    (Container::Slot, "getAndSet", Role::Send, Part::Arg(1)),
    (Container::Slot, "getAndSet", Role::Receive, Part::Result),
];

/// Queues that give first what was put first, whoever waits longest or matters most.
const IN_ORDER: &[&str] = &[
    "java/util/concurrent/LinkedBlockingQueue",
    "java/util/concurrent/ArrayBlockingQueue",
    "java/util/concurrent/ConcurrentLinkedQueue",
    "java/util/concurrent/LinkedTransferQueue",
    "java/util/concurrent/LinkedBlockingDeque",
    "java/util/concurrent/ConcurrentLinkedDeque",
    "java/util/ArrayDeque",
    "java/util/LinkedList",
];

/// Whether objects of a class are queues that give first what was put first.
pub(super) fn is_in_order(class: &str) -> bool {
    IN_ORDER.contains(&class)
}

/// Whether a call puts at the end of a queue, or takes one from its beginning.
pub(super) fn keeps_order(method: &str) -> bool {
    const PUTS: [&str; 6] = ["put", "offer", "add", "addLast", "offerLast", "putLast"];
    const TAKES: [&str; 6] = ["take", "poll", "remove", "removeFirst", "pollFirst", "takeFirst"];
    PUTS.contains(&method) || TAKES.contains(&method)
}

/// What a container's class is, if it is one.
fn container_of(class: &str) -> Option<Container> {
    CONTAINER_PACKAGES.iter().find(|p| class.starts_with(**p))?;
    let (_, container) = CONTAINERS.iter().find(|(suffix, _)| class.ends_with(suffix))?;
    Some(*container)
}

/// Whether values of this type are containers of objects.
pub(super) fn is_container(descriptor: &str) -> bool {
    let class = descriptor.strip_prefix('L').and_then(|class| class.strip_suffix(';'));
    descriptor.starts_with("[L") || class.is_some_and(|class| container_of(class).is_some())
}

/// Whether a call on a container gives one of its elements, or all of them.
pub(super) fn gives_element(class: &str, method: &str) -> bool {
    const BY_KEY: &[&str] = &["getOrDefault", "computeIfAbsent", "putIfAbsent"];
    let of_any = |lists: [&[&str]; 3]| lists.iter().any(|list| list.contains(&method));
    let is_walked = matches!(class, "java/util/Iterator" | "java/util/Map$Entry" | "java/util/ListIterator");
    (is_walked || container_of(class).is_some()) && of_any([COLLECTION_GET, COLLECTION_VIEW, BY_KEY])
}

/// Whether such a call finds an element by its key.
pub(super) fn is_by_key(method: &str) -> bool {
    matches!(method, "get" | "getOrDefault" | "computeIfAbsent" | "putIfAbsent")
}

/// Whether a static call gives another view of the container that it is given.
pub(super) fn wraps_container(class: &str, method: &str) -> bool {
    let wraps = ["synchronized", "unmodifiable", "checked"].iter().any(|front| method.starts_with(front));
    wraps && matches!(class, "java/util/Collections" | "com/google/common/collect/Queues")
}

/// What a call on a container of class `class` does, if it is one; who exchanges puts and takes.
pub(super) fn container_calls<'m>(
    class: &str,
    method: &'m str,
) -> impl Iterator<Item = (Container, Role, Part)> + use<'m> {
    let container = container_of(class);
    let rows = CONTAINER_CALLS.iter().filter(move |row| Some(row.0) == container && row.1 == method);
    rows.map(|row| (row.0, row.2, row.3))
}

/// Classes of the JDK of which libraries carry copies: what stands in their arrays are cells of
/// counters and of tables.
const JDK_COPIES: &[&str] = &["Striped64", "LongAdder", "ConcurrentHashMapV8", "ForkJoinPool"];

/// Whether a class is a copy of one of the JDK.
pub(super) fn is_jdk_copy(class: Name) -> bool {
    JDK_COPIES.contains(&class.rsplit('/').next().unwrap_or_default())
}

/// Whether a call wakes who waits for it.
pub(super) fn signals(class: &str, method: &str) -> bool {
    let is_signal = matches!(method, "notify" | "notifyAll") && class == "java/lang/Object";
    is_signal || matches!(method, "signal" | "signalAll") && class == "java/util/concurrent/locks/Condition"
}

/// Whether a call waits to be woken.
pub(super) fn waits_for_signal(class: &str, method: &str) -> bool {
    (class, method) == ("java/lang/Object", "wait")
        || method.starts_with("await") && class == "java/util/concurrent/locks/Condition"
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

/// What a call of a library does with an object that it maps as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mapped {
    /// Writes the argument of this number.
    Writes(usize),
    /// Makes one, of the class that the argument of this number is, if one says so.
    Reads(Option<usize>),
}

/// (class, method, what it does): the first that fits; a method is a prefix if it ends in
/// `*`.
const MAPPERS: &[(&str, &str, Mapped)] = &[
    ("com/fasterxml/jackson/databind/ObjectMapper", "writeValueAs*", Mapped::Writes(1)),
    ("com/fasterxml/jackson/databind/ObjectMapper", "writeValue", Mapped::Writes(2)),
    ("com/fasterxml/jackson/databind/ObjectMapper", "readValue", Mapped::Reads(Some(2))),
    ("com/fasterxml/jackson/databind/ObjectMapper", "treeToValue", Mapped::Reads(Some(2))),
    ("com/fasterxml/jackson/databind/ObjectWriter", "writeValueAs*", Mapped::Writes(1)),
    ("com/fasterxml/jackson/databind/ObjectReader", "readValue", Mapped::Reads(None)),
    ("org/codehaus/jackson/map/ObjectMapper", "writeValueAs*", Mapped::Writes(1)),
    ("org/codehaus/jackson/map/ObjectMapper", "writeValue", Mapped::Writes(2)),
    ("org/codehaus/jackson/map/ObjectMapper", "readValue", Mapped::Reads(Some(2))),
    ("com/google/gson/Gson", "toJson", Mapped::Writes(1)),
    ("com/google/gson/Gson", "fromJson", Mapped::Reads(Some(2))),
    ("com/esotericsoftware/kryo/Kryo", "writeObject", Mapped::Writes(2)),
    ("com/esotericsoftware/kryo/Kryo", "writeClassAndObject", Mapped::Writes(2)),
    ("com/esotericsoftware/kryo/Kryo", "readObject", Mapped::Reads(Some(2))),
    ("com/esotericsoftware/kryo/Kryo", "readClassAndObject", Mapped::Reads(None)),
    ("java/io/ObjectOutputStream", "writeObject", Mapped::Writes(1)),
    ("java/io/ObjectOutputStream", "writeUnshared", Mapped::Writes(1)),
    ("java/io/ObjectOutput", "writeObject", Mapped::Writes(1)),
    ("java/io/ObjectInputStream", "readObject", Mapped::Reads(None)),
    ("java/io/ObjectInputStream", "readUnshared", Mapped::Reads(None)),
    ("java/io/ObjectInput", "readObject", Mapped::Reads(None)),
];

/// What a call does with a mapped object, if it is one.
pub(super) fn mapped_call(called: &MethodRef) -> Option<Mapped> {
    let is_name = |name: &str| match name.strip_suffix('*') {
        Some(front) => called.name.starts_with(front),
        None => called.name.as_str() == name,
    };
    let row = MAPPERS.iter().find(|row| row.0 == called.class.as_str() && is_name(row.1))?;
    Some(row.2)
}

/// What carries numbers and texts one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// A stream of data.
    Stream,
    /// A buffer that is filled or emptied at once.
    Buffer,
}

/// Calls that write a number or text: (method, type).
const WRITTEN: &[(&str, char)] = &[
    ("writeBoolean", 'Z'),
    ("writeByte", 'B'),
    ("writeShort", 'S'),
    ("writeChar", 'C'),
    ("writeInt", 'I'),
    ("writeLong", 'J'),
    ("writeFloat", 'F'),
    ("writeDouble", 'D'),
    ("writeUTF", 'U'),
];

/// Calls that read one.
const READ: &[(&str, char)] = &[
    ("readBoolean", 'Z'),
    ("readByte", 'B'),
    ("readUnsignedByte", 'B'),
    ("readShort", 'S'),
    ("readUnsignedShort", 'S'),
    ("readChar", 'C'),
    ("readInt", 'I'),
    ("readLong", 'J'),
    ("readFloat", 'F'),
    ("readDouble", 'D'),
    ("readUTF", 'U'),
];

/// Calls that put a number into a buffer, at its position.
const BUFFERED: &[(&str, char)] = &[
    ("putShort", 'S'),
    ("putChar", 'C'),
    ("putInt", 'I'),
    ("putLong", 'J'),
    ("putFloat", 'F'),
    ("putDouble", 'D'),
];

/// Calls that get one from there.
const UNBUFFERED: &[(&str, char)] = &[
    ("getShort", 'S'),
    ("getChar", 'C'),
    ("getInt", 'I'),
    ("getLong", 'J'),
    ("getFloat", 'F'),
    ("getDouble", 'D'),
];

/// Types whose calls write and read data one after the other.
const DATA: &[&str] = &[
    "java/io/DataOutput",
    "java/io/DataOutputStream",
    "java/io/DataInput",
    "java/io/DataInputStream",
    "java/io/ObjectOutput",
    "java/io/ObjectOutputStream",
    "java/io/ObjectInput",
    "java/io/ObjectInputStream",
];

/// What a call writes or reads of a row of data: on what, the role, the type, and the
/// argument that is the value (0: the result).
pub(super) fn field_call(called: &MethodRef) -> Option<(Wire, Role, char, usize)> {
    let find = |rows: &[(&str, char)]| rows.iter().find(|row| row.0 == called.name.as_str()).map(|row| row.1);
    if DATA.contains(&called.class.as_str()) {
        let written = find(WRITTEN).map(|letter| (Wire::Stream, Role::Send, letter, 1));
        return written.or_else(|| find(READ).map(|letter| (Wire::Stream, Role::Receive, letter, 0)));
    }
    if !is_buffer(&called.class) {
        return None;
    }
    // Those with a position of their own are in no row.
    let put = find(BUFFERED)
        .filter(|_| !called.descriptor.starts_with("(I") || called.descriptor.starts_with("(I)"));
    let put = put.map(|letter| (Wire::Buffer, Role::Send, letter, 1));
    let got = || find(UNBUFFERED).filter(|_| called.descriptor.starts_with("()"));
    put.or_else(|| got().map(|letter| (Wire::Buffer, Role::Receive, letter, 0)))
}

/// Whether a class is one of buffers of bytes.
pub(super) fn is_buffer(class: &str) -> bool {
    matches!(class, "java/nio/ByteBuffer" | "java/nio/MappedByteBuffer" | "java/nio/Buffer")
}

/// Whether a call moves what is in a buffer to or from a connection.
pub(super) fn moves_buffer(class: &str, method: &str) -> bool {
    let is_channel = matches!(
        class,
        "java/nio/channels/SocketChannel"
            | "java/nio/channels/DatagramChannel"
            | "java/nio/channels/AsynchronousSocketChannel"
            | "java/nio/channels/ByteChannel"
            | "java/nio/channels/WritableByteChannel"
            | "java/nio/channels/ReadableByteChannel"
    );
    is_channel && matches!(method, "read" | "write" | "send" | "receive")
}

/// Calls that write a line of text, their first argument: (class, method).
const LINES: &[(&str, &str)] = &[
    ("java/io/PrintWriter", "println"),
    ("java/io/PrintWriter", "print"),
    ("java/io/PrintWriter", "write"),
    ("java/io/PrintStream", "println"),
    ("java/io/PrintStream", "print"),
    ("java/io/BufferedWriter", "write"),
    ("java/io/OutputStreamWriter", "write"),
    ("java/io/Writer", "write"),
    ("java/io/DataOutputStream", "writeBytes"),
];

/// What a call does to a line of text, if it writes or reads one: the argument that is the
/// text, or 0 for the result.
pub(super) fn line_call(called: &MethodRef) -> Option<(Role, usize)> {
    if reads_line(called) {
        return Some((Role::Receive, 0));
    }
    let is_line = LINES.contains(&(called.class.as_str(), called.name.as_str()));
    (is_line && called.descriptor.starts_with("(Ljava/lang/String;)")).then_some((Role::Send, 1))
}

/// Whether a call writes bytes, its first argument, to a stream.
pub(super) fn writes_bytes(called: &MethodRef) -> bool {
    called.name == "write" && called.descriptor.starts_with("([B") && called.class.ends_with("OutputStream")
}

/// Whether a call fills its first argument with bytes that are read from a stream.
pub(super) fn fills_bytes(called: &MethodRef) -> bool {
    let reads = ["read", "readFully", "readNBytes"].contains(&called.name.as_str());
    let is_stream = called.class.ends_with("InputStream") || called.class.as_str() == "java/io/DataInput";
    reads && called.descriptor.starts_with("([B") && is_stream
}

/// Whether a call gives the bytes that are read from a stream.
pub(super) fn reads_bytes(called: &MethodRef) -> bool {
    let reads = ["readAllBytes", "readNBytes"].contains(&called.name.as_str());
    reads && called.descriptor.ends_with(")[B") && called.class.ends_with("InputStream")
}

/// What goes from one socket to another as it is.
pub(super) const DATAGRAM: &str = "java/net/DatagramPacket";

/// Whether a call sends or receives what goes as it is: which.
pub(super) fn datagram_call(called: &MethodRef) -> Option<Role> {
    let is_socket = matches!(called.class.as_str(), "java/net/DatagramSocket" | "java/net/MulticastSocket");
    match called.name.as_str() {
        "send" if is_socket => Some(Role::Send),
        "receive" if is_socket => Some(Role::Receive),
        _ => None,
    }
}

/// Classes of connections to other processes.
const CONNECTIONS: &[&str] = &[
    "java/net/Socket",
    "javax/net/ssl/SSLSocket",
    "java/nio/channels/SocketChannel",
    "java/nio/channels/AsynchronousSocketChannel",
    "java/net/URLConnection",
    "java/net/HttpURLConnection",
    "javax/net/ssl/HttpsURLConnection",
    "com/sun/net/httpserver/HttpExchange",
];

/// Whether a type is one of connections.
pub(super) fn is_connection(descriptor: &str) -> bool {
    let class = descriptor.strip_prefix('L').and_then(|class| class.strip_suffix(';'));
    class.is_some_and(|class| CONNECTIONS.contains(&class))
}

/// Whether a call opens a stream of a connection, or gives one.
pub(super) fn opens_wire(called: &MethodRef) -> bool {
    CONNECTIONS.contains(&called.class.as_str())
        || called.descriptor.split_once(')').is_some_and(|(_, result)| is_connection(result))
}

/// Whether objects of a library class are streams, or connections.
pub(super) fn is_wire_class(class: &str) -> bool {
    const SUFFIXES: &[&str] = &[
        "Stream",
        "Reader",
        "Writer",
        "Channel",
        "DataInput",
        "DataOutput",
        "ObjectInput",
        "ObjectOutput",
        "Scanner",
    ];
    class.starts_with("java/") && SUFFIXES.iter().any(|suffix| class.ends_with(suffix))
        || CONNECTIONS.contains(&class)
}

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
    // Scala adds the types that a method is specialised for.
    ITERATIONS.contains(&method.split("$m").next().unwrap_or(method))
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
