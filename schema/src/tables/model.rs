//! `log_points`, `top_level_methods` and `communication_pairs`: the model as
//! tables, for joins; and the words that stand for its enums.

use super::cell::{Text, record};
use crate::ids::LogPointId;
use crate::model::{CallSite, IdentifierStrength, LogPoint, Model, TopLevelKind, TopLevelMethod};

record! {
    /// One way a message can look.
    TemplateRow {
        /// Regex of the whole message.
        regex: Text,
        /// Access path of each capture group, in order.
        variables: Vec<Text>,
    }
}

record! {
    /// A log point.
    LogPointRow = "log_points" {
        /// Its number; unique in the table, also over several models.
        log_point_id: i64,
        /// Binary name with dots.
        class: Text,
        /// Method that holds the statement.
        method: Text,
        /// Source line, 0 where the class has no line table.
        source_line: i64,
        /// Merged call instructions.
        n_sites: i64,
        /// Possible levels, joined by `|`; null: chosen at run time.
        level: Option<Text>,
        /// Possible logger names, joined by `|`; null: unknown.
        logger: Option<Text>,
        /// Stands in an exception handler.
        in_handler: bool,
        /// The caller, `class.method:line`, of a statement in a logging wrapper.
        call_site: Option<Text>,
        /// The ways its message can look.
        templates: Vec<TemplateRow>,
    }
}

record! {
    /// A variable that keeps its value within one request.
    IdentifierRow {
        /// Access path from the frame of the top-level method.
        path: Text,
        /// Identifiers are comparable if their value classes are equal.
        value_class: Text,
        /// `request`, `weak` or `node`.
        strength: Text,
    }
}

record! {
    /// A top-level method.
    TopLevelMethodRow = "top_level_methods" {
        /// `Class.method`; joins `spans` and `requests.request_type`.
        top_level_method: Text,
        /// Binary name with dots.
        class: Text,
        /// Method name.
        method: Text,
        /// JVM descriptor.
        descriptor: Text,
        /// What makes it one.
        kind: Text,
        /// What remote callers ask for it by: `GET /orders/{id}`.
        serves: Vec<Text>,
        /// Why it is one.
        reason: Text,
        /// Its identifiers.
        identifiers: Vec<IdentifierRow>,
        /// Ids of its log points, sorted.
        log_points: Vec<i64>,
    }
}

record! {
    /// Two top-level methods that can work on one request. `from` and `to` are
    /// words of SQL: quote them.
    CommunicationPairRow = "communication_pairs" {
        /// `Class.method` of the sender.
        from: Text,
        /// `Class.method` of the receiver.
        to: Text,
        /// `call`, `thread`, `queue`, `rpc`, `socket`, `store`, `entity`, `ask`, `http`, `grpc`
        /// or `message`.
        kind: Text,
        /// One sender can reach several receivers in one request.
        many: bool,
        /// What is asked for, of the last three: `GET /orders/{id}`, each once.
        requests: Vec<Text>,
        /// Which rule found it.
        reason: Text,
        /// (sender's path, receiver's path) of each identifier that both know.
        identifiers: Vec<Vec<Text>>,
    }
}

/// `Class.method` with the class named without its package.
#[must_use]
pub fn short_name(class: &str, method: &str) -> String {
    let class = class.rsplit_once('.').map_or(class, |(_, name)| name);
    format!("{class}.{method}")
}

impl LogPoint {
    /// The method that prints it: the caller of a logging wrapper, or where it stands; class and
    /// name.
    #[must_use]
    pub fn printer(&self) -> (&str, &str) {
        self.call_site.as_ref().map_or((&self.class, &self.method), |site| (&site.class, &site.method))
    }
}

/// The word for what makes a method top-level.
#[must_use]
pub fn kind_name(kind: TopLevelKind) -> &'static str {
    match kind {
        TopLevelKind::IdentifierLoss => "identifier_loss",
        TopLevelKind::DispatchTarget => "dispatch_target",
        TopLevelKind::RpcHandler => "rpc_handler",
        TopLevelKind::EventHandler => "event_handler",
        TopLevelKind::Entity => "entity",
        TopLevelKind::Task => "task",
        TopLevelKind::Dispatcher => "dispatcher",
        TopLevelKind::Unreached => "unreached",
    }
}

/// The word for how far an identifier tells requests apart.
#[must_use]
pub fn strength_name(strength: IdentifierStrength) -> &'static str {
    match strength {
        IdentifierStrength::Request => "request",
        IdentifierStrength::Weak => "weak",
        IdentifierStrength::Node => "node",
    }
}

