//! Names for people: binary names with dots.

use crate::program::load::applications::plain;

/// An internal name as a binary name.
pub(super) fn dotted(name: &str) -> String {
    plain(name).replace('/', ".")
}
