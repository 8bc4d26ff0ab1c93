//! Super-types of JDK classes that programs extend or pass around, as a table:
//! the class path rarely holds the JDK. One row per class: superclass first
//! unless it is `Object`, then interfaces.

use std::collections::HashMap;
use std::sync::LazyLock;

macro_rules! rows {
    ($($class:literal: $($sup:literal)*;)*) => {
        &[$(($class, &[$($sup),*])),*]
    };
}

type Row = (&'static str, &'static [&'static str]);

#[rustfmt::skip]
static ROWS: &[Row] = rows! {
    "java/lang/Thread": "java/lang/Runnable";
    "java/util/TimerTask": "java/lang/Runnable";
    "java/util/concurrent/RunnableFuture": "java/lang/Runnable" "java/util/concurrent/Future";
    "java/util/concurrent/FutureTask": "java/util/concurrent/RunnableFuture";
    "java/util/concurrent/ScheduledFuture": "java/util/concurrent/Delayed" "java/util/concurrent/Future";
    "java/util/concurrent/RunnableScheduledFuture": "java/util/concurrent/RunnableFuture" "java/util/concurrent/ScheduledFuture";
    "java/util/concurrent/CompletableFuture": "java/util/concurrent/Future" "java/util/concurrent/CompletionStage";
    "java/util/concurrent/ForkJoinTask": "java/util/concurrent/Future";
    "java/util/concurrent/RecursiveTask": "java/util/concurrent/ForkJoinTask";
    "java/util/concurrent/RecursiveAction": "java/util/concurrent/ForkJoinTask";
    "java/util/concurrent/Executor": ;
    "java/util/concurrent/CompletionService": ;
    "java/util/concurrent/ExecutorCompletionService": "java/util/concurrent/CompletionService";
    "java/util/concurrent/ExecutorService": "java/util/concurrent/Executor" "java/lang/AutoCloseable";
    "java/util/concurrent/ScheduledExecutorService": "java/util/concurrent/ExecutorService";
    "java/util/concurrent/AbstractExecutorService": "java/util/concurrent/ExecutorService";
    "java/util/concurrent/ThreadPoolExecutor": "java/util/concurrent/AbstractExecutorService";
    "java/util/concurrent/ScheduledThreadPoolExecutor": "java/util/concurrent/ThreadPoolExecutor" "java/util/concurrent/ScheduledExecutorService";
    "java/util/concurrent/ForkJoinPool": "java/util/concurrent/AbstractExecutorService";

    "java/lang/Exception": "java/lang/Throwable";
    "java/lang/Error": "java/lang/Throwable";
    "java/lang/Throwable": "java/io/Serializable";
    "java/lang/RuntimeException": "java/lang/Exception";
    "java/lang/InterruptedException": "java/lang/Exception";
    "java/lang/CloneNotSupportedException": "java/lang/Exception";
    "java/lang/ReflectiveOperationException": "java/lang/Exception";
    "java/lang/ClassNotFoundException": "java/lang/ReflectiveOperationException";
    "java/lang/NoSuchMethodException": "java/lang/ReflectiveOperationException";
    "java/lang/NoSuchFieldException": "java/lang/ReflectiveOperationException";
    "java/lang/IllegalAccessException": "java/lang/ReflectiveOperationException";
    "java/lang/InstantiationException": "java/lang/ReflectiveOperationException";
    "java/lang/reflect/InvocationTargetException": "java/lang/ReflectiveOperationException";
    "java/lang/IllegalArgumentException": "java/lang/RuntimeException";
    "java/lang/NumberFormatException": "java/lang/IllegalArgumentException";
    "java/lang/IllegalStateException": "java/lang/RuntimeException";
    "java/util/concurrent/CancellationException": "java/lang/IllegalStateException";
    "java/lang/NullPointerException": "java/lang/RuntimeException";
    "java/lang/ClassCastException": "java/lang/RuntimeException";
    "java/lang/ArithmeticException": "java/lang/RuntimeException";
    "java/lang/SecurityException": "java/lang/RuntimeException";
    "java/lang/UnsupportedOperationException": "java/lang/RuntimeException";
    "java/lang/IndexOutOfBoundsException": "java/lang/RuntimeException";
    "java/lang/ArrayIndexOutOfBoundsException": "java/lang/IndexOutOfBoundsException";
    "java/util/ConcurrentModificationException": "java/lang/RuntimeException";
    "java/util/NoSuchElementException": "java/lang/RuntimeException";
    "java/util/concurrent/RejectedExecutionException": "java/lang/RuntimeException";
    "java/util/concurrent/CompletionException": "java/lang/RuntimeException";
    "java/util/concurrent/ExecutionException": "java/lang/Exception";
    "java/util/concurrent/TimeoutException": "java/lang/Exception";
    "java/util/concurrent/BrokenBarrierException": "java/lang/Exception";
    "java/io/IOException": "java/lang/Exception";
    "java/io/UncheckedIOException": "java/lang/RuntimeException";
    "java/io/FileNotFoundException": "java/io/IOException";
    "java/io/EOFException": "java/io/IOException";
    "java/io/InterruptedIOException": "java/io/IOException";
    "java/io/ObjectStreamException": "java/io/IOException";
    "java/io/InvalidObjectException": "java/io/ObjectStreamException";
    "java/io/UTFDataFormatException": "java/io/IOException";
    "java/io/UnsupportedEncodingException": "java/io/IOException";
    "java/nio/channels/ClosedChannelException": "java/io/IOException";
    "java/nio/channels/AsynchronousCloseException": "java/nio/channels/ClosedChannelException";
    "java/nio/channels/ClosedByInterruptException": "java/nio/channels/AsynchronousCloseException";
    "java/nio/channels/CancelledKeyException": "java/lang/IllegalStateException";
    "java/net/SocketException": "java/io/IOException";
    "java/net/BindException": "java/net/SocketException";
    "java/net/ConnectException": "java/net/SocketException";
    "java/net/NoRouteToHostException": "java/net/SocketException";
    "java/net/SocketTimeoutException": "java/io/InterruptedIOException";
    "java/net/UnknownHostException": "java/io/IOException";
    "java/net/MalformedURLException": "java/io/IOException";
    "java/net/URISyntaxException": "java/lang/Exception";
    "java/nio/file/FileSystemException": "java/io/IOException";
    "java/nio/file/NoSuchFileException": "java/nio/file/FileSystemException";
    "java/nio/file/FileAlreadyExistsException": "java/nio/file/FileSystemException";
    "java/text/ParseException": "java/lang/Exception";
    "java/sql/SQLException": "java/lang/Exception";
    "java/security/GeneralSecurityException": "java/lang/Exception";
    "java/security/NoSuchAlgorithmException": "java/security/GeneralSecurityException";
    "javax/security/auth/login/LoginException": "java/security/GeneralSecurityException";
    "javax/security/sasl/SaslException": "java/io/IOException";
    "java/rmi/RemoteException": "java/io/IOException";
    "java/lang/LinkageError": "java/lang/Error";
    "java/lang/NoClassDefFoundError": "java/lang/LinkageError";
    "java/lang/ExceptionInInitializerError": "java/lang/LinkageError";
    "java/lang/AssertionError": "java/lang/Error";
    "java/lang/VirtualMachineError": "java/lang/Error";
    "java/lang/OutOfMemoryError": "java/lang/VirtualMachineError";
    "java/lang/StackOverflowError": "java/lang/VirtualMachineError";

    "java/util/Collection": "java/lang/Iterable";
    "java/util/SequencedCollection": "java/util/Collection";
    "java/util/List": "java/util/Collection";
    "java/util/Set": "java/util/Collection";
    "java/util/SortedSet": "java/util/Set";
    "java/util/NavigableSet": "java/util/SortedSet";
    "java/util/Queue": "java/util/Collection";
    "java/util/Deque": "java/util/Queue";
    "java/util/concurrent/BlockingQueue": "java/util/Queue";
    "java/util/concurrent/BlockingDeque": "java/util/concurrent/BlockingQueue" "java/util/Deque";
    "java/util/concurrent/TransferQueue": "java/util/concurrent/BlockingQueue";
    "java/util/AbstractCollection": "java/util/Collection";
    "java/util/AbstractList": "java/util/AbstractCollection" "java/util/List";
    "java/util/AbstractSequentialList": "java/util/AbstractList";
    "java/util/AbstractSet": "java/util/AbstractCollection" "java/util/Set";
    "java/util/AbstractQueue": "java/util/AbstractCollection" "java/util/Queue";
    "java/util/ArrayList": "java/util/AbstractList" "java/util/List" "java/util/RandomAccess";
    "java/util/LinkedList": "java/util/AbstractSequentialList" "java/util/List" "java/util/Deque";
    "java/util/Vector": "java/util/AbstractList" "java/util/List";
    "java/util/Stack": "java/util/Vector";
    "java/util/ArrayDeque": "java/util/AbstractCollection" "java/util/Deque";
    "java/util/PriorityQueue": "java/util/AbstractQueue";
    "java/util/HashSet": "java/util/AbstractSet" "java/util/Set";
    "java/util/LinkedHashSet": "java/util/HashSet";
    "java/util/TreeSet": "java/util/AbstractSet" "java/util/NavigableSet";
    "java/util/EnumSet": "java/util/AbstractSet";
    "java/util/concurrent/CopyOnWriteArrayList": "java/util/List";
    "java/util/concurrent/CopyOnWriteArraySet": "java/util/AbstractSet";
    "java/util/concurrent/ConcurrentSkipListSet": "java/util/AbstractSet" "java/util/NavigableSet";
    "java/util/concurrent/ConcurrentLinkedQueue": "java/util/AbstractQueue";
    "java/util/concurrent/ConcurrentLinkedDeque": "java/util/AbstractCollection" "java/util/Deque";
    "java/util/concurrent/LinkedBlockingQueue": "java/util/AbstractQueue" "java/util/concurrent/BlockingQueue";
    "java/util/concurrent/LinkedBlockingDeque": "java/util/AbstractQueue" "java/util/concurrent/BlockingDeque";
    "java/util/concurrent/ArrayBlockingQueue": "java/util/AbstractQueue" "java/util/concurrent/BlockingQueue";
    "java/util/concurrent/PriorityBlockingQueue": "java/util/AbstractQueue" "java/util/concurrent/BlockingQueue";
    "java/util/concurrent/SynchronousQueue": "java/util/AbstractQueue" "java/util/concurrent/BlockingQueue";
    "java/util/concurrent/DelayQueue": "java/util/AbstractQueue" "java/util/concurrent/BlockingQueue";
    "java/util/concurrent/LinkedTransferQueue": "java/util/AbstractQueue" "java/util/concurrent/TransferQueue";
    "java/util/ListIterator": "java/util/Iterator";
    "java/util/SortedMap": "java/util/Map";
    "java/util/NavigableMap": "java/util/SortedMap";
    "java/util/concurrent/ConcurrentMap": "java/util/Map";
    "java/util/concurrent/ConcurrentNavigableMap": "java/util/concurrent/ConcurrentMap" "java/util/NavigableMap";
    "java/util/AbstractMap": "java/util/Map";
    "java/util/HashMap": "java/util/AbstractMap" "java/util/Map";
    "java/util/LinkedHashMap": "java/util/HashMap";
    "java/util/TreeMap": "java/util/AbstractMap" "java/util/NavigableMap";
    "java/util/EnumMap": "java/util/AbstractMap";
    "java/util/IdentityHashMap": "java/util/AbstractMap";
    "java/util/WeakHashMap": "java/util/AbstractMap";
    "java/util/Hashtable": "java/util/Dictionary" "java/util/Map";
    "java/util/Properties": "java/util/Hashtable";
    "java/util/concurrent/ConcurrentHashMap": "java/util/AbstractMap" "java/util/concurrent/ConcurrentMap";
    "java/util/concurrent/ConcurrentSkipListMap": "java/util/AbstractMap" "java/util/concurrent/ConcurrentNavigableMap";

    "java/lang/String": "java/lang/CharSequence" "java/lang/Comparable" "java/io/Serializable";
    "java/lang/AbstractStringBuilder": "java/lang/CharSequence" "java/lang/Appendable";
    "java/lang/StringBuilder": "java/lang/AbstractStringBuilder" "java/lang/CharSequence";
    "java/lang/StringBuffer": "java/lang/AbstractStringBuilder" "java/lang/CharSequence";
    "java/lang/Number": "java/io/Serializable";
    "java/lang/Integer": "java/lang/Number" "java/lang/Comparable";
    "java/lang/Long": "java/lang/Number" "java/lang/Comparable";
    "java/lang/Short": "java/lang/Number" "java/lang/Comparable";
    "java/lang/Byte": "java/lang/Number" "java/lang/Comparable";
    "java/lang/Double": "java/lang/Number" "java/lang/Comparable";
    "java/lang/Float": "java/lang/Number" "java/lang/Comparable";
    "java/math/BigInteger": "java/lang/Number" "java/lang/Comparable";
    "java/math/BigDecimal": "java/lang/Number" "java/lang/Comparable";
    "java/util/concurrent/atomic/AtomicInteger": "java/lang/Number";
    "java/util/concurrent/atomic/AtomicLong": "java/lang/Number";
    "java/lang/Enum": "java/lang/Comparable" "java/io/Serializable";

    "java/io/Closeable": "java/lang/AutoCloseable";
    "java/io/Externalizable": "java/io/Serializable";
    "java/io/DataInputStream": "java/io/FilterInputStream" "java/io/DataInput";
    "java/io/DataOutputStream": "java/io/FilterOutputStream" "java/io/DataOutput";
    "java/io/FilterInputStream": "java/io/InputStream";
    "java/io/FilterOutputStream": "java/io/OutputStream";
    "java/io/BufferedInputStream": "java/io/FilterInputStream";
    "java/io/BufferedOutputStream": "java/io/FilterOutputStream";
    "java/io/PrintStream": "java/io/FilterOutputStream" "java/lang/Appendable";
    "java/io/ByteArrayInputStream": "java/io/InputStream";
    "java/io/ByteArrayOutputStream": "java/io/OutputStream";
    "java/io/FileInputStream": "java/io/InputStream";
    "java/io/FileOutputStream": "java/io/OutputStream";
    "java/io/ObjectInput": "java/io/DataInput" "java/lang/AutoCloseable";
    "java/io/ObjectOutput": "java/io/DataOutput" "java/lang/AutoCloseable";
    "java/io/ObjectInputStream": "java/io/InputStream" "java/io/ObjectInput";
    "java/io/ObjectOutputStream": "java/io/OutputStream" "java/io/ObjectOutput";
    "java/io/RandomAccessFile": "java/io/DataOutput" "java/io/DataInput" "java/io/Closeable";
    "java/io/InputStream": "java/io/Closeable";
    "java/io/OutputStream": "java/io/Closeable" "java/io/Flushable";
    "java/io/Reader": "java/lang/Readable" "java/io/Closeable";
    "java/io/Writer": "java/lang/Appendable" "java/io/Closeable" "java/io/Flushable";
    "java/io/BufferedReader": "java/io/Reader";
    "java/io/InputStreamReader": "java/io/Reader";
    "java/io/FileReader": "java/io/InputStreamReader";
    "java/io/StringReader": "java/io/Reader";
    "java/io/BufferedWriter": "java/io/Writer";
    "java/io/OutputStreamWriter": "java/io/Writer";
    "java/io/FileWriter": "java/io/OutputStreamWriter";
    "java/io/StringWriter": "java/io/Writer";
    "java/io/PrintWriter": "java/io/Writer";
    "java/net/Socket": "java/io/Closeable";
    "java/net/ServerSocket": "java/io/Closeable";
    "java/net/InetSocketAddress": "java/net/SocketAddress";
    "java/nio/channels/Channel": "java/io/Closeable";
    "java/nio/channels/SocketChannel": "java/nio/channels/SelectableChannel" "java/nio/channels/ByteChannel";
    "java/nio/channels/ServerSocketChannel": "java/nio/channels/SelectableChannel";
    "java/nio/channels/SelectableChannel": "java/nio/channels/Channel";
    "java/nio/channels/ByteChannel": "java/nio/channels/Channel";
    "java/nio/channels/FileChannel": "java/nio/channels/ByteChannel";
    "java/nio/ByteBuffer": "java/nio/Buffer" "java/lang/Comparable";
    "java/util/concurrent/locks/ReentrantLock": "java/util/concurrent/locks/Lock";
    "java/util/concurrent/locks/ReentrantReadWriteLock": "java/util/concurrent/locks/ReadWriteLock";
    "java/security/PrivilegedExceptionAction": ;
    "java/util/function/UnaryOperator": "java/util/function/Function";
    "java/util/function/BinaryOperator": "java/util/function/BiFunction";
    "javax/servlet/http/HttpServlet": "javax/servlet/GenericServlet";
    "javax/servlet/GenericServlet": "javax/servlet/Servlet" "javax/servlet/ServletConfig";
    "javax/servlet/http/HttpServletRequest": "javax/servlet/ServletRequest";
    "javax/servlet/http/HttpServletResponse": "javax/servlet/ServletResponse";
};

static BY_NAME: LazyLock<HashMap<&'static str, &'static [&'static str]>> =
    LazyLock::new(|| ROWS.iter().copied().collect());

static BELOW: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut below: HashMap<_, Vec<_>> = HashMap::new();
    for (class, supers) in ROWS {
        for sup in *supers {
            below.entry(*sup).or_default().push(*class);
        }
    }
    below
});

/// Direct super-types of a JDK class; empty if it is not in the table.
pub(crate) fn supers(class: &str) -> &'static [&'static str] {
    BY_NAME.get(class).copied().unwrap_or_default()
}

/// JDK classes whose direct super-type is `class`.
pub(crate) fn subtypes(class: &str) -> impl Iterator<Item = &'static str> {
    BELOW.get(class).into_iter().flatten().copied()
}
