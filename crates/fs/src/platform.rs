//! Platform layer: the operations on files whose system calls differ between Unix and Windows.
//!
//! Both modules have the same functions, and no other module of this crate names a platform.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
