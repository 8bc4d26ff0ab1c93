//! Small tables of random rows, and joins of them that are decided pair by pair.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::MemTable;
use schema::happened_before::random::{Random, RandomRequest};
use schema::happened_before::{Label, Order, Stretch, order};
use schema::tables::{Cell as _, PositionRow, SharedBytes};

use crate::query::happened_before::condition::{Condition, Filter, Relation};

/// A row: where it stands, if anywhere, and two numbers, if it has them.
#[derive(Clone, Debug)]
pub(super) struct TestRow {
    pub(super) id: i64,
    pub(super) place: Option<(Label, Stretch)>,
    pub(super) k: Option<i64>,
    pub(super) x: Option<i64>,
}

/// The columns of [`TestRow`].
pub(super) fn schema() -> SchemaRef {
    let whole = |name: &str| Field::new(name, DataType::Int64, true);
    let position = Field::new("position", Option::<PositionRow>::data_type(), true);
    Arc::new(Schema::new(vec![whole("id"), position, whole("k"), whole("x")]))
}

/// `rows` as a batch.
pub(super) fn batch(rows: &[TestRow]) -> RecordBatch {
    let position = |(label, stretch): &(Label, Stretch)| {
        PositionRow::new(label.request, &SharedBytes(label.encode().into()), *stretch, 0)
    };
    let positions: Vec<Option<PositionRow>> =
        rows.iter().map(|row| row.place.as_ref().map(position)).collect();
    let whole = |value: fn(&TestRow) -> Option<i64>| -> ArrayRef {
        Arc::new(rows.iter().map(value).collect::<Int64Array>())
    };
    let positions = Option::<PositionRow>::array(&positions.iter().collect::<Vec<_>>());
    let columns = vec![whole(|row| Some(row.id)), positions, whole(|row| row.k), whole(|row| row.x)];
    RecordBatch::try_new(schema(), columns).expect("columns of one length")
}

/// A table of `rows` in two parts and several batches.
pub(super) fn table(rows: &[TestRow]) -> Arc<MemTable> {
    let (first, second) = rows.split_at(rows.len() / 3);
    let batches = |rows: &[TestRow]| rows.chunks(5).map(batch).collect();
    Arc::new(MemTable::try_new(schema(), vec![batches(first), batches(second)]).expect("a table"))
}

/// Rows of up to three requests.
pub(super) fn rows(random: &mut Random, requests: &[(RandomRequest, Vec<Label>)]) -> Vec<TestRow> {
    let number = |random: &mut Random| (!random.once_in(6)).then(|| i64::from(random.below(4)));
    let row = |id: u32, random: &mut Random| {
        let at = random.below(u32::try_from(requests.len()).expect("few"));
        let (request, labels) = &requests[at as usize];
        let events = request.events();
        let place = (!random.once_in(8) && !events.is_empty()).then(|| {
            let (span, event) = events[random.below(u32::try_from(events.len()).expect("few")) as usize];
            let (first, last) =
                if random.once_in(5) { (0, request.times_us[span].len() - 1) } else { (event, event) };
            (labels[span].clone(), request.stretch(span, first, last))
        });
        TestRow { id: i64::from(id), place, k: number(random), x: number(random) }
    };
    (0..random.below(20)).map(|id| row(id, random)).collect()
}

/// Requests of which rows are.
pub(super) fn requests(random: &mut Random) -> Vec<(RandomRequest, Vec<Label>)> {
    let ids = [1, -2, i64::MAX];
    let request = |id: i64, random: &mut Random| {
        let request = RandomRequest::new(random);
        let labels = request.labels(id).0;
        (request, labels)
    };
    let n = 1 + random.below(3) as usize;
    ids[..n].iter().map(|&id| request(id, random)).collect()
}

/// How two tables are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Inner,
    Left,
    Right,
    Full,
    LeftSemi,
    LeftAnti,
    RightSemi,
    RightAnti,
}

/// A join of the tables `a` and `b`.
#[derive(Clone, Debug)]
pub(super) struct TestJoin {
    pub(super) kind: Kind,
    pub(super) condition: Condition,
    /// The condition is of `b` and `a`, in this order.
    pub(super) is_swapped: bool,
    pub(super) has_equal_k: bool,
    pub(super) has_lower_x: bool,
    /// Rows with `x` above this, of the table of that name, come out.
    pub(super) filter: Option<(char, i64)>,
}

const KINDS: [(Kind, &str); 8] = [
    (Kind::Inner, "JOIN"),
    (Kind::Left, "LEFT JOIN"),
    (Kind::Right, "RIGHT JOIN"),
    (Kind::Full, "FULL JOIN"),
    (Kind::LeftSemi, "LEFT SEMI JOIN"),
    (Kind::LeftAnti, "LEFT ANTI JOIN"),
    (Kind::RightSemi, "RIGHT SEMI JOIN"),
    (Kind::RightAnti, "RIGHT ANTI JOIN"),
];

