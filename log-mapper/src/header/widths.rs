//! Widths: how wide a layout pads its fields, as the lines show that it reads.

use super::fit::header_of;
use super::layout::Layout;
use super::sample::Sample;

/// Widths that layouts pad a field to.
const WIDTHS_MAX: usize = 60;

/// The strict layout that reads the same lines as one with any padding: each field is padded to
/// the largest width that none of the `lines` that it reads contradicts.
pub(super) fn with_widths(any: &Layout, lines: &[u32], sample: &Sample<'_>) -> Layout {
    let reads_all = |pattern: &str| {
        let layout = Layout::compile(pattern).ok()?;
        let n = lines.iter().filter(|i| header_of(&layout, sample, **i as usize).is_some()).count();
        (n == lines.len()).then_some(layout)
    };
    let mut pattern = any.pattern().to_owned();
    // Where any padding is needed, the widest that fits: fields without blanks need none.
    for word in ["p", "t", "c", "C", "F", "r"] {
        let Some(at) = word_at(&pattern, word) else { continue };
        let with = |modifier: &str| format!("{}%{modifier}{}", &pattern[..at], &pattern[at + 1..]);
        let reads = |modifier: &str| {
            Layout::compile_any_padding_but(&with(modifier), word)
                .is_some_and(|layout| lines.iter().all(|i| header_of(&layout, sample, *i as usize).is_some()))
        };
        let is_ragged = word == "t" && lines.iter().any(|i| has_padded_thread(&with(""), sample, *i));
        if reads("") && !is_ragged {
            continue;
        }
        let widths = (1..=WIDTHS_MAX).rev();
        let is_whole = |modifier: &str| {
            word != "t" || !lines.iter().any(|i| has_padded_thread(&with(modifier), sample, *i))
        };
        let mut modifiers = widths.flat_map(|w| [format!("-{w}"), w.to_string()]);
        let modifier = modifiers.find(|modifier| reads(modifier) && is_whole(modifier));
        if let Some(modifier) = modifier {
            pattern = with(&modifier);
        }
    }
    reads_all(&pattern).unwrap_or_else(|| any.clone())
}

/// Whether a strict layout reads blanks with the thread.
fn has_padded_thread(pattern: &str, sample: &Sample<'_>, line: u32) -> bool {
    let layout = Layout::compile_any_padding_but(pattern, "t");
    let header = layout.and_then(|layout| Some(header_of(&layout, sample, line as usize)?.0));
    header.and_then(|header| header.thread).is_some_and(|thread| thread.trim_ascii().len() < thread.len())
}

/// Where the conversion `%word` stands in a pattern.
fn word_at(pattern: &str, word: &str) -> Option<usize> {
    let conversion = format!("%{word}");
    pattern
        .match_indices(&conversion)
        .map(|(at, _)| at)
        .find(|at| pattern[at + conversion.len()..].chars().next().is_none_or(|c| !c.is_ascii_alphanumeric()))
}
