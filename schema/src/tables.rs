//! Parquet forms; see the request table in the design.
