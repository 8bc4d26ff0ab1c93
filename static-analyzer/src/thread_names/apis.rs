//! What is known of libraries that name threads: tables.

use crate::program::MethodRef;

/// The class whose constructors and `setName` take names.
pub(super) const THREAD: &str = "java/lang/Thread";

/// Descriptor of a name.
pub(super) const STRING: &str = "Ljava/lang/String;";

/// Interfaces of what makes the threads of a pool, by `newThread(Runnable)`.
pub(super) const FACTORIES: &[&str] = &["java/util/concurrent/ThreadFactory"];

/// What is given tasks and runs them in threads of its own.
pub(super) const POOLS: &[&str] = &[
    "java/util/concurrent/Executor",
    "java/util/concurrent/CompletionService",
    "com/google/common/util/concurrent/ListeningExecutorService",
    "com/google/common/util/concurrent/ListeningScheduledExecutorService",
];

/// Methods of builders of thread factories that take the format of the names, a
/// number being its only argument (class suffix after relocation, method).
const FORMATS: &[(&str, &str)] = &[
    ("util/concurrent/ThreadFactoryBuilder", "setNameFormat"),
    ("lang3/concurrent/BasicThreadFactory$Builder", "namingPattern"),
];

/// Whether a call gives a builder of thread factories the format of the names.
pub(super) fn sets_format(method: &MethodRef) -> bool {
    FORMATS.iter().any(|(class, name)| method.class.ends_with(class) && method.name == *name)
}

/// Whether a call gives a pool another factory.
pub(super) fn sets_factory(method: &MethodRef) -> bool {
    method.name == "setThreadFactory"
}
