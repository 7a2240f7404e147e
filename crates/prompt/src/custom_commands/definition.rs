//! TOML definition of a command.

use super::template::Template;
use heirloom_model::limits::{
    COMMAND_ARGS_MAX, COMMAND_DESCRIPTION_BYTES_MAX, COMMAND_TIMEOUT_S_DEFAULT,
    COMMAND_TIMEOUT_S_MAX,
};
use heirloom_model::text;
use sha2::{Digest, Sha256};
use toml::{Table, Value};

/// Maximum length of the name of an argument in characters.
const ARGUMENT_NAME_CHARS: usize = 60;

/// Check that a template matches its key.
type KeyRequirement = fn(&Template) -> bool;

/// Command definition of a TOML file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandDefinition {
    /// Name in the definition.
    pub name: Option<String>,
    /// Description, one line.
    pub description: String,
    /// Names of the first arguments, in order.
    pub argument_names: Vec<String>,
    /// Template of the command.
    pub template: Template,
    /// Time limit for all its programs together, in seconds.
    pub timeout_s: u64,
}

impl CommandDefinition {
    /// Parses the file of a command; returns the definition and the problems. A command with a problem must not be
    /// run.
    ///
    /// The keys `name, description, args, template, timeout_s, shell, file` are in a table `[command]`, or at the top
    /// level. Other keys are ignored. `shell` and `file` are appended to the template, each on a separate line.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut definition = Self {
            name: None,
            description: String::new(),
            argument_names: Vec::new(),
            template: Template::default(),
            timeout_s: COMMAND_TIMEOUT_S_DEFAULT,
        };
        let mut problems = Vec::new();
        match command_table(text) {
            Ok(table) => definition.fill(&table, &mut problems),
            Err(problem) => problems.push(problem),
        }
        (definition, problems)
    }

    fn fill(&mut self, table: &Table, problems: &mut Vec<String>) {
        self.name = text_value(table, "name", problems).map(str::to_owned);
        if let Some(text) = text_value(table, "description", problems) {
            let (length, most) = (text.len(), COMMAND_DESCRIPTION_BYTES_MAX);
            if length > most {
                problems.push(format!(
                    "`description` has {length} bytes; at most {most} are allowed"
                ));
            } else {
                self.description = text::one_line(text);
            }
        }
        if let Some(value) = table.get("args") {
            match argument_names(value) {
                Some(names) => self.argument_names = names,
                None => problems.push("`args`: expected a list of texts".to_owned()),
            }
        }
        if let Some(value) = table.get("timeout_s") {
            match value.as_integer().and_then(|n| u64::try_from(n).ok()) {
                Some(seconds) if (1..=COMMAND_TIMEOUT_S_MAX).contains(&seconds) => {
                    self.timeout_s = seconds;
                }
                Some(_) | None => problems.push(format!(
                    "`timeout_s`: expected a whole number within 1..{COMMAND_TIMEOUT_S_MAX}"
                )),
            }
        }
        let keys: [(&str, KeyRequirement); 3] = [
            ("template", |_| true),
            ("shell", Template::runs_programs),
            ("file", Template::inserts_files),
        ];
        let mut has_template = false;
        for (key, fits) in keys {
            let Some(text) = text_value(table, key, problems) else {
                has_template |= table.contains_key(key);
                continue;
            };
            has_template = true;
            let (template, wrong) = Template::parse(text);
            problems.extend(wrong.iter().map(|problem| format!("`{key}`, {problem}")));
            if wrong.is_empty() && !fits(&template) {
                let opener = if key == "shell" { '!' } else { '@' };
                problems.push(format!("`{key}`: there is no `{opener}{{…}}` in it"));
            }
            self.template = std::mem::take(&mut self.template).append(template);
        }
        if !has_template {
            problems.push("there is no `template`, no `shell` and no `file`".to_owned());
        }
    }
}

/// Returns the SHA-256 of several texts with a separator after each, in hexadecimal.
pub fn fingerprint(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
        hasher.update([0]);
    }
    let sum = hasher.finalize();
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the table with the keys of a command.
fn command_table(text: &str) -> Result<Table, String> {
    let text = text.trim_start_matches('\u{feff}');
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.as_bytes().iter().take(start);
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line}: {}", error.message().trim())
    })?;
    match table.remove("command") {
        None => Ok(table),
        Some(Value::Table(command)) => Ok(command),
        Some(other) => Err(format!(
            "`command`: expected a table, found {}",
            other.type_str()
        )),
    }
}

/// Returns the names of arguments, each on one line.
fn argument_names(value: &Value) -> Option<Vec<String>> {
    let names = value.as_array()?.iter().take(COMMAND_ARGS_MAX);
    let one = |name: &Value| Some(text::excerpt(name.as_str()?, ARGUMENT_NAME_CHARS));
    names.map(one).collect()
}

/// Returns the text at a key.
fn text_value<'t>(table: &'t Table, key: &str, problems: &mut Vec<String>) -> Option<&'t str> {
    let value = table.get(key)?;
    let text = value.as_str();
    if text.is_none() {
        let found = value.type_str();
        problems.push(format!("`{key}`: expected a text, found {found}"));
    }
    text
}
