//! Names for people: binary names with dots.

/// An internal name as a binary name.
pub(super) fn dotted(name: &str) -> String {
    name.replace('/', ".")
}
