//! What a table holds at all: how many requests of each type, and which types were on which node.

use std::collections::BTreeSet;

use crate::error::Result;
use schema::tables::index::{Column, LENGTHS_US};

use super::chosen::{Chosen, Found};
use super::requests::Conditions;
use crate::table::indexed::Indexes;

/// By the numbers of types and nodes.
#[derive(Default)]
pub(super) struct About {
    /// Requests of each type.
    pub(super) n_of_type: Vec<u64>,
    /// Types of the requests that were on each node.
    pub(super) types_of_nodes: Vec<BTreeSet<u32>>,
}

impl About {
    /// Of the table of these indexes.
    pub(super) fn new(indexes: &Indexes) -> Result<Self> {
        let empty = || Self {
            n_of_type: vec![0; indexes.types.len()],
            types_of_nodes: vec![BTreeSet::new(); indexes.nodes.len()],
        };
        let add = |about: &mut Self, found: &Found<'_, '_>| {
            match found {
                Found::Rows(block, rows) => {
                    let types = block.column(Column::Type)?;
                    let of_row = |row: usize| block.of.types[types[row] as usize];
                    rows.iter().for_each(|row| about.n_of_type[of_row(row) as usize] += 1);
                    block.each_node(rows, &mut |row, node, _| {
                        about.types_of_nodes[block.of.nodes[node] as usize].insert(of_row(row));
                    })?;
                }
                Found::Interval(of, interval) => {
                    for found in &interval.types {
                        let number = of.types[found.request_type as usize];
                        about.n_of_type[number as usize] += found.durations.n();
                        for (node, _) in &found.nodes {
                            about.types_of_nodes[of.nodes[*node as usize] as usize].insert(number);
                        }
                    }
                }
            }
            Ok(())
        };
        let all = Chosen::new(indexes, &Conditions::default(), None);
        all.fold(Some(LENGTHS_US.len() - 1), empty, add, Self::merge)
    }

    fn merge(&mut self, other: Self) {
        self.n_of_type.iter_mut().zip(other.n_of_type).for_each(|(n, more)| *n += more);
        self.types_of_nodes.iter_mut().zip(other.types_of_nodes).for_each(|(types, more)| types.extend(more));
    }
}
