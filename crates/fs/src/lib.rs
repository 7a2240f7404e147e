//! File system access: atomic and bounded file operations, project discovery, and no-follow walks.
//!
//! All files that Heirloom writes pass through [`durable`]; all files that it opens by name for reading pass through
//! [`durable::regular_file`].

mod decoded_reader;
pub mod durable;
mod error;
pub mod file_metadata;
pub mod git_index;
pub mod git_reflog;
mod host_name;
mod open_files;
mod platform;
pub mod positioned_io;
mod program_file;
pub mod project_fs;

pub use decoded_reader::DecodedReader;
pub use error::FsError;
pub use host_name::host_name;
pub use open_files::raise_open_file_limit;
pub use program_file::program_file;
pub use project_fs::canonicalize;
