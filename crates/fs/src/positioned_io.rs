//! Reads and writes at an offset of an open file.
//!
//! The position of the file is undefined afterwards, because such a call moves it on Windows.

use crate::platform;
use std::fs::File;
use std::io;

/// Fills `bytes` from an offset of the file. Errors: `UnexpectedEof` if the file is shorter.
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    platform::read_exact_at(file, bytes, offset)
}

/// Writes all of `bytes` at an offset of the file.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    platform::write_all_at(file, bytes, offset)
}
