//! A model as a file.

use std::path::Path;

use super::Model;
use crate::error::{Error, Result};
use crate::version::{self, MODEL};

/// Level 9: a model is written once and sent to every node.
const COMPRESSION_LEVEL: i32 = 9;

/// A model as it was read: it is written elsewhere without being encoded again, which takes longer
/// than to map a small log.
#[derive(Debug)]
pub struct StoredModel(Vec<u8>);

impl StoredModel {
    /// Reads what is in a file.
    ///
    /// # Errors
    /// Not a model, a model of another version, cut short or damaged.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(Self(version::read(path, MODEL)?))
    }

    /// The model. `path` is where it was read from.
    ///
    /// # Errors
    /// Damaged.
    pub fn decode(&self, path: &Path) -> Result<Model> {
        let plain = zstd::stream::decode_all(self.0.as_slice()).map_err(|e| Error::damaged(path, 0, e))?;
        postcard::from_bytes(&plain).map_err(|e| Error::damaged(path, 0, e))
    }

    /// Writes it to `path`, atomically.
    ///
    /// # Errors
    /// I/O errors, naming the file.
    pub fn write(&self, path: &Path) -> Result<()> {
        version::write(path, MODEL, &self.0)
    }
}

impl Model {
    /// Writes the model to `path`, atomically.
    ///
    /// # Errors
    /// I/O errors, naming the file.
    pub fn write(&self, path: &Path) -> Result<()> {
        let plain = self.encode();
        let payload = zstd::bulk::compress(&plain, COMPRESSION_LEVEL).map_err(Error::io(path))?;
        version::write(path, MODEL, &payload)
    }

    /// Reads a model.
    ///
    /// # Errors
    /// Not a model, a model of another version, cut short or damaged.
    pub fn read(path: &Path) -> Result<Self> {
        StoredModel::read(path)?.decode(path)
    }

    /// xxh3-128 over the model's content: equal digests, equal models.
    #[must_use]
    pub fn digest(&self) -> u128 {
        xxhash_rust::xxh3::xxh3_128(&self.encode())
    }

    fn encode(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("a model holds nothing that cannot be encoded")
    }
}
