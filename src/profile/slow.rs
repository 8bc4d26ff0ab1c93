//! What can take time in a region of code, from the models that a table was made with.

use reducer::table::Manifest;
use rustc_hash::FxHashMap;
use schema::tables::{LogPointRow, RunRow};
use schema::{LogPointId, Model, SlowCall};

use super::regions::{Edge, Region};
use crate::releases::Translation;

/// Things that can take time, by the log points around them.
#[derive(Clone, Debug, Default)]
pub(super) struct SlowCalls {
    calls: Vec<Slow>,
    /// By number of a log point in the table: those that can come after it, and before it.
    after: FxHashMap<i64, Vec<usize>>,
    before: FxHashMap<i64, Vec<usize>>,
}

/// One of them.
#[derive(Clone, Debug)]
struct Slow {
    /// The order among those of a region: what usually takes longest first, what is called
    /// itself before what is further down.
    rank: (schema::SlowKind, bool, u32),
    text: SlowText,
}

/// What can take time, in words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SlowText {
    /// `wait: CountDownLatch.await`.
    pub(super) what: String,
    /// The same with its source line, if that is known.
    pub(super) text: String,
}

impl SlowCalls {
    /// Those of the models of a table, and a warning if one cannot be read.
    pub(super) fn read(manifest: &Manifest, points: &[LogPointRow]) -> (Self, Option<String>) {
        let mut found = Self::default();
        let mut warning = None;
        let mut numbers: FxHashMap<(&str, &str, i64), Vec<i64>> = FxHashMap::default();
        for row in points {
            let place = (&*row.class, &*row.method, row.source_line);
            numbers.entry(place).or_default().push(row.log_point_id);
        }
        let runs = manifest.rows::<RunRow>().unwrap_or_default();
        let mut models: Vec<&str> = runs.iter().map(|run| &*run.model_digest).collect();
        models.sort_unstable();
        models.dedup();
        for digest in models {
            let path = manifest.folder.join("models").join(format!("{digest}.model"));
            match Model::read(&path) {
                Ok(model) => found.add(&model, &numbers),
                Err(error) => {
                    warning = Some(format!("{error}: what takes time within regions of code is not told"));
                }
            }
        }
        (found, warning)
    }

    fn add(&mut self, model: &Model, numbers: &FxHashMap<(&str, &str, i64), Vec<i64>>) {
        for call in &model.slow_calls {
            let at = self.calls.len();
            self.calls.push(Slow { rank: rank(call), text: text(call) });
            let of = |ids: &[LogPointId]| -> Vec<i64> {
                let points = ids.iter().filter_map(|id| model.log_points.get(id.index()));
                let places = points.map(|p| (p.class.as_str(), p.method.as_str(), i64::from(p.source_line)));
                let mut all: Vec<i64> =
                    places.filter_map(|place| numbers.get(&place)).flatten().copied().collect();
                all.sort_unstable();
                all.dedup();
                all
            };
            of(&call.after).into_iter().for_each(|point| self.after.entry(point).or_default().push(at));
            of(&call.before).into_iter().for_each(|point| self.before.entry(point).or_default().push(at));
        }
    }

    /// What can take time in `region`, in words: what usually takes longest first. Of a region
    /// within one method what lies between its ends; else what comes after the one end in its
    /// method, and before the other one in its.
    pub(super) fn of(&self, region: &Region) -> Vec<&SlowText> {
        let line = |edge: Edge| if let Edge::Line(point) = edge { point } else { None };
        let of = |all: &FxHashMap<i64, Vec<usize>>, point: Option<i64>| -> Vec<usize> {
            point.and_then(|point| all.get(&point)).cloned().unwrap_or_default()
        };
        let after = of(&self.after, line(region.from));
        let before = of(&self.before, line(region.to));
        let mut found: Vec<usize> = after.iter().copied().filter(|at| before.contains(at)).collect();
        if found.is_empty() {
            found = [after, before].concat();
        }
        found.sort_by_key(|&at| (self.calls[at].rank, &self.calls[at].text));
        let mut texts: Vec<&SlowText> = found.into_iter().map(|at| &self.calls[at].text).collect();
        texts.dedup();
        texts
    }

    /// The same with the numbers of another release.
    pub(super) fn translated(self, translation: &Translation) -> Self {
        let numbers = |of: FxHashMap<i64, Vec<usize>>| {
            of.into_iter().map(|(point, calls)| (translation.point(point), calls)).collect()
        };
        Self { calls: self.calls, after: numbers(self.after), before: numbers(self.before) }
    }
}

fn rank(call: &SlowCall) -> (schema::SlowKind, bool, u32) {
    (call.kind, !call.comes_to.is_empty(), call.source_line)
}

fn text(call: &SlowCall) -> SlowText {
    let mut what = call.kind.name().to_owned();
    if !call.call.is_empty() {
        what += &format!(": {}", call.call);
    }
    if !call.comes_to.is_empty() && call.comes_to != call.call {
        what += &format!(" down to {}", call.comes_to);
    }
    let text = if call.source_line > 0 { format!("{what}, line {}", call.source_line) } else { what.clone() };
    SlowText { what, text }
}

#[cfg(test)]
mod tests {
    use schema::{LogPointId, SlowCall, SlowKind};

    use super::*;

    #[test]
    fn calls_of_regions() {
        let mut model = schema::sketch::model("point one INFO\npoint two INFO\npoint three INFO");
        let call = |kind, call: &str, comes_to: &str, after: &[usize], before: &[usize]| SlowCall {
            kind,
            source_line: 7,
            call: call.to_owned(),
            comes_to: comes_to.to_owned(),
            after: after.iter().map(|&id| LogPointId::new(id)).collect(),
            before: before.iter().map(|&id| LogPointId::new(id)).collect(),
        };
        model.slow_calls = vec![
            call(SlowKind::Lock, "", "", &[0], &[1]),
            call(SlowKind::Io, "A.write", "FileChannel.force", &[0], &[1]),
            call(SlowKind::Wait, "Latch.await", "", &[1], &[2]),
        ];
        let points: Vec<(String, String, i64)> = model
            .log_points
            .iter()
            .enumerate()
            .map(|(i, p)| (p.class.clone(), format!("{}{i}", p.method), i64::from(p.source_line)))
            .collect();
        for (point, (_, method, _)) in model.log_points.iter_mut().zip(&points) {
            point.method.clone_from(method);
        }
        let places = points.iter().zip(10..);
        let numbers = places.map(|((class, method, line), id)| ((&**class, &**method, *line), vec![id]));
        let mut slow = SlowCalls::default();
        slow.add(&model, &numbers.collect());
        let line = |point: i64| Edge::Line(Some(point));
        let of = |from, to| -> Vec<&str> {
            slow.of(&Region { operation: 0, from, to }).into_iter().map(|of| &*of.text).collect()
        };
        let between = ["i/o: A.write down to FileChannel.force, line 7", "lock, line 7"];
        assert_eq!(of(line(10), line(11)), between);
        assert_eq!(of(line(11), line(12)), ["wait: Latch.await, line 7"]);
        // From the first line to the start of another span: all that comes after the line.
        assert_eq!(of(line(10), Edge::Begins(Some(12))), between);
        assert_eq!(of(Edge::Ends(None), line(12)), ["wait: Latch.await, line 7"]);
        assert_eq!(of(line(12), line(10)), [""; 0]);
    }
}
