//! Library calls that can take time: one row per API.

use schema::SlowKind::{self, Io, Lock, Socket, Wait};

/// (class, methods, what can take time).
const CALLS: &[(&str, &[&str], SlowKind)] = &[
    ("java/net/Socket", &["<init>", "connect"], Socket),
    ("java/net/ServerSocket", &["accept"], Socket),
    ("java/net/DatagramSocket", &["send", "receive"], Socket),
    ("java/net/MulticastSocket", &["send", "receive"], Socket),
    ("java/net/InetAddress", &["getAllByName", "getByName", "getHostName", "getLocalHost"], Socket),
    ("java/net/InetAddress", &["getCanonicalHostName", "isReachable"], Socket),
    ("java/net/URL", &["openStream", "getContent"], Socket),
    ("java/net/URLConnection", &["connect", "getContent", "getInputStream", "getOutputStream"], Socket),
    ("java/net/HttpURLConnection", &["connect", "getInputStream", "getOutputStream"], Socket),
    ("java/net/HttpURLConnection", &["getResponseCode", "getResponseMessage"], Socket),
    ("javax/net/ssl/HttpsURLConnection", &["connect", "getInputStream", "getResponseCode"], Socket),
    ("javax/net/ssl/SSLSocket", &["startHandshake"], Socket),
    ("javax/net/SocketFactory", &["createSocket"], Socket),
    ("java/net/http/HttpClient", &["send"], Socket),
    ("java/nio/channels/SocketChannel", &["connect", "finishConnect", "read", "write"], Socket),
    ("java/nio/channels/ServerSocketChannel", &["accept"], Socket),
    ("java/nio/channels/DatagramChannel", &["send", "receive", "read", "write"], Socket),
    ("javax/naming/Context", &["lookup"], Socket),
    ("okhttp3/Call", &["execute"], Socket),
    ("org/apache/http/client/HttpClient", &["execute"], Socket),
    ("org/apache/commons/httpclient/HttpClient", &["executeMethod"], Socket),
    ("java/lang/Thread", &["sleep", "join"], Wait),
    ("java/lang/Object", &["wait"], Wait),
    ("java/lang/Process", &["waitFor"], Wait),
    ("java/util/concurrent/TimeUnit", &["sleep", "timedJoin", "timedWait"], Wait),
    ("java/util/concurrent/locks/LockSupport", &["park", "parkNanos", "parkUntil"], Wait),
    ("java/util/concurrent/locks/Condition", &["await", "awaitNanos", "awaitUntil"], Wait),
    ("java/util/concurrent/locks/Condition", &["awaitUninterruptibly"], Wait),
    ("java/util/concurrent/CountDownLatch", &["await"], Wait),
    ("java/util/concurrent/CyclicBarrier", &["await"], Wait),
    ("java/util/concurrent/Phaser", &["arriveAndAwaitAdvance", "awaitAdvance"], Wait),
    ("java/util/concurrent/Exchanger", &["exchange"], Wait),
    ("java/util/concurrent/Semaphore", &["acquire", "acquireUninterruptibly"], Wait),
    ("java/util/concurrent/Future", &["get"], Wait),
    ("java/util/concurrent/FutureTask", &["get"], Wait),
    ("java/util/concurrent/ScheduledFuture", &["get"], Wait),
    ("java/util/concurrent/CompletableFuture", &["get", "join"], Wait),
    ("java/util/concurrent/ForkJoinTask", &["get", "invoke", "join"], Wait),
    ("java/util/concurrent/ExecutorService", &["awaitTermination", "close", "invokeAll", "invokeAny"], Wait),
    ("java/util/concurrent/ThreadPoolExecutor", &["awaitTermination", "invokeAll", "invokeAny"], Wait),
    ("java/util/concurrent/CompletionService", &["poll", "take"], Wait),
    ("java/util/concurrent/ExecutorCompletionService", &["poll", "take"], Wait),
    ("java/nio/channels/Selector", &["select"], Wait),
    ("com/google/common/util/concurrent/ListenableFuture", &["get"], Wait),
    ("com/google/common/util/concurrent/Uninterruptibles", &["awaitUninterruptibly"], Wait),
    ("com/google/common/util/concurrent/Uninterruptibles", &["getUninterruptibly"], Wait),
    ("com/google/common/util/concurrent/Uninterruptibles", &["sleepUninterruptibly"], Wait),
    ("com/google/common/util/concurrent/Futures", &["get", "getUnchecked"], Wait),
    ("io/netty/channel/ChannelFuture", &["await", "awaitUninterruptibly", "sync"], Wait),
    ("io/netty/util/concurrent/Future", &["await", "awaitUninterruptibly", "get", "sync"], Wait),
    ("org/jboss/netty/channel/ChannelFuture", &["await", "awaitUninterruptibly"], Wait),
    ("scala/concurrent/Await$", &["ready", "result"], Wait),
    ("java/io/File", &["createNewFile", "delete", "list", "listFiles", "mkdir", "mkdirs", "renameTo"], Io),
    ("java/io/FileDescriptor", &["sync"], Io),
    ("java/nio/channels/FileChannel", &["force", "lock", "map", "open", "read", "write"], Io),
    ("java/nio/channels/FileChannel", &["transferFrom", "transferTo"], Io),
    ("java/nio/MappedByteBuffer", &["force"], Io),
    ("java/lang/Runtime", &["exec"], Io),
    ("java/lang/ProcessBuilder", &["start"], Io),
    ("java/util/zip/ZipFile", &["<init>"], Io),
    ("java/util/jar/JarFile", &["<init>"], Io),
    ("java/sql/DriverManager", &["getConnection"], Io),
    ("javax/sql/DataSource", &["getConnection"], Io),
    ("java/sql/Connection", &["commit", "prepareStatement", "rollback"], Io),
    ("java/sql/Statement", &["execute", "executeBatch", "executeQuery", "executeUpdate"], Io),
    ("java/sql/PreparedStatement", &["execute", "executeBatch", "executeQuery", "executeUpdate"], Io),
    ("java/sql/CallableStatement", &["execute", "executeQuery", "executeUpdate"], Io),
    ("java/sql/ResultSet", &["next"], Io),
    ("java/util/concurrent/locks/Lock", &["lock", "lockInterruptibly"], Lock),
    ("java/util/concurrent/locks/ReentrantLock", &["lock", "lockInterruptibly"], Lock),
    ("java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock", &["lock", "lockInterruptibly"], Lock),
    ("java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock", &["lock", "lockInterruptibly"], Lock),
    ("java/util/concurrent/locks/StampedLock", &["readLock", "writeLock"], Lock),
];

