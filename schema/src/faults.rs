//! Faults: one operation on files of ours can be made to fail, for tests of what is left then.
//! Without the feature `faults`, which only tests have, nothing is counted and nothing fails.

use std::fs::File;
use std::io::{self, Write};

/// Which operation of a process fails, counted from 1, as a variable of its environment.
pub const VARIABLE: &str = "LPROF_FAULT_AT";

/// Counts an operation.
///
/// # Errors
/// It is the one that is to fail.
#[cfg(feature = "faults")]
pub fn step() -> io::Result<()> {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// The error of a device that cannot be read or written.
    const EIO: i32 = 5;
    static N_DONE: AtomicU64 = AtomicU64::new(0);
    static AT: OnceLock<Option<u64>> = OnceLock::new();
    let at = AT.get_or_init(|| std::env::var(VARIABLE).ok()?.parse().ok());
    let n = N_DONE.fetch_add(1, Ordering::Relaxed) + 1;
    if *at == Some(n) { Err(io::Error::from_raw_os_error(EIO)) } else { Ok(()) }
}

/// Does nothing.
///
/// # Errors
/// None.
#[cfg(not(feature = "faults"))]
#[inline]
pub fn step() -> io::Result<()> {
    Ok(())
}

/// A file of which each write is an operation.
#[derive(Debug)]
pub struct Checked(pub File);

impl Write for Checked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        step()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
