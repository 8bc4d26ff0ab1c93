//! What the log points of a table print under which names, from the models that it was made
//! with: the table itself names values by their value class only.

use std::collections::BTreeMap;

use crate::error::Result;
use reducer::table::Manifest;
use schema::tables::{LogPointRow, RunRow};
use schema::{LogPoint, Model, ValueShape};

use super::language::{Catalog, Export, Kind, Point};
use crate::templates::text_of;

/// What queries can name in the table of `manifest`.
pub(super) fn catalog(manifest: &Manifest) -> Result<Catalog> {
    let runs: Vec<RunRow> = manifest.rows()?;
    let has_positions = runs.iter().any(|run| &*run.keep == "events");
    let mut models: Vec<&str> = runs.iter().map(|run| &*run.model_digest).collect();
    models.sort_unstable();
    models.dedup();
    // One log point of several models is one: what it prints is what any of them says.
    let mut known: BTreeMap<(String, String, i64), Vec<Export>> = BTreeMap::new();
    for digest in models {
        let model = Model::read(&manifest.folder.join("models").join(format!("{digest}.model")))?;
        for point in &model.log_points {
            let key = (point.class.clone(), point.method.clone(), i64::from(point.source_line));
            let exports = known.entry(key).or_default();
            for export in exports_of(&model, point) {
                if !exports.contains(&export) {
                    exports.push(export);
                }
            }
        }
    }
    let point = |row: LogPointRow| {
        let (class, method) = (row.class.to_string(), row.method.to_string());
        let exports =
            known.get(&(class.clone(), method.clone(), row.source_line)).cloned().unwrap_or_default();
        let texts = row.templates.iter().map(|template| text_of(&template.regex)).collect();
        Point { id: row.log_point_id, class, method, line: row.source_line, texts, exports }
    };
    let points = manifest.rows::<LogPointRow>()?.into_iter().map(point).collect();
    Ok(Catalog { points, has_positions })
}

/// What a log point prints: by the names of the value class and the path, whole and the
/// last part of each.
fn exports_of(model: &Model, point: &LogPoint) -> Vec<Export> {
    let last = |name: &str| name.trim_end_matches("()").rsplit('.').next().unwrap_or_default().to_owned();
    let export = |variable: &schema::Variable| {
        let class = variable.value_class.and_then(|class| model.value_classes.get(class.index()));
        let mut names: Vec<String> = class.into_iter().chain([&variable.path]).cloned().collect();
        names.extend(names.clone().iter().map(|name| last(name)));
        let mut unique: Vec<String> = Vec::new();
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            if !unique.contains(&name) {
                unique.push(name);
            }
        }
        let kind = match variable.shape {
            ValueShape::Integer => Kind::Whole,
            ValueShape::Float => Kind::Number,
            _ => Kind::Text,
        };
        let column = class.unwrap_or(&variable.path).clone();
        Export { names: unique, column, kind }
    };
    point.variables.iter().map(export).collect()
}
