//! Loads that see a store just before them: a field or element written and read
//! again without a call between that could change it.

use super::{Evaluator, FrameId, apis};
use crate::ir::{Op, ValueId};

/// Blocks with one predecessor that are walked up.
const FORWARD_BLOCKS_MAX: usize = 16;

enum Seen {
    Nothing,
    Stored(ValueId),
    Unknown,
}

impl Evaluator<'_> {
    /// The value that the load `load` reads, if the last store is in sight.
    pub(crate) fn forwarded(&mut self, frame: FrameId, load: ValueId) -> Option<ValueId> {
        let mut block = self.inst(frame, load).block;
        let mut position = self.facts.info(self.method_of(frame)).position[load.index()] as usize;
        for _ in 0..FORWARD_BLOCKS_MAX {
            let node = self.block(frame, block);
            for &inst in node.insts[..position].iter().rev() {
                match self.store_seen(frame, load, inst) {
                    Seen::Nothing => {}
                    Seen::Stored(value) => return Some(value),
                    Seen::Unknown => return None,
                }
            }
            let [above] = node.predecessors[..] else { return None };
            let above_node = self.block(frame, above);
            if !above_node.successors.contains(&block) {
                return None;
            }
            block = above;
            position = above_node.insts.len();
        }
        None
    }

    fn store_seen(&mut self, frame: FrameId, load: ValueId, inst: ValueId) -> Seen {
        match (self.op(frame, load), self.op(frame, inst)) {
            (Op::GetField(read, from), Op::PutField(written, to, value)) if read == written => {
                let same = match (from, to) {
                    (None, None) => true,
                    (Some(a), Some(b)) => self.place(frame, *a) == self.place(frame, *b),
                    _ => false,
                };
                if same { Seen::Stored(*value) } else { Seen::Unknown }
            }
            (Op::ArrayLoad(array, index), Op::ArrayStore(stored, at, value)) => {
                let same = self.place(frame, *array) == self.place(frame, *stored);
                match (self.int_of(frame, *index), self.int_of(frame, *at)) {
                    (Some(a), Some(b)) if a == b && same => Seen::Stored(*value),
                    (Some(a), Some(b)) if a != b => Seen::Nothing,
                    _ => Seen::Unknown,
                }
            }
            (Op::ArrayLoad(..), Op::Invoke { method, args, .. })
                if (0..args.len()).any(|i| apis::fills_array(method, i)) =>
            {
                Seen::Unknown
            }
            (_, Op::Invoke { method, .. }) => {
                let plain =
                    method.class.starts_with("java/lang/") && self.program().class(method.class).is_none();
                if plain { Seen::Nothing } else { Seen::Unknown }
            }
            (_, Op::Monitor(_)) => Seen::Unknown,
            _ => Seen::Nothing,
        }
    }
}
