//! What can be trusted: the sample's logs as others have them, folders of logs that change, disks that
//! fail, commands that are killed, and inputs that are broken.
//!
//! All is random by `SEED`, in a few tries; `SECONDS`, `SEQUENCES` and `KILLS` ask for more, `CASE` for
//! the rewritings whose names hold it.

#[path = "support/command.rs"]
mod command;
#[path = "reliability/random.rs"]
mod random;

#[path = "reliability/broken.rs"]
mod broken;
#[path = "reliability/faults.rs"]
mod faults;
#[path = "reliability/log_folders.rs"]
mod log_folders;
#[path = "reliability/rewritings.rs"]
mod rewritings;
