//! Scripts of a package file that was read.

use heirloom_model::text;
use serde::{Deserialize, Serialize};

/// Greatest number of scripts that are kept.
const SCRIPTS_MAX: usize = 7;
/// Greatest number of characters of a script's command.
const COMMAND_CHARS_MAX: usize = 60;
/// Greatest number of characters of a name.
const NAME_CHARS_MAX: usize = 60;
/// Words in the names of scripts that matter to other sessions.
const NAMES: [&str; 12] = [
    "test", "lint", "build", "check", "type", "tsc", "format", "fmt", "migrate", "generate",
    "codegen", "e2e",
];

/// Scripts of a package.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PackageScripts {
    /// Name of the package.
    pub(super) name: String,
    /// Names of the scripts with their commands.
    scripts: Vec<(String, String)>,
}

impl PackageScripts {
    /// Returns the record's text.
    pub(super) fn text(&self) -> String {
        let scripts: Vec<String> = self
            .scripts
            .iter()
            .map(|(name, command)| format!("{name} = `{command}`"))
            .collect();
        format!(
            "Scripts in the package.json of `{}`: {}.",
            self.name,
            scripts.join(", ")
        )
    }
}

/// Returns the scripts of a package file, as far as the text shows it.
pub(super) fn read_package_scripts(content: &str) -> Option<PackageScripts> {
    let mut name = None;
    let mut scripts: Vec<(String, String)> = Vec::new();
    let mut is_inside = false;
    for line in content.lines().take(400).map(without_line_number) {
        let line = line.trim();
        if is_inside && line.starts_with('}') {
            break;
        }
        let Some((key, value)) = member(line) else {
            is_inside |= line.starts_with("\"scripts\"") && line.ends_with('{');
            continue;
        };
        if is_inside {
            let is_wanted = NAMES.iter().any(|word| key.contains(word)) && !value.contains('`');
            if is_wanted && text::chars(value) <= COMMAND_CHARS_MAX && scripts.len() < SCRIPTS_MAX {
                scripts.push((
                    text::excerpt(key, NAME_CHARS_MAX),
                    value.replace("\\\"", "\""),
                ));
            }
        } else if key == "name" && name.is_none() {
            name = Some(text::excerpt(value, NAME_CHARS_MAX));
        }
    }
    let has_several = scripts.len() >= 2;
    has_several.then_some(PackageScripts {
        name: name?,
        scripts,
    })
}

/// Returns a line without the number that a tool put before it.
fn without_line_number(line: &str) -> &str {
    let trimmed = line.trim_start();
    let rest = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['→', '\t', '|']) {
        Some(rest) if rest.len() < trimmed.len() => rest,
        _ => line,
    }
}

/// Returns key and value of a member whose value is a text.
fn member(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.strip_prefix('"')?.split_once('"')?;
    let value = rest.trim_start().strip_prefix(':')?.trim();
    let value = value
        .trim_end_matches(',')
        .strip_prefix('"')?
        .strip_suffix('"')?;
    Some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_package_scripts_reads_plain_and_numbered_lines() {
        let plain = "{\n  \"name\": \"@x/api\",\n  \"scripts\": {\n    \"build\": \"tsup\",\n    \"lint\": \"eslint .\",\n    \"postinstall\": \"x\"\n  },\n  \"dependencies\": {\n    \"test\": \"1\"\n  }\n}";
        let numbered: Vec<String> = plain
            .lines()
            .enumerate()
            .map(|(at, line)| format!("{:6}→{line}", at + 1))
            .collect();
        for content in [plain, &numbered.join("\n")] {
            assert_eq!(
                read_package_scripts(content).unwrap().text(),
                "Scripts in the package.json of `@x/api`: build = `tsup`, lint = `eslint .`."
            );
        }
        for other in [
            "",
            "{}",
            "{\n\"name\": \"x\"\n}",
            "\"scripts\": {\n\"test\": \"a\",\n\"lint\": \"b\"\n}",
        ] {
            assert_eq!(read_package_scripts(other), None, "{other}");
        }
    }
}
