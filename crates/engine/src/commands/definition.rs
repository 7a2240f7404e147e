//! The TOML of a command.

use super::template::{Part, Template};
use heirloom_model::limits::{
    COMMAND_DESCRIPTION_BYTES_MAX, COMMAND_TIMEOUT_S_DEFAULT, COMMAND_TIMEOUT_S_MAX,
};
use heirloom_model::text;
use sha2::{Digest, Sha256};
use toml::{Table, Value};

/// Whether a part is what a key is for.
type Fits = fn(&Part) -> bool;

/// A command as its file defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The name that it gives itself.
    pub name: Option<String>,
    /// What it is for, on one line.
    pub description: String,
    /// What it says.
    pub template: Template,
    /// Seconds that all its programs may take together.
    pub timeout_s: u64,
}

impl Definition {
    /// Reads the text of a command's file, and says what is wrong with it; with a problem it must not be run.
    ///
    /// The keys `name, description, template, timeout_s, shell, file` stand in a table `[command]`, or at the top. Other
    /// keys are left alone. `shell` and `file` come behind the template, each on a line of its own.
    pub fn read(text: &str) -> (Self, Vec<String>) {
        let mut found = Self {
            name: None,
            description: String::new(),
            template: Template::default(),
            timeout_s: COMMAND_TIMEOUT_S_DEFAULT,
        };
        let mut problems = Vec::new();
        match table(text) {
            Ok(table) => found.fill(&table, &mut problems),
            Err(problem) => problems.push(problem),
        }
        (found, problems)
    }

    fn fill(&mut self, table: &Table, problems: &mut Vec<String>) {
        self.name = word(table, "name", problems).map(str::to_owned);
        if let Some(said) = word(table, "description", problems) {
            let (length, most) = (said.len(), COMMAND_DESCRIPTION_BYTES_MAX);
            if length > most {
                problems.push(format!(
                    "`description` has {length} bytes; at most {most} are taken"
                ));
            } else {
                self.description = text::one_line(said);
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
        let keys: [(&str, Fits); 3] = [
            ("template", |_| true),
            ("shell", |part| matches!(part, Part::Shell(..))),
            ("file", |part| matches!(part, Part::File(..))),
        ];
        let mut is_there = false;
        for (key, fits) in keys {
            let Some(said) = word(table, key, problems) else {
                is_there |= table.contains_key(key);
                continue;
            };
            is_there = true;
            let (template, wrong) = Template::parse(said);
            problems.extend(wrong.iter().map(|problem| format!("`{key}`, {problem}")));
            if key != "template" && wrong.is_empty() && !template.is_only(fits) {
                let opener = if key == "shell" { '!' } else { '@' };
                problems.push(format!(
                    "`{key}`: expected `{opener}{{…}}` and nothing else"
                ));
            }
            self.template = std::mem::take(&mut self.template).followed_by(template);
        }
        if !is_there {
            problems.push("there is no `template`, no `shell` and no `file`".to_owned());
        }
    }
}

/// The SHA-256 of several texts, each with its end: hexadecimal.
pub fn fingerprint(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
        hasher.update([0]);
    }
    let sum = hasher.finalize();
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The table with a command's keys.
fn table(text: &str) -> Result<Table, String> {
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

/// The text at a key.
fn word<'t>(table: &'t Table, key: &str, problems: &mut Vec<String>) -> Option<&'t str> {
    let value = table.get(key)?;
    let said = value.as_str();
    if said.is_none() {
        let found = value.type_str();
        problems.push(format!("`{key}`: expected a text, found {found}"));
    }
    said
}
