//! Platform layer of the program: signals, priority, terminal, folders and the desktop.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// Folder of the platform for files of one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DefaultFolder {
    /// Variable of the platform that names it.
    pub(crate) variable: Option<&'static str>,
    /// Path below the home folder, without such a variable.
    pub(crate) below_home: &'static str,
}
