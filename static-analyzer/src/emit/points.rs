//! Log points in the order of the model.

use schema::{CallSite, LogPointId, Variable};

use super::names::dotted;
use super::{Findings, class_id};
use crate::path::LogPoint;
use crate::program::{MethodId, Name, Program};

/// The log points of the model, and where each one went.
pub(super) struct LogPoints {
    /// Sorted by (class, method, source line, call site).
    pub(super) points: Vec<schema::LogPoint>,
    ids: Vec<LogPointId>,
}

impl LogPoints {
    /// Sorts and names all log points.
    pub(super) fn new(findings: &Findings<'_>, classes: &[Name]) -> Self {
        let mut points: Vec<(schema::LogPoint, usize)> = findings
            .log_points
            .iter()
            .enumerate()
            .map(|(i, p)| (point(findings.program, classes, p), i))
            .collect();
        points.sort_by(|(a, i), (b, j)| {
            let key = |p: &schema::LogPoint, i: usize| {
                (p.class.clone(), p.method.clone(), p.source_line, p.call_site.clone(), i)
            };
            key(a, *i).cmp(&key(b, *j))
        });
        let mut ids = vec![LogPointId::new(0); points.len()];
        for (new, (_, old)) in points.iter().enumerate() {
            ids[*old] = LogPointId::new(new);
        }
        LogPoints { points: points.into_iter().map(|p| p.0).collect(), ids }
    }

    /// The id of the log point at `position` of the findings.
    pub(super) fn id(&self, position: u32) -> LogPointId {
        self.ids[position as usize]
    }
}

fn point(program: &Program, classes: &[Name], point: &LogPoint) -> schema::LogPoint {
    let (class, method) = names(program, point.method);
    let holder = &program.classes[program.methods[point.method.index()].class.index()];
    let call_site = point.call_line.map(|source_line| {
        let (class, method) = names(program, point.frame);
        CallSite { class, method, source_line }
    });
    let variables = variables(program, classes, point.frame, &point.variables);
    let templates = point.templates.iter().map(template).collect();
    schema::LogPoint {
        class,
        method,
        source_line: point.source_line,
        source_file: holder.source_file.map(|n| n.to_string()),
        call_site,
        n_sites: u32::try_from(point.sites.len()).unwrap_or(u32::MAX),
        levels: point.levels.clone(),
        loggers: point.loggers.clone(),
        in_handler: point.in_handler,
        has_throwable: point.has_throwable,
        variables,
        templates,
    }
}

/// Printed values, with paths as text from `frame`.
pub(super) fn variables(
    program: &Program,
    classes: &[Name],
    frame: MethodId,
    variables: &[crate::path::Variable],
) -> Vec<Variable> {
    let variable = |v: &crate::path::Variable| Variable {
        path: v.path.as_ref().map_or_else(|| v.text.clone(), |p| p.name(program, frame)),
        value_class: v.value_class.and_then(|c| class_id(classes, c)),
        shape: v.shape,
        parts: v.parts.clone(),
        in_text: v.in_text,
    };
    variables.iter().map(variable).collect()
}

/// A template of the model.
pub(super) fn template(template: &crate::path::Template) -> schema::Template {
    schema::Template { regex: template.regex.clone(), captures: template.captures.clone() }
}

fn names(program: &Program, method: MethodId) -> (String, String) {
    let method = &program.methods[method.index()];
    (dotted(&program.classes[method.class.index()].name), method.name.to_string())
}
