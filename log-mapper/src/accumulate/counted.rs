//! Counted: names that differ in one number, which a counter made.
//!
//! A program names what it makes after how many of a kind there have been (a file of
//! a table, an attempt of a task), and counts when the work begins. Of several pieces
//! of the same work at once the one that began first has the smallest number, however
//! soon each of them ends. A value that is nothing but a number is as well a size, and
//! a number that letters touch can be a part of a digest: neither counts anything.

/// The values of one record, sorted by variable.
pub(super) type Values = Vec<(u32, String)>;

/// The positions of `records` of one log point in the order in which a counter has
/// named them: by the first variable that tells; none if none does.
pub(super) fn in_turn(records: &[Values]) -> Option<Vec<usize>> {
    let (first, _) = records.split_first()?;
    first.iter().find_map(|&(variable, _)| {
        let text = |values: &Values| {
            let value = values.iter().find(|(other, _)| *other == variable)?;
            Some(value.1.clone())
        };
        let texts: Vec<String> = records.iter().map(text).collect::<Option<_>>()?;
        let numbers = numbers(&texts)?;
        let mut order: Vec<usize> = (0..records.len()).collect();
        order.sort_unstable_by_key(|&at| numbers[at]);
        let rises = |pair: &[usize]| numbers[pair[0]] < numbers[pair[1]];
        order.windows(2).all(rises).then_some(order)
    })
}

/// The numbers in which `texts` differ, if they differ in one that stands apart.
fn numbers(texts: &[String]) -> Option<Vec<u64>> {
    let runs: Vec<Vec<&str>> = texts.iter().map(|text| runs(text)).collect();
    let first = runs.first()?;
    if first.len() < 2 || runs.iter().any(|other| other.len() != first.len()) {
        return None;
    }
    let mut differing = (0..first.len()).filter(|&at| runs.iter().any(|other| other[at] != first[at]));
    let (at, None) = (differing.next()?, differing.next()) else { return None };
    let before = at.checked_sub(1).and_then(|before| first[before].chars().next_back());
    let after = first.get(at + 1).and_then(|after| after.chars().next());
    let touches = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    if touches(before) || touches(after) {
        return None;
    }
    runs.iter().map(|runs| runs[at].parse().ok()).collect()
}

/// A text cut into runs of digits and what stands between them.
fn runs(text: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_other = |c: char| c.is_ascii_digit() != first.is_ascii_digit();
        let (run, others) = rest.split_at(rest.find(is_other).unwrap_or(rest.len()));
        runs.push(run);
        rest = others;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[&str]) -> Option<Vec<usize>> {
        let records: Vec<Values> = texts.iter().map(|text| vec![(0, (*text).to_owned())]).collect();
        in_turn(&records)
    }

    #[test]
    fn a_number_within_a_name_tells_whose_turn_it_is() {
        assert_eq!(check(&["/d/t-10-Data", "/d/t-9-Data", "/d/t-11-Data"]), Some(vec![1, 0, 2]));
    }

    #[test]
    fn sizes_digests_and_several_numbers_tell_nothing() {
        assert_eq!(check(&["10", "9"]), None);
        assert_eq!(check(&["t-a10f", "t-a9f"]), None);
        assert_eq!(check(&["t-1-9", "t-2-8"]), None);
        assert_eq!(check(&["t-1", "t-1"]), None);
        assert_eq!(check(&["t-1", "u-2"]), None);
    }
}
