//! User rules: additional patterns of secrets, and the allow list of values that are not secrets (false positives).

use super::InvalidRule;
use heirloom_model::limits;
use heirloom_model::settings::RedactSettings;
use regex::{Regex, RegexBuilder};

/// The user rules of one configuration.
#[derive(Debug, Default)]
pub(super) struct UserRules {
    rules: Vec<(String, Regex)>,
    allow: Vec<Regex>,
}

impl UserRules {
    pub(super) fn new(settings: &RedactSettings) -> Result<Self, InvalidRule> {
        let many = settings.rules.len().max(settings.allow.len());
        if many > limits::REDACT_RULES_MAX {
            let problem = format!(
                "{many} of them; at most {} are allowed",
                limits::REDACT_RULES_MAX
            );
            return Err(InvalidRule {
                rule: "redact".to_owned(),
                problem,
            });
        }
        let rules = settings.rules.iter().map(|(kind, expression)| {
            check_kind(kind).map_err(|problem| InvalidRule {
                rule: format!("{kind}: {expression}")
                    .trim_start_matches(": ")
                    .to_owned(),
                problem,
            })?;
            Ok((kind.clone(), compile(expression)?))
        });
        let allow = settings.allow.iter().map(|expression| {
            // Compile the bare expression first: an unbalanced `)` would be valid inside of the group.
            compile(expression)?;
            compile(&format!("^(?:{expression})$"))
        });
        Ok(Self {
            rules: rules.collect::<Result<_, _>>()?,
            allow: allow.collect::<Result<_, _>>()?,
        })
    }

    /// Returns true if there are no rules and no allowed values.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.allow.is_empty()
    }

    /// Calls `each` with the kind, start and end of every match.
    pub(super) fn find<'r>(&'r self, text: &str, mut each: impl FnMut(&'r str, usize, usize)) {
        for (kind, regex) in &self.rules {
            for found in regex.captures_iter(text) {
                let part = found.get(1).or_else(|| found.get(0));
                if let Some(part) = part.filter(|part| !part.is_empty()) {
                    each(kind, part.start(), part.end());
                }
            }
        }
    }

    /// Returns true if the allow list contains this value.
    pub(super) fn allows(&self, value: &str) -> bool {
        self.allow.iter().any(|regex| regex.is_match(value))
    }
}

fn check_kind(kind: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let most = limits::REDACT_KIND_BYTES_MAX;
    if kind.is_empty() || kind.len() > most || !kind.chars().all(fits) {
        return Err(format!(
            "the kind must be 1 to {most} small letters, digits and hyphens: \"order-number: ORD-[0-9]+\""
        ));
    }
    Ok(())
}

fn compile(expression: &str) -> Result<Regex, InvalidRule> {
    let bad = |problem: String| InvalidRule {
        rule: expression.to_owned(),
        problem,
    };
    if expression.len() > limits::REDACT_RULE_BYTES_MAX {
        let most = limits::REDACT_RULE_BYTES_MAX;
        return Err(bad(format!(
            "{} bytes; at most {most} are allowed",
            expression.len()
        )));
    }
    RegexBuilder::new(expression)
        .size_limit(limits::REDACT_REGEX_BYTES_MAX)
        .dfa_size_limit(limits::REDACT_REGEX_BYTES_MAX)
        .build()
        .map_err(|error| bad(last_line(&error.to_string())))
}

/// Returns the last line of a message, which has the reason; the lines before it show the position.
fn last_line(message: &str) -> String {
    let line = message.lines().rev().find(|line| !line.trim().is_empty());
    line.unwrap_or(message).trim().to_owned()
}
