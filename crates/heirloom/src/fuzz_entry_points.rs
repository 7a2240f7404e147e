//! Parsers of untrusted input, each as one call without files: entry points for the fuzz targets.
//!
//! No stable interface for other programs.

pub use heirloom_server::mcp::{ResourceAddress, folder_from_uri};

use crate::commands::remember;
use crate::config::{self, Config, Environment, KEYS, Layer, Origin};
use crate::export_format::{self, ExportLine};
use crate::json_output::record;
use heirloom_model::{Fault, ProjectName, Session, Timestamp};

/// Value of one key after merging all layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// `section.key`.
    pub key: &'static str,
    /// Its value, as TOML.
    pub value: String,
    /// Layer of the value's origin.
    pub layer: &'static str,
    /// True if the value has the key's type and is within its bounds.
    pub is_valid: bool,
    /// True if a project's file must not set it.
    pub trusted_only: bool,
}

/// Merges the texts of two config files and flags over the defaults.
///
/// Errors: `Usage` for a text that is not TOML or a flag that fits no key.
pub fn settings(user: &str, project: &str, flags: &[String]) -> Result<Vec<Setting>, Fault> {
    let text = |layer, text: &str| {
        let place = "a file".to_owned();
        (Origin { layer, place }, text.to_owned())
    };
    let texts = [text(Layer::User, user), text(Layer::Project, project)];
    let config = Config::from_texts(&texts, &Environment::default(), flags)?;
    // Checks that the conversion accepts every merged value.
    drop(config.settings());
    let rows = KEYS.iter().filter_map(|key| {
        let (value, origin) = config.get(key)?;
        Some(Setting {
            key: key.name,
            value: value.to_string(),
            layer: origin.layer.as_str(),
            is_valid: key.check(value).is_ok(),
            trusted_only: key.trusted_only.is_some(),
        })
    });
    Ok(rows.collect())
}

/// Returns the text of a config file with one number set in it.
///
/// Errors: `Usage` if the text is not TOML.
pub fn set_number(text: &str, section: &str, key: &str, value: i64) -> Result<String, Fault> {
    config::with_keys(text, section, &[(key, toml::Value::Integer(value))])
}

/// Parses a line of an export and formats the result as such a line.
///
/// Errors: the problem of the line.
pub fn round_trip_line(line: &[u8]) -> Result<String, String> {
    let project = ProjectName::new("p").map_err(|error| error.to_string())?;
    let value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let written = match export_format::parse(value, &project)? {
        ExportLine::Record(read) => record(&read),
        ExportLine::Session(session) => export_format::session_line(&session),
        ExportLine::Lapse(id, lapse) => export_format::lapse_line(id, lapse),
        ExportLine::Message(session, message) => {
            let session = Session {
                project,
                id: session,
                agent: None,
                task: None,
                started_at: Timestamp::UNIX_EPOCH,
                ended_at: None,
                attrs: Default::default(),
            };
            export_format::message_line(&session, &message)
        }
    };
    Ok(written.to_string())
}

/// Parses a line of `remember --stdin`; returns the text to remember.
///
/// Errors: the problem of the line.
pub fn parse_stdin_line(line: &str) -> Result<String, String> {
    remember::parse(line).map(|new| new.text)
}