/// Queues that wait until there is something, or room: what their classes are called.
const QUEUES: &[&str] =
    &["BlockingQueue", "BlockingDeque", "TransferQueue", "SynchronousQueue", "DelayQueue"];
/// Their methods that wait.
const QUEUE_CALLS: &[&str] = &["put", "putFirst", "putLast", "take", "takeFirst", "takeLast", "transfer"];

/// Streams of `java.io` that are in memory.
const IN_MEMORY: &[&str] = &["ByteArray", "CharArray", "String"];
/// (how the name of a class of streams ends, how the names of their methods begin).
const STREAMS: &[(&str, &[&str])] = &[
    ("InputStream", &["read", "skip"]),
    ("Reader", &["read", "skip"]),
    ("OutputStream", &["flush", "write"]),
    ("Writer", &["flush", "write"]),
    ("RandomAccessFile", &["<init>", "read", "seek", "setLength", "write"]),
];
/// Packages of streams.
const STREAM_PACKAGES: &[&str] = &["java/io/", "java/util/zip/"];
/// Streams that are opened by making them.
const FILE_STREAMS: &str = "java/io/File";

/// What of a call of a library can take time; none: nothing that is known.
pub(super) fn kind(class: &str, method: &str) -> Option<SlowKind> {
    let row = CALLS.iter().find(|(of, methods, _)| *of == class && methods.contains(&method));
    if let Some((_, _, kind)) = row {
        return Some(*kind);
    }
    if class == "java/nio/file/Files" {
        return Some(Io);
    }
    if class.starts_with("java/util/concurrent/") && QUEUES.iter().any(|queue| class.ends_with(queue)) {
        return QUEUE_CALLS.contains(&method).then_some(Wait);
    }
    let package = STREAM_PACKAGES.iter().find(|package| class.starts_with(**package))?;
    let simple = &class[package.len()..];
    if IN_MEMORY.iter().any(|name| simple.starts_with(name)) {
        return None;
    }
    let (_, methods) = STREAMS.iter().find(|(ending, _)| simple.ends_with(ending))?;
    let opens = method == "<init>" && class.starts_with(FILE_STREAMS);
    (opens || methods.iter().any(|begin| method.starts_with(begin))).then_some(Io)
}

#[cfg(test)]
mod tests {
    use super::{Io, Lock, Socket, Wait, kind};

    #[test]
    fn kinds_of_calls() {
        for (class, method, expected) in [
            ("java/net/Socket", "connect", Some(Socket)),
            ("java/net/Socket", "close", None),
            ("java/util/concurrent/LinkedBlockingQueue", "take", Some(Wait)),
            ("java/util/concurrent/LinkedBlockingQueue", "poll", None),
            ("java/util/concurrent/ConcurrentLinkedQueue", "poll", None),
            ("java/util/concurrent/locks/ReentrantLock", "lock", Some(Lock)),
            ("java/io/DataInputStream", "readInt", Some(Io)),
            ("java/io/ByteArrayInputStream", "read", None),
            ("java/io/FileOutputStream", "<init>", Some(Io)),
            ("java/io/BufferedWriter", "<init>", None),
            ("java/nio/file/Files", "walk", Some(Io)),
            ("java/util/HashMap", "get", None),
        ] {
            assert_eq!(kind(class, method), expected, "{class}.{method}");
        }
    }
}
