//! Every bound of the analyzer, with unit and reason.

/// Steps of an access path; longer ones are cut and lose their identity. Five
/// reach every identifier seen in the census of real systems.
pub const PATH_FIELDS_MAX: usize = 6;
