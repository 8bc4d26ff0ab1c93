//! Entry points: which programs can run which top-level methods.
//!
//! Configuration by names in files is not seen, so what no `main` reaches can be
//! run by any.

use super::TopLevels;
use crate::call_graph::programs::Programs;
use crate::program::MethodId;

/// Programs of the class path, and who runs what.
#[derive(Debug, Default)]
pub struct EntryPoints {
    /// Their `main` methods, in order.
    pub mains: Vec<MethodId>,
    /// Per top-level method: positions in `mains`; empty: any.
    pub of: Vec<Vec<u16>>,
}

/// Says of each top-level method which programs can run it.
pub fn find(programs: &Programs, top_levels: &TopLevels) -> EntryPoints {
    let of = top_levels.methods.iter().map(|top| {
        let runs = programs.running(top.method);
        if runs.len() == programs.mains.len() { Vec::new() } else { runs }
    });
    EntryPoints { mains: programs.mains.clone(), of: of.collect() }
}
