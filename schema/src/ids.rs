//! Indices into the vectors of a [`crate::Model`]: checked `u32` newtypes, so
//! that an index of one kind can never be used for another.

use serde::{Deserialize, Serialize};

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(u32);

        impl $name {
            /// The id of element `index`.
            ///
            /// # Panics
            /// If `index` does not fit in 32 bits: no model is that large.
            #[must_use]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("a model has fewer than 2^32 elements"))
            }

            /// The position in the model's vector.
            #[inline]
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

index_type! {
    /// A log point of a model.
    LogPointId
}
index_type! {
    /// A top-level method of a model.
    TopLevelId
}
index_type! {
    /// An identifier of one top-level method (index into its `identifiers`).
    IdentifierId
}
index_type! {
    /// A communication pair of a model.
    PairId
}
index_type! {
    /// A value class of a model: all variables whose values may be compared.
    ValueClassId
}
