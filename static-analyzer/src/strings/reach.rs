//! Which blocks of a frame can run, given the constants it is called with: a
//! helper called with `null` does not append the optional part.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::{Evaluator, FrameId};
use crate::ir::{BlockId, Comparison, Const, Op, ValueId};

/// Blocks and edges that can run.
pub(crate) struct Reach {
    blocks: Vec<bool>,
    dead: FxHashSet<(BlockId, BlockId)>,
}

impl Reach {
    /// Whether the block can run.
    pub(crate) fn block(&self, block: BlockId) -> bool {
        self.blocks.get(block.index()).copied().unwrap_or(true)
    }

    /// Whether control can go from one block to the other.
    pub(crate) fn edge(&self, from: BlockId, to: BlockId) -> bool {
        self.block(from) && !self.dead.contains(&(from, to))
    }
}

impl Evaluator<'_> {
    /// What can run in a frame.
    pub(crate) fn reach(&mut self, frame: FrameId) -> Rc<Reach> {
        if let Some(reach) = &self.frame(frame).reach {
            return reach.clone();
        }
        let body = self.body(frame);
        let mut reach = Reach { blocks: vec![false; body.blocks.len()], dead: FxHashSet::default() };
        // Until it is known, everything runs: questions on the way may ask back.
        self.set_reach(frame, Rc::new(Reach { blocks: Vec::new(), dead: FxHashSet::default() }));
        let mut todo = vec![BlockId::new(0)];
        // Edges to handlers from blocks that only append and the like.
        let mut quiet = Vec::new();
        loop {
            while let Some(block) = todo.pop() {
                if std::mem::replace(&mut reach.blocks[block.index()], true) {
                    continue;
                }
                let node = body.block(block);
                let only = self.only_successor(frame, block);
                for (i, &next) in node.successors.iter().enumerate() {
                    if only.is_none_or(|o| o == i || node.successors[o] == next) {
                        todo.push(next);
                    } else {
                        reach.dead.insert((block, next));
                    }
                }
                let throws = node.insts.iter().any(|&inst| self.may_throw(frame, inst));
                for handler in &node.handlers {
                    if throws {
                        todo.push(handler.block);
                    } else {
                        quiet.push((block, handler.block));
                    }
                }
            }
            // A handler that nothing else leads to is there for something.
            let Some(i) = quiet.iter().position(|(_, to)| !reach.blocks[to.index()]) else { break };
            let handler = quiet[i].1;
            quiet.retain(|&(_, to)| to != handler);
            todo.push(handler);
        }
        reach.dead.extend(quiet);
        let reach = Rc::new(reach);
        self.set_reach(frame, reach.clone());
        reach
    }

    fn only_successor(&mut self, frame: FrameId, block: BlockId) -> Option<usize> {
        let node = self.block(frame, block);
        match self.op(frame, *node.insts.last()?) {
            Op::If(comparison, a, b) => {
                let taken = self.decide(frame, *comparison, *a, *b)?;
                Some(usize::from(!taken))
            }
            Op::Switch(value, keys) => {
                let value = self.int_of(frame, *value)?;
                Some(keys.iter().position(|&k| k == value).unwrap_or(keys.len()))
            }
            _ => None,
        }
    }

    fn decide(
        &mut self,
        frame: FrameId,
        comparison: Comparison,
        a: ValueId,
        b: Option<ValueId>,
    ) -> Option<bool> {
        let zero = b.is_none();
        let a_null = self.is_null(frame, a);
        let b_null = b.map_or(Some(true), |b| self.is_null(frame, b));
        if let (Some(a), Some(b)) = (a_null, b_null)
            && (a || b)
        {
            return match comparison {
                Comparison::Eq => Some(a == b),
                Comparison::Ne => Some(a != b),
                _ => None,
            };
        }
        let x = self.int_of(frame, a)?;
        let y = if zero { 0 } else { self.int_of(frame, b?)? };
        Some(match comparison {
            Comparison::Eq => x == y,
            Comparison::Ne => x != y,
            Comparison::Lt => x < y,
            Comparison::Ge => x >= y,
            Comparison::Gt => x > y,
            Comparison::Le => x <= y,
        })
    }

    /// Whether a reference is null; none: unknown, or no reference.
    fn is_null(&mut self, frame: FrameId, value: ValueId) -> Option<bool> {
        match self.op(frame, value) {
            Op::New(_) | Op::NewArray(..) => Some(false),
            _ => match self.constant_of(frame, value)? {
                Const::Null => Some(true),
                Const::Text(_) | Const::Class(_) => Some(false),
                _ => None,
            },
        }
    }
}
