//! How far an identifier tells requests apart.

/// Which classes and fields live as long as the process.
#[derive(Clone, Debug, Default)]
pub struct Lifetimes {}
