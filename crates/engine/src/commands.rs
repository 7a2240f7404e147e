//! Custom commands: a template in a TOML file, taken apart once and filled in once.
//!
//! Pure: nothing is read and nothing is run here. What came from arguments, files or programs is never looked at
//! again, and an argument reaches a program as a variable, so that no text becomes a part of a script.

mod definition;
mod name;
mod reader;
mod render;
mod template;

pub use definition::{Definition, fingerprint};
pub use name::{check_name, name_of, same_name};
pub use render::{Step, quoted, variables};
pub use template::{Arguments, Position, Problem, Template};
