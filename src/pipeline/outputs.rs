//! The folder that a map writes to: what it may be, before the work, and what is in it.

use std::path::Path;

use crate::error::{Result, bail};
use crate::model::Model;

/// The model's name in the folder of a map output.
pub(crate) const MODEL_NAME: &str = "model";

/// Bytes that the name of a file can have, but for its extension and what it is called while it is
/// written.
const NAME_MAX: usize = 200;

/// Fails if no file can have the name of a node.
pub(crate) fn check_name(node: &str) -> Result<()> {
    if node.is_empty() {
        bail!("a node has a name");
    }
    let n: usize =
        node.bytes().map(|b| if b.is_ascii_alphanumeric() || b"._-".contains(&b) { 1 } else { 3 }).sum();
    if n > NAME_MAX {
        let start: String = node.chars().take(24).collect();
        let n_letters = node.chars().count();
        bail!(
            "the name of {n_letters} letters that begins with `{start}` is too long for a file: {NAME_MAX} bytes at most"
        );
    }
    Ok(())
}

/// Fails if the folder holds what this would replace: before the work, not after it.
pub(crate) fn check_output(folder: &Path, node: &str, model: &Model) -> Result<()> {
    if !folder.join("inputs").is_dir() {
        return Ok(());
    }
    let mut is_known = false;
    for path in schema::tables::node_outputs(folder)? {
        is_known |= schema::tables::read_node_output(&path)?.node == node;
    }
    if is_known {
        bail!(
            Mismatch: "`{}` holds an output of node `{node}` already: give another folder with -o, or another node, or remove it first",
            folder.display()
        );
    }
    let known = folder.join(MODEL_NAME);
    if known.exists() && Model::read(&known)?.inner.digest() != model.inner.digest() {
        bail!(Mismatch: "`{}` holds outputs made with another model: give another folder with -o", folder.display());
    }
    Ok(())
}
