//! The readers of bytes that come from elsewhere, each as one call without files: for the fuzz targets.
//!
//! Nobody else needs them, and they promise nothing to other programs.

pub use heirloom_server::mcp::{Address, folder_of};

use crate::commands::remember;
use crate::config::{self, Config, Environment, KEYS, Layer, Origin};
use crate::wire::lines::{self, Line};
use crate::wire::record;
use heirloom_model::{Fault, ProjectName, Session, Timestamp};

/// The value of one key after all layers were laid.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// `section.key`.
    pub key: &'static str,
    /// Its value, as TOML.
    pub value: String,
    /// The layer that it came from.
    pub layer: &'static str,
    /// Whether the value is of the key's type and within its bounds.
    pub fits: bool,
    /// Whether a project's file must not set it.
    pub trusted_only: bool,
}

/// Lays the texts of two config files and flags over the defaults.
///
/// Errors: `Usage` for a text that is no TOML or a flag that fits no key.
pub fn settings(user: &str, project: &str, flags: &[String]) -> Result<Vec<Setting>, Fault> {
    let text = |layer, text: &str| {
        let place = "a file".to_owned();
        (Origin { layer, place }, text.to_owned())
    };
    let texts = [text(Layer::User, user), text(Layer::Project, project)];
    let config = Config::of(&texts, &Environment::default(), flags)?;
    // What the engine goes by can be made of whatever was taken.
    drop(config.settings());
    let rows = KEYS.iter().filter_map(|key| {
        let (value, origin) = config.get(key)?;
        Some(Setting {
            key: key.name,
            value: value.to_string(),
            layer: origin.layer.as_str(),
            fits: key.check(value).is_ok(),
            trusted_only: key.trusted_only.is_some(),
        })
    });
    Ok(rows.collect())
}

/// The text of a config file with one number set in it.
///
/// Errors: `Usage` if the text is no TOML.
pub fn edited(text: &str, section: &str, key: &str, value: i64) -> Result<String, Fault> {
    config::with_keys(text, section, &[(key, toml::Value::Integer(value))])
}

/// Reads a line of an export and writes what was understood as such a line.
///
/// Errors: what is wrong with the line.
pub fn line_again(line: &[u8]) -> Result<String, String> {
    let project = ProjectName::new("p").map_err(|error| error.to_string())?;
    let value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let again = match lines::parse(value, &project)? {
        Line::Record(read) => record(&read),
        Line::Session(session) => lines::of_session(&session),
        Line::Lapse(id, lapse) => lines::of_lapse(id, lapse),
        Line::Message(session, message) => {
            let session = Session {
                project,
                id: session,
                agent: None,
                task: None,
                started_at: Timestamp::UNIX_EPOCH,
                ended_at: None,
                attrs: Default::default(),
            };
            lines::of_message(&session, &message)
        }
    };
    Ok(again.to_string())
}

/// Reads a line of `remember --stdin`; the text that is to be remembered.
///
/// Errors: what is wrong with the line.
pub fn line_of_stdin(line: &str) -> Result<String, String> {
    remember::parse(line).map(|new| new.text)
}
