//! Requests that are whole on both sides of the operator: their pairs, a batch at a time,
//! and then the rows that found no other.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array as _, ArrayRef, AsArray as _, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array,
    new_null_array,
};
use datafusion::arrow::compute::kernels::cmp;
use datafusion::arrow::compute::{and, prep_null_mask_filter, take};
use datafusion::common::{JoinSide, JoinType, Result, exec_datafusion_err};
use datafusion::physical_plan::PhysicalExpr;

use super::super::condition::Condition;
use super::super::functions::Positions;
use super::super::pairs::Pairs;
use super::super::rows::Rows;
use super::super::temporal;
use super::Join;
use super::side::RequestKey;

/// Rows of one or more requests.
pub(super) struct Requests {
    left: RecordBatch,
    right: RecordBatch,
    /// Rows of the requests that both sides have.
    shared: VecDeque<(Range<usize>, Range<usize>)>,
    /// Pairs of the request at hand.
    pairs: Option<Source>,
    has_found: [Vec<bool>; 2],
    /// Rows without another are told last.
    is_at_rest: bool,
    rest: VecDeque<RecordBatch>,
}

/// Where pairs come from.
enum Source {
    Found(Pairs),
    Listed(std::vec::IntoIter<(u32, u32)>),
}

impl Source {
    fn fill(&mut self, n_max: usize, out: &mut Vec<(u32, u32)>) -> bool {
        match self {
            Source::Found(pairs) => pairs.fill(n_max, out),
            Source::Listed(pairs) => {
                out.extend(pairs.by_ref().take(n_max.saturating_sub(out.len())));
                pairs.len() > 0
            }
        }
    }
}

impl Requests {
    /// Of rows sorted by their keys.
    pub(super) fn new(
        (left, left_keys): (RecordBatch, Vec<RequestKey>),
        (right, right_keys): (RecordBatch, Vec<RequestKey>),
    ) -> Self {
        let has_found = [vec![false; left.num_rows()], vec![false; right.num_rows()]];
        let shared = shared(&left_keys, &right_keys);
        Self { left, right, shared, pairs: None, has_found, is_at_rest: false, rest: VecDeque::new() }
    }

