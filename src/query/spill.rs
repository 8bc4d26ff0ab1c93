//! Where queries go on that need more than their memory: a folder for each process, which is
//! removed with it. A process that was killed cannot; the next one removes what it left.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What the names of these folders begin with.
const NAME: &str = "lprof-queries-";
/// Locked as long as the process of the folder lives.
const LOCK: &str = "lock";

/// A folder that is there as long as this is.
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes one below `parent`, and removes those of processes that are gone.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub(super) fn new(parent: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        remove_forsaken(parent);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{NAME}{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            // It gets its name when it is locked, so that nobody finds it otherwise.
            let new = path.join("lock.new");
            let lock = File::create(&new)?;
            lock.lock()?;
            std::fs::rename(&new, path.join(LOCK))?;
            return Ok(Self { path, _lock: lock });
        }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next process.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes what processes left that were killed. Others may do the same, or not be allowed to.
fn remove_forsaken(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(NAME)) {
            // A folder without a lock was made just now.
            let Ok(lock) = File::options().write(true).open(entry.path().join(LOCK)) else { continue };
            if lock.try_lock().is_ok() {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Folder, LOCK};

    #[test]
    fn folders_of_the_living_stay_and_others_go() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let forsaken = parent.path().join("lprof-queries-1-0");
        std::fs::create_dir(&forsaken).expect("a folder");
        std::fs::write(forsaken.join(LOCK), "").expect("a file");
        std::fs::write(forsaken.join("rows"), "left").expect("a file");
        let other = parent.path().join("others");
        std::fs::create_dir(&other).expect("a folder");
        let first = Folder::new(parent.path()).expect("a folder");
        assert!(!forsaken.exists() && other.exists());
        let second = Folder::new(parent.path()).expect("a folder");
        assert!(first.path().exists() && second.path().exists() && first.path() != second.path());
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists() && second.path().exists());
    }
}
