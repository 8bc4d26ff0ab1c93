//! `lprof`: class files and logs in, the requests of a distributed system out.
//! All of it is in the library.

use std::process::ExitCode;

/// Analysis makes and drops millions of small values on all threads at once: a fifth
/// of its time went into the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    lprof::run(std::env::args_os())
}
