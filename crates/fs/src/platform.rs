//! Platform layer: the operations on files whose system calls differ between Unix and Windows.
//!
//! Both modules have the same functions. Of the other modules only `safe_walk` has one for each platform.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