impl CallSite {
    /// `class.method:line`, as truth tables and messages name a place.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}.{}:{}", self.class, self.method, self.source_line)
    }
}

impl LogPoint {
    /// `class.method:line`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}.{}:{}", self.class, self.method, self.source_line)
    }
}

impl LogPointRow {
    /// Log point `id` of `model` under the number `log_point_id`.
    ///
    /// # Panics
    /// If `id` is none of the model's.
    #[must_use]
    pub fn new(model: &Model, id: LogPointId, log_point_id: i64) -> Self {
        let point = &model.log_points[id.index()];
        let path = |capture: &u32| point.variables.get(*capture as usize).map_or("?", |v| v.path.as_str());
        let template = |t: &crate::model::Template| TemplateRow {
            regex: Text::from(t.regex.as_str()),
            variables: t.captures.iter().map(path).map(Text::from).collect(),
        };
        Self {
            log_point_id,
            class: Text::from(point.class.as_str()),
            method: Text::from(point.method.as_str()),
            source_line: i64::from(point.source_line),
            n_sites: i64::from(point.n_sites),
            level: joined(point.levels.iter().map(|l| l.name())),
            logger: joined(point.loggers.iter().map(String::as_str)),
            in_handler: point.in_handler,
            call_site: point.call_site.as_ref().map(|site| Text::from(site.place())),
            templates: point.templates.iter().map(template).collect(),
        }
    }
}

impl TopLevelMethod {
    /// `Class.method`, the name in tables.
    #[must_use]
    pub fn short_name(&self) -> String {
        short_name(&self.class, &self.method)
    }

    /// Its log points, sorted, each once.
    #[must_use]
    pub fn log_points(&self) -> Vec<LogPointId> {
        let points = self.dag.nodes.iter().flat_map(|node| &node.points).map(|point| point.log_point);
        points.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    }
}

impl TopLevelMethodRow {
    /// All top-level methods of `model`; `number` gives a log point's number
    /// in the table.
    #[must_use]
    pub fn all(model: &Model, number: &dyn Fn(LogPointId) -> i64) -> Vec<Self> {
        let identifier = |id: &crate::model::Identifier| IdentifierRow {
            path: Text::from(id.path.as_str()),
            value_class: Text::from(value_class(model, id.value_class.index())),
            strength: Text::from(strength_name(id.strength)),
        };
        let row = |method: &TopLevelMethod| Self {
            top_level_method: Text::from(method.short_name()),
            class: Text::from(method.class.as_str()),
            method: Text::from(method.method.as_str()),
            descriptor: Text::from(method.descriptor.as_str()),
            kind: Text::from(kind_name(method.kind)),
            serves: method.serves.iter().map(|text| Text::from(text.as_str())).collect(),
            reason: Text::from(method.reason.as_str()),
            identifiers: method.identifiers.iter().map(identifier).collect(),
            log_points: method.log_points().into_iter().map(number).collect(),
        };
        model.top_level_methods.iter().map(row).collect()
    }
}

impl CommunicationPairRow {
    /// All pairs of `model`.
    #[must_use]
    pub fn all(model: &Model) -> Vec<Self> {
        let method = |id: crate::ids::TopLevelId| &model.top_level_methods[id.index()];
        let path = |of: &TopLevelMethod, id: crate::ids::IdentifierId| {
            Text::from(of.identifiers.get(id.index()).map_or("?", |i| i.path.as_str()))
        };
        let row = |pair: &crate::model::CommunicationPair| {
            let (from, to) = (method(pair.from), method(pair.to));
            Self {
                from: Text::from(from.short_name()),
                to: Text::from(to.short_name()),
                kind: Text::from(pair.kind.name()),
                many: pair.many,
                requests: pair.requests().into_iter().map(Text::from).collect(),
                reason: Text::from(pair.reason.as_str()),
                identifiers: pair
                    .identifiers
                    .iter()
                    .map(|(a, b)| vec![path(from, *a), path(to, *b)])
                    .collect(),
            }
        };
        model.communication_pairs.iter().map(row).collect()
    }
}

fn value_class(model: &Model, index: usize) -> &str {
    model.value_classes.get(index).map_or("?", String::as_str)
}

fn joined<'a>(names: impl Iterator<Item = &'a str>) -> Option<Text> {
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| Text::from(names.join("|")))
}
