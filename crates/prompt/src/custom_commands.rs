//! Custom commands: a template in a TOML file, parsed once and filled in once.
//!
//! Pure: no file is read and no program is run here. Text from arguments, files or programs is never parsed again,
//! and arguments are passed to programs as variables, so that no text becomes a part of a script.

mod command_name;
mod definition;
mod render;
mod template;
mod template_parser;
mod template_part;

pub use command_name::{check_name, command_name, is_same_name};
pub use definition::{CommandDefinition, fingerprint};
pub use render::{RenderStep, argument_variables, quote_for_shell};
pub use template::{Template, TemplateArguments};
pub use template_part::{Position, TemplateProblem};