impl TestJoin {
    pub(super) fn new(random: &mut Random) -> Self {
        let kind = KINDS[random.below(8) as usize].0;
        let condition = match random.below(7) {
            at @ 0..5 => Condition::Relation(Relation::ALL[at as usize]),
            5 => Condition::Filter(Filter::First(random.below(4) as usize)),
            _ => Condition::Filter(Filter::MostRecent(random.below(4) as usize)),
        };
        let side = match kind {
            Kind::LeftSemi | Kind::LeftAnti => 'a',
            Kind::RightSemi | Kind::RightAnti => 'b',
            _ => ['a', 'b'][random.below(2) as usize],
        };
        Self {
            kind,
            condition,
            is_swapped: random.once_in(2),
            has_equal_k: random.once_in(3),
            has_lower_x: random.once_in(3),
            filter: random.once_in(3).then(|| (side, i64::from(random.below(3)))),
        }
    }

    /// The join as SQL.
    pub(super) fn sql(&self) -> String {
        let (first, second) = if self.is_swapped { ("b", "a") } else { ("a", "b") };
        let condition = match self.condition {
            Condition::Relation(relation) => {
                format!("{}({first}.position, {second}.position)", relation.name())
            }
            Condition::Filter(filter) => {
                filter.show(&format!("{first}.position"), &format!("{second}.position"))
            }
        };
        let columns = match self.kind {
            Kind::LeftSemi | Kind::LeftAnti => "a.id, NULL",
            Kind::RightSemi | Kind::RightAnti => "NULL, b.id",
            _ => "a.id, b.id",
        };
        let join = KINDS.into_iter().find(|(kind, _)| *kind == self.kind).expect("a kind").1;
        let mut sql = format!("SELECT {columns} FROM a {join} b ON {condition}");
        sql.push_str(if self.has_equal_k { " AND a.k = b.k" } else { "" });
        sql.push_str(if self.has_lower_x { " AND a.x < b.x" } else { "" });
        if let Some((side, x)) = self.filter {
            sql.push_str(&format!(" WHERE {side}.x > {x}"));
        }
        sql
    }

    /// What the join gives out, decided pair by pair: ids of both rows, sorted.
    pub(super) fn naive(&self, a: &[TestRow], b: &[TestRow]) -> Vec<(Option<i64>, Option<i64>)> {
        let equal = |a: &TestRow, b: &TestRow| a.k.is_some() && a.k == b.k;
        let lower = |a: &TestRow, b: &TestRow| a.x.zip(b.x).is_some_and(|(a, b)| a < b);
        let holds = |one: &TestRow, other: &TestRow| {
            let found = if self.is_swapped { self.holds(b, other, one) } else { self.holds(a, one, other) };
            found && (!self.has_equal_k || equal(one, other)) && (!self.has_lower_x || lower(one, other))
        };
        let is_above = |side: char, row: Option<&TestRow>| match self.filter {
            Some((wanted, x)) if wanted == side => row.and_then(|row| row.x).is_some_and(|found| found > x),
            _ => true,
        };
        let mut out = Vec::new();
        let mut add = |one: Option<&TestRow>, other: Option<&TestRow>| {
            if is_above('a', one) && is_above('b', other) {
                out.push((one.map(|row| row.id), other.map(|row| row.id)));
            }
        };
        let gives_pairs = matches!(self.kind, Kind::Inner | Kind::Left | Kind::Right | Kind::Full);
        for one in a {
            let others: Vec<&TestRow> = b.iter().filter(|other| holds(one, other)).collect();
            if gives_pairs {
                others.iter().for_each(|other| add(Some(one), Some(other)));
            }
            let is_out = match self.kind {
                Kind::Left | Kind::Full | Kind::LeftAnti => others.is_empty(),
                Kind::LeftSemi => !others.is_empty(),
                _ => false,
            };
            if is_out {
                add(Some(one), None);
            }
        }
        for other in b {
            let has_other = a.iter().any(|one| holds(one, other));
            let is_out = match self.kind {
                Kind::Right | Kind::Full | Kind::RightAnti => !has_other,
                Kind::RightSemi => has_other,
                _ => false,
            };
            if is_out {
                add(None, Some(other));
            }
        }
        out.sort_unstable();
        out
    }

    /// Whether the condition holds for two rows, the first of which is one of `source`.
    fn holds(&self, source: &[TestRow], first: &TestRow, second: &TestRow) -> bool {
        let (Some(a), Some(b)) = (&first.place, &second.place) else { return false };
        let before =
            |a: &(Label, Stretch), b: &(Label, Stretch)| order((&a.0, a.1), (&b.0, b.1)) == Order::Before;
        let places = || source.iter().filter_map(|row| row.place.as_ref());
        match self.condition {
            Condition::Relation(relation) => relation.holds((&a.0, a.1), (&b.0, b.1)),
            Condition::Filter(Filter::First(n)) => {
                before(a, b) && places().filter(|other| before(other, a)).count() < n
            }
            Condition::Filter(Filter::MostRecent(n)) => {
                before(a, b) && places().filter(|other| before(a, other) && before(other, b)).count() < n
            }
        }
    }
}
