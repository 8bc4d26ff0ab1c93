//! The table of `docs/accuracy.md` is the table of scores, in fewer digits.

/// Headings of the document's table, and the columns of scores that stand below them.
const COLUMNS: [(&str, &str); 10] = [
    ("system", "system"),
    ("set", "set"),
    ("correct", "correct"),
    ("incomplete", "incomplete"),
    ("incorrect", "incorrect"),
    ("failed", "failed"),
    ("log point", "log_point"),
    ("spans", "span_f"),
    ("adjacent", "adjacent_f"),
    ("tracker", "tracker_f"),
];

/// How the line above the table's first row begins.
const HEADING: &str = "| system | set |";

/// The document with the rows that `scores` gives.
///
/// # Errors
/// If it has no such table, or a score is no number.
pub(crate) fn told(document: &str, scores: &str) -> Result<String, String> {
    let table = table(scores)?;
    let is_row = |line: &&str| line.starts_with('|');
    let begin = document.find(HEADING).ok_or_else(|| format!("docs/accuracy.md has no table `{HEADING}`"))?;
    let len: usize = document[begin..].split_inclusive('\n').take_while(is_row).map(str::len).sum();
    Ok(format!("{}{table}{}", &document[..begin], &document[begin + len..]))
}

fn table(scores: &str) -> Result<String, String> {
    let mut rows = scores.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = rows.next().unwrap_or_default();
    let at =
        |name: &str| header.iter().position(|column| *column == name).ok_or(format!("no column `{name}`"));
    let places: Vec<usize> = COLUMNS.iter().map(|(_, column)| at(column)).collect::<Result<_, _>>()?;
    let headings: Vec<&str> = COLUMNS.iter().map(|(heading, _)| *heading).collect();
    let mut table = format!("| {} |\n{}|\n", headings.join(" | "), "|---".repeat(COLUMNS.len()));
    for row in rows {
        let cell = |(column, at): (usize, &usize)| match (column, row.get(*at)) {
            (_, None) => Err(format!("too short a row: {row:?}")),
            (0 | 1, Some(name)) => Ok((*name).to_owned()),
            (_, Some(&"-")) => Ok("-".to_owned()),
            (_, Some(score)) => percent(score).ok_or_else(|| format!("`{score}` is no score")),
        };
        let cells: Vec<String> = places.iter().enumerate().map(cell).collect::<Result<_, _>>()?;
        table += &format!("| {} |\n", cells.join(" | "));
    }
    Ok(table)
}

/// To one digit, of scores that stand with two: half up, in whole numbers.
fn percent(score: &str) -> Option<String> {
    let (whole, digits) = score.split_once('.').filter(|(_, digits)| digits.len() == 2)?;
    let hundredths: u32 = format!("{whole}{digits}").parse().ok()?;
    let tenths = (hundredths + 5) / 10;
    Some(format!("{}.{} %", tenths / 10, tenths % 10))
}
