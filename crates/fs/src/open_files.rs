//! Number of files that a process may open, which a server's connections count against.

/// Raises the number of files that this process may open to what the system allows it, and returns that number; `None`
/// without a limit. A limit that cannot be raised stays.
pub fn raise_open_file_limit() -> Option<usize> {
    crate::platform::raise_open_file_limit()
}
