//! Interruption of a forward pass.

use std::fmt;

/// Error of a computation that its caller stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the computation of a vector was stopped")
    }
}

impl std::error::Error for Interrupted {}

/// Returns an error if the caller wants to stop.
pub(crate) fn check(should_stop: &dyn Fn() -> bool) -> Result<(), Interrupted> {
    if should_stop() {
        Err(Interrupted)
    } else {
        Ok(())
    }
}
