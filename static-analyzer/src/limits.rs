//! Every bound of the analyzer, with unit and reason.

/// Steps of an access path; longer ones are cut and lose their identity. Five
/// reach every identifier seen in the census of real systems.
pub const PATH_FIELDS_MAX: usize = 6;

/// Targets of one dispatched call; a wider one is a handler table, whose
/// targets are works of their own. Real class families that are inlined
/// (replicas, visitors) have fewer.
pub const DISPATCH_TARGETS_MAX: usize = 8;

/// Places kept per logged variable and method; more and it is no identifier.
pub const PLACES_MAX: usize = 4;
