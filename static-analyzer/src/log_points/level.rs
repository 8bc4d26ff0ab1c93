//! Levels of logging calls, also computed ones.

use schema::Level;

use super::apis::{self, LevelFrom};
use crate::ir::{Const, Op, ValueId};
use crate::strings::{Arg, Evaluator, FrameId};

const LEVEL_DEPTH_MAX: u32 = 8;

/// Possible levels, sorted; empty: chosen at run time.
pub(crate) fn levels(e: &mut Evaluator<'_>, frame: FrameId, from: LevelFrom, args: &[ValueId]) -> Vec<Level> {
    let found = match from {
        LevelFrom::Name(level) => Some(vec![level]),
        LevelFrom::Argument(i) => args.get(i).and_then(|&v| of_value(e, frame, v, 0)),
        LevelFrom::Chain => args.first().and_then(|&v| of_chain(e, frame, v)),
    };
    let mut found = found.unwrap_or_default();
    found.sort_unstable();
    found.dedup();
    found
}

fn of_value(e: &mut Evaluator<'_>, frame: FrameId, value: ValueId, depth: u32) -> Option<Vec<Level>> {
    if depth > LEVEL_DEPTH_MAX {
        return None;
    }
    match e.op(frame, value) {
        Op::GetField(field, None) => match Level::parse(&field.name) {
            Some(level) => Some(vec![level]),
            None => {
                let [(method, put)] = e.facts.writes(*field) else { return None };
                let (method, put) = (*method, *put);
                let inner = e.make_frame(frame, None, method, Vec::new(), None)?;
                let Op::PutField(_, None, stored) = e.op(inner, put) else { return None };
                of_value(e, inner, *stored, depth + 1)
            }
        },
        Op::Cast(_, inner) => of_value(e, frame, *inner, depth + 1),
        Op::Phi(operands) => {
            let mut all = Vec::new();
            for &(_, v) in operands {
                if v != value {
                    all.extend(of_value(e, frame, v, depth + 1)?);
                }
            }
            Some(all)
        }
        Op::Param(i) => match e.frame(frame).args.get(usize::from(*i)).copied() {
            Some(Arg::At(f, v)) => of_value(e, f, v, depth + 1),
            _ => None,
        },
        // `Logging.InfoLevel()`
        Op::Invoke { method, .. } => {
            let level = method.name.strip_suffix("Level").and_then(Level::parse)?;
            Some(vec![level])
        }
        Op::Const(Const::Int(number)) => Some(vec![of_number(*number)]),
        _ => None,
    }
}

fn of_chain(e: &mut Evaluator<'_>, frame: FrameId, value: ValueId) -> Option<Vec<Level>> {
    let mut value = value;
    for _ in 0..64 {
        match e.op(frame, value) {
            Op::Invoke { method, args, .. } => {
                if let Some(level) = apis::chain_level(&method.name) {
                    return Some(vec![level]);
                }
                if method.name == "atLevel" || method.name == "at" {
                    return of_value(e, frame, *args.get(1)?, 0);
                }
                value = *args.first()?;
            }
            Op::Cast(_, inner) => value = *inner,
            _ => return None,
        }
    }
    None
}

/// Levels as numbers: those of OSGi and of Akka's adapters, and in tens those of slf4j's
/// location-aware form.
fn of_number(number: i32) -> Level {
    match number {
        1 => Level::Error,
        2 => Level::Warn,
        3 => Level::Info,
        4 => Level::Debug,
        _ => match number / 10 {
            0 => Level::Trace,
            1 => Level::Debug,
            2 => Level::Info,
            3 => Level::Warn,
            _ => Level::Error,
        },
    }
}
