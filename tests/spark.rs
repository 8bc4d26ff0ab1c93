//! Spark: the program of `samples/spark` on a cluster of two executors, by its own test.
//!
//! PySpark comes through pip into a cache outside of the tree; without pip, or Java 17, this test
//! says so and is skipped. `LPROF_REQUIRE_SPARK=1` makes that a failure.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

#[test]
fn spark_makes_the_table_of_one_process() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/spark");
    let fetched = Command::new(folder.join("fetch-pyspark.sh")).output().expect("a shell");
    if !fetched.status.success() {
        let reason = String::from_utf8_lossy(&fetched.stderr);
        assert!(std::env::var_os("LPROF_REQUIRE_SPARK").is_none_or(|value| value != "1"), "{reason}");
        eprintln!("spark: skipped: {}", reason.trim());
        return;
    }
    let mut test = Command::new("python3");
    test.arg(folder.join("test_lprof_spark.py")).env("LPROF", env!("CARGO_BIN_EXE_lprof"));
    test.env("PYTHONPATH", String::from_utf8_lossy(&fetched.stdout).trim());
    let output = test.output().expect("Python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
