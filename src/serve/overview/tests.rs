//! Pieces of time, rows of the heat map, and which series are one.

use schema::tables::Text;
use schema::tables::index::bin_of;

use super::{Shares, least_of_row, pieces, row_of};

#[test]
fn pieces_are_round_and_hold_all() {
    assert_eq!(pieces(0, 0, 100), (0, 1, 1));
    assert_eq!(pieces(1_234_567, 61_234_567, 60), (0, 2_000_000, 31));
    let (from, step, n) = pieces(-5, 400 * 86_400_000_000, 100);
    assert!(from <= -5 && from + step * n as i64 > 400 * 86_400_000_000 && n <= 102, "{from} {step} {n}");
}

#[test]
fn a_duration_lies_in_its_row() {
    for us in [0, 1, 2, 3, 5, 6, 90, 91, 1_000, 1_448_154, 1_448_155, 1 << 40] {
        let row = row_of(bin_of(us));
        assert!(
            least_of_row(row) <= us && us < least_of_row(row + 1).max(least_of_row(row) + 1),
            "{us} {row}"
        );
    }
}

#[test]
fn those_with_few_requests_are_one() {
    let names: Vec<Text> = (0..12).map(|n| format!("t{n}").into()).collect();
    let shares = Shares::new(&(1..=12).collect::<Vec<u64>>(), &names);
    assert_eq!(
        (shares.names.len(), shares.names[0].as_str(), shares.names[8].as_str()),
        (9, "t11", "4 others")
    );
    assert_eq!(shares.series_of[11..], [0]);
    assert_eq!(shares.series_of[..5], [8, 8, 8, 8, 7]);
}