    /// The next batch of joined rows; none: that was all.
    pub(super) fn next(&mut self, join: &Join, n_rows: usize) -> Result<Option<RecordBatch>> {
        while !self.is_at_rest {
            let pairs = self.some_pairs(join, n_rows)?;
            if pairs.is_empty() {
                self.is_at_rest = true;
                self.rest = self.without_other(join)?;
                break;
            }
            let batch = self.joined(join, pairs)?;
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(self.rest.pop_front())
    }

    /// Up to `n_rows` pairs that the condition holds for, with the first row of the left.
    fn some_pairs(&mut self, join: &Join, n_rows: usize) -> Result<Vec<(u32, u32)>> {
        let mut pairs = Vec::new();
        while pairs.len() < n_rows {
            if let Some(source) = &mut self.pairs {
                if !source.fill(n_rows, &mut pairs) {
                    self.pairs = None;
                }
                continue;
            }
            let Some((left, right)) = self.shared.pop_front() else { break };
            let left = rows(self.left.column(join.left_column), left)?;
            let right = rows(self.right.column(join.right_column), right)?;
            let (a, b) = if join.is_swapped { (right, left) } else { (left, right) };
            self.pairs = Some(match join.condition {
                Condition::Relation(relation) => Source::Found(Pairs::new(relation, a, b)),
                Condition::Filter(filter) => Source::Listed(temporal::pairs(filter, &a, &b).into_iter()),
            });
        }
        if join.is_swapped {
            pairs.iter_mut().for_each(|pair| *pair = (pair.1, pair.0));
        }
        Ok(pairs)
    }

    /// The rows of pairs for which all else holds too; of a join that asks only whether there
    /// is another, none, but it is noted.
    fn joined(&mut self, join: &Join, pairs: Vec<(u32, u32)>) -> Result<RecordBatch> {
        let mut left = UInt32Array::from_iter_values(pairs.iter().map(|pair| pair.0));
        let mut right = UInt32Array::from_iter_values(pairs.iter().map(|pair| pair.1));
        if let Some(mask) = self.mask(join, &left, &right)? {
            let keep = |rows: &UInt32Array| -> Result<UInt32Array> {
                let kept = datafusion::arrow::compute::filter(rows, &mask)?;
                Ok(kept.as_primitive().clone())
            };
            (left, right) = (keep(&left)?, keep(&right)?);
        }
        for (has_found, rows) in self.has_found.iter_mut().zip([&left, &right]) {
            rows.values().iter().for_each(|&row| has_found[row as usize] = true);
        }
        let gives_pairs =
            matches!(join.join_type, JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full);
        if gives_pairs {
            self.output(join, Some(&left), Some(&right), left.len())
        } else {
            Ok(RecordBatch::new_empty(Arc::clone(&join.schema)))
        }
    }

    /// For which pairs the rest of the join's conditions holds; none: there is none.
    fn mask(&self, join: &Join, left: &UInt32Array, right: &UInt32Array) -> Result<Option<BooleanArray>> {
        let mut mask: Option<BooleanArray> = None;
        let mut add = |found: BooleanArray| -> Result<()> {
            // What is unknown does not hold.
            let found = if found.null_count() > 0 { prep_null_mask_filter(&found) } else { found };
            mask = Some(match mask.take() {
                Some(known) => and(&known, &found)?,
                None => found,
            });
            Ok(())
        };
        let values = |expression: &Arc<dyn PhysicalExpr>, side: &RecordBatch, rows: &UInt32Array| {
            let values = expression.evaluate(side)?.into_array(side.num_rows())?;
            Ok::<ArrayRef, datafusion::common::DataFusionError>(take(&values, rows, None)?)
        };
        for (a, b) in &join.on {
            let (a, b) = (values(a, &self.left, left)?, values(b, &self.right, right)?);
            add(cmp::eq(&a, &b)?)?;
        }
        if let Some(filter) = &join.filter {
            let column = |index: &datafusion::physical_plan::joins::utils::ColumnIndex| match index.side {
                JoinSide::Left => Ok(take(self.left.column(index.index), left, None)?),
                JoinSide::Right => Ok(take(self.right.column(index.index), right, None)?),
                JoinSide::None => Err(exec_datafusion_err!("a column of a join is of one of its sides")),
            };
            let columns = filter.column_indices().iter().map(column).collect::<Result<Vec<_>>>()?;
            let batch = RecordBatch::try_new(Arc::clone(filter.schema()), columns)?;
            let found = filter.expression().evaluate(&batch)?.into_array(batch.num_rows())?;
            let found = found.as_boolean_opt().cloned();
            add(found.ok_or_else(|| exec_datafusion_err!("a condition is true or false"))?)?;
        }
        Ok(mask)
    }

    /// What is given out of rows that found no other, or of those that did.
    fn without_other(&self, join: &Join) -> Result<VecDeque<RecordBatch>> {
        let rows = |side: usize, wanted: bool| -> UInt32Array {
            let all = self.has_found[side].iter().enumerate().filter(|(_, found)| **found == wanted);
            all.map(|(row, _)| u32::try_from(row).unwrap_or(u32::MAX)).collect()
        };
        let (left, right) = match join.join_type {
            JoinType::Left => (Some(rows(0, false)), None),
            JoinType::Right => (None, Some(rows(1, false))),
            JoinType::Full => (Some(rows(0, false)), Some(rows(1, false))),
            JoinType::LeftSemi => (Some(rows(0, true)), None),
            JoinType::LeftAnti => (Some(rows(0, false)), None),
            JoinType::RightSemi => (None, Some(rows(1, true))),
            JoinType::RightAnti => (None, Some(rows(1, false))),
            JoinType::Inner | JoinType::LeftMark | JoinType::RightMark => (None, None),
        };
        let mut out = VecDeque::new();
        if let Some(rows) = left.filter(|rows| !rows.is_empty()) {
            out.push_back(self.output(join, Some(&rows), None, rows.len())?);
        }
        if let Some(rows) = right.filter(|rows| !rows.is_empty()) {
            out.push_back(self.output(join, None, Some(&rows), rows.len())?);
        }
        Ok(out)
    }

    /// The columns that a join gives out, of rows of both sides; nulls for a side without.
    fn output(
        &self,
        join: &Join,
        left: Option<&UInt32Array>,
        right: Option<&UInt32Array>,
        n_rows: usize,
    ) -> Result<RecordBatch> {
        let n_left = self.left.num_columns();
        let sides: Vec<(&RecordBatch, Option<&UInt32Array>, usize)> = match join.join_type {
            JoinType::LeftSemi | JoinType::LeftAnti => vec![(&self.left, left, 0)],
            JoinType::RightSemi | JoinType::RightAnti => vec![(&self.right, right, 0)],
            _ => vec![(&self.left, left, 0), (&self.right, right, n_left)],
        };
        let n_columns: usize = sides.iter().map(|side| side.0.num_columns()).sum();
        let all: Vec<usize> = (0..n_columns).collect();
        let mut columns = Vec::new();
        for &at in join.projection.as_ref().unwrap_or(&all) {
            let (batch, rows, first) = if at >= n_left && sides.len() > 1 { sides[1] } else { sides[0] };
            let column = batch.column(at - first);
            columns.push(match rows {
                Some(rows) => take(column, rows, None)?,
                None => new_null_array(column.data_type(), n_rows),
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(n_rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&join.schema), columns, &options)?)
    }
}

/// The rows of one request on one side.
fn rows(column: &ArrayRef, range: Range<usize>) -> Result<Rows> {
    let positions = Positions::new(column)?;
    let row = |row: usize| {
        let (label, stretch) = positions.get(row)?;
        Some((u32::try_from(row).ok()?, label, stretch))
    };
    Ok(Rows::new(range.filter_map(row)))
}

/// Where the rows of each request are that both sides have; both are sorted.
fn shared(left: &[RequestKey], right: &[RequestKey]) -> VecDeque<(Range<usize>, Range<usize>)> {
    let mut out = VecDeque::new();
    let (mut a, mut b) = (0, 0);
    while let (Some(left_key), Some(right_key)) = (left.get(a), right.get(b)) {
        let a_end = a + left[a..].partition_point(|key| key == left_key);
        let b_end = b + right[b..].partition_point(|key| key == right_key);
        match left_key.cmp(right_key) {
            std::cmp::Ordering::Less => a = a_end,
            std::cmp::Ordering::Greater => b = b_end,
            std::cmp::Ordering::Equal => {
                if left_key.is_some() {
                    out.push_back((a..a_end, b..b_end));
                }
                (a, b) = (a_end, b_end);
            }
        }
    }
    out
}
