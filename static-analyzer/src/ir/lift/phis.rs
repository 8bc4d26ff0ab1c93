//! From drafts to the final form: phis that join a single value are replaced
//! by it, phis that nothing uses are dropped, values are numbered in the order
//! of the blocks.

use super::Budget;
use super::graph::Graph;
use super::translate::{Drafts, UNDEFINED};
use crate::ir::{Block, BlockId, Body, Handler, Inst, Op, ValueId};

/// What is known of a phi.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    /// Not looked at: equal to anything.
    Any,
    /// Always equal to this value.
    Same(u32),
    /// A value of its own.
    Own,
    /// Not assigned on all ways.
    Undefined,
}

/// Cleans and numbers.
pub(super) fn finish(mut drafts: Drafts, graph: &Graph, budget: &mut Budget) -> Result<Body, String> {
    let phis: Vec<u32> = drafts.phis.iter().flatten().copied().filter(|&p| is_phi(&drafts, p)).collect();
    let mut values: Vec<Value> = vec![Value::Own; drafts.insts.len()];
    // Each round finds what is equal under the assumption that nothing else
    // is; replaced phis can make more phis equal.
    loop {
        let live: Vec<u32> =
            phis.iter().copied().filter(|&p| !matches!(values[p as usize], Value::Same(_))).collect();
        let before = live.len();
        equate(&drafts, &live, &mut values, budget)?;
        let replaced = live.iter().filter(|&&p| matches!(values[p as usize], Value::Same(_))).count();
        if replaced == 0 || before == 0 {
            break;
        }
        for &p in &live {
            let Op::Phi(operands) = &mut drafts.insts[p as usize].op else { continue };
            for (_, v) in operands {
                if v.index() as u32 != UNDEFINED {
                    *v = ValueId::new(resolve(&values, v.index() as u32) as usize);
                }
            }
        }
    }
    let live = mark_live(&mut drafts, &values, budget)?;
    Ok(number(drafts, graph, &live))
}

fn is_phi(drafts: &Drafts, value: u32) -> bool {
    matches!(drafts.insts[value as usize].op, Op::Phi(_))
}

/// The value that stands for `value`.
fn resolve(values: &[Value], mut value: u32) -> u32 {
    while let Value::Same(other) = values[value as usize] {
        value = other;
    }
    value
}

/// Finds the phis that always equal another value. Optimistic: all are taken
/// for equal until a difference shows, so that phis that only join each other
/// around loops vanish together.
fn equate(drafts: &Drafts, phis: &[u32], values: &mut [Value], budget: &mut Budget) -> Result<(), String> {
    for &p in phis {
        values[p as usize] = Value::Any;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for &p in phis {
            let old = values[p as usize];
            if matches!(old, Value::Undefined) {
                continue;
            }
            let Op::Phi(operands) = &drafts.insts[p as usize].op else { continue };
            budget.spend(operands.len())?;
            let new = join(p, operands, values);
            let new = match (old, new) {
                (_, Value::Undefined) => Value::Undefined,
                (Value::Any, new) => new,
                (Value::Same(a), Value::Same(b)) if a == b => old,
                // Any other change would be no descent.
                _ => Value::Own,
            };
            if new != old {
                values[p as usize] = new;
                changed = true;
            }
        }
    }
    Ok(())
}

fn join(phi: u32, operands: &[(BlockId, ValueId)], values: &[Value]) -> Value {
    let mut joined = Value::Any;
    for &(_, v) in operands {
        let v = v.index() as u32;
        if v == UNDEFINED {
            return Value::Undefined;
        }
        let v = match values[v as usize] {
            Value::Any => continue,
            Value::Undefined => return Value::Undefined,
            Value::Same(other) => other,
            Value::Own => v,
        };
        if v == phi {
            continue;
        }
        match joined {
            Value::Any => joined = Value::Same(v),
            Value::Same(other) if other == v => {}
            _ => joined = Value::Own,
        }
    }
    joined
}

/// Replaces operands by what they equal; says which instructions remain.
fn mark_live(drafts: &mut Drafts, values: &[Value], budget: &mut Budget) -> Result<Vec<bool>, String> {
    let mut live = vec![false; drafts.insts.len()];
    let mut work: Vec<u32> = Vec::new();
    for (i, inst) in drafts.insts.iter_mut().enumerate() {
        if matches!(inst.op, Op::Phi(_)) {
            continue;
        }
        live[i] = true;
        inst.op.map_operands(|v| {
            let v = resolve(values, v.index() as u32);
            work.push(v);
            ValueId::new(v as usize)
        });
    }
    while let Some(value) = work.pop() {
        if live[value as usize] {
            continue;
        }
        live[value as usize] = true;
        let inst = &mut drafts.insts[value as usize];
        if matches!(values[value as usize], Value::Undefined | Value::Any) {
            return Err(format!("a value used after offset {} is not assigned on all ways there", inst.pc));
        }
        let Op::Phi(operands) = &mut inst.op else { continue };
        budget.spend(operands.len())?;
        for (_, v) in operands {
            *v = ValueId::new(resolve(values, v.index() as u32) as usize);
            work.push(v.index() as u32);
        }
    }
    Ok(live)
}

fn number(drafts: Drafts, graph: &Graph, live: &[bool]) -> Body {
    let Drafts { insts, phis, blocks } = drafts;
    let mut new_ids = vec![UNDEFINED; insts.len()];
    let mut order: Vec<u32> = Vec::with_capacity(insts.len());
    // Bodies stay in memory to the end: no room is left over.
    let mut body = Body { blocks: Vec::with_capacity(graph.nodes.len()), insts: Vec::new() };
    for (id, node) in graph.nodes.iter().enumerate() {
        let start = order.len();
        let head = phis[id].iter().copied();
        order.extend(head.chain(blocks[id].clone().map(|i| i as u32)).filter(|&i| live[i as usize]));
        for (new, &old) in order.iter().enumerate().skip(start) {
            new_ids[old as usize] = new as u32;
        }
        let block_id = |b: u32| BlockId::new(b as usize);
        body.blocks.push(Block {
            insts: (start..order.len()).map(ValueId::new).collect(),
            successors: node.successors.iter().map(|&s| block_id(s)).collect(),
            handlers: node.handlers.iter().map(|&(b, class)| Handler { block: block_id(b), class }).collect(),
            predecessors: node.predecessors.iter().map(|p| block_id(p.0)).collect(),
            in_handler: false,
            loop_header: None,
        });
    }
    let lines: Vec<u32> =
        blocks.iter().map(|range| insts[range.clone()].first().map_or(0, |i| i.line)).collect();
    let mut insts: Vec<Option<_>> = insts.into_iter().map(Some).collect();
    body.insts.reserve_exact(order.len());
    for old in order {
        let mut inst = insts[old as usize].take().expect("each instruction is in one block");
        inst.op.map_operands(|v| ValueId::new(new_ids[v.index()] as usize));
        let line = if matches!(inst.op, Op::Phi(_)) { lines[inst.block as usize] } else { inst.line };
        let block = BlockId::new(inst.block as usize);
        body.insts.push(Inst { op: inst.op, block, line, pc: inst.pc });
    }
    body
}
