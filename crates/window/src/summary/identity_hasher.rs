//! Hash tables whose keys are hashes already.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Identity hasher for keys that are hashes already.
#[derive(Debug, Default, Clone)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Map with such keys.
pub(super) type HashKeyMap<T> = HashMap<u64, T, BuildHasherDefault<IdentityHasher>>;
