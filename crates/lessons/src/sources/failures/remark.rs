//! Remarks: sentences of the agent about a failure, and their agreement with the change that resolved it.

use super::change::Change;
use crate::bounded_text::bounded;
use crate::code_tokens::{TokenKind, code_tokens, contains_token, content_words, stem};
use crate::cues::FailureCues;
use crate::event_place::EventPlace;
use crate::sentences::{is_question, plain_text, sentences};
use crate::statements::{finish_statement, without_lead_in};
use serde::{Deserialize, Serialize};

/// Characters of a text that are read.
const TEXT_BYTES_MAX: usize = 6_000;
/// Bytes of a remark.
const REMARK_BYTES_MAX: usize = 260;
/// Words of a remark at least.
const WORDS_MIN: usize = 4;
/// Sentences that are looked at.
const SENTENCES_MAX: usize = 40;

/// A sentence of the agent about a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Remark {
    /// Place of the text.
    pub(super) place: EventPlace,
    /// The sentence, without its lead-in.
    pub(super) text: String,
}

/// Statements of an agent's text about a failure.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    /// Sentences that state something.
    pub(super) statements: Vec<String>,
    /// True if the agent expected the failure.
    pub(super) is_expected: bool,
    /// True if the agent withdraws what it supposed.
    pub(super) withdraws: bool,
}

/// Reads the statements of a text.
pub(super) fn read_remarks(text: &str, cues: &FailureCues) -> Remarks {
    let cues = &cues.remarks;
    let head = text
        .get(..text.floor_char_boundary(TEXT_BYTES_MAX))
        .unwrap_or_default();
    let plain = plain_text(head);
    let mut found = Remarks::default();
    for sentence in sentences(&plain).take(SENTENCES_MAX) {
        let lower = sentence.to_lowercase();
        found.is_expected |= lower.starts_with("expected") || cues.expected.is_in(&lower);
        found.withdraws |= cues.withdrawals.is_in(&lower);
        let statement = without_lead_in(sentence, &cues.lead_ins);
        let lower = statement.to_lowercase();
        let is_statement = statement.split_whitespace().count() >= WORDS_MIN
            && !is_question(statement)
            && !statement.ends_with(':')
            && !cues.narration.begins(&lower)
            && !cues.pronouns.begins(&lower)
            && !cues.hedges.is_in(&lower)
            && cues.causes.is_in(&lower);
        if is_statement && statement.len() <= REMARK_BYTES_MAX {
            found
                .statements
                .push(bounded(&finish_statement(statement), REMARK_BYTES_MAX));
        }
    }
    found
}

/// Facts about a failure and its resolution, for the comparison with a remark.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Changed lines, paths and commands, in lower case.
    changed: String,
    /// Added lines and commands only.
    added: String,
    /// Removed lines only.
    removed: String,
    /// Error and failed command, in lower case.
    failed: String,
}

impl Facts {
    /// Collects the facts.
    pub(super) fn new(changes: &[&Change], failed: &str) -> Self {
        let mut facts = Self {
            failed: failed.to_lowercase(),
            ..Self::default()
        };
        for change in changes {
            facts.changed.push_str(&change.lower_text());
            facts.changed.push('\n');
            facts.added.push_str(&change.command.to_lowercase());
            for (lines, text) in [
                (&change.added, &mut facts.added),
                (&change.removed, &mut facts.removed),
            ] {
                for line in lines {
                    text.push('\n');
                    text.push_str(&line.to_lowercase());
                }
            }
        }
        facts
    }

    /// Facts of a command that another one replaced.
    pub(super) fn of_command(commands: &str) -> Self {
        Self {
            changed: commands.to_lowercase(),
            ..Self::default()
        }
    }

    /// Returns true if a remark agrees with the change: each code token occurs in it or in the error, it shares a word
    /// of content with it, and it does not call something missing that was removed, or the reverse.
    pub(super) fn agree_with(&self, remark: &str, cues: &FailureCues) -> bool {
        let mut has_token = false;
        for token in code_tokens(remark) {
            let lower = token.text.to_lowercase();
            let is_changed = contains_token(&self.changed, &lower);
            has_token |= is_changed;
            let is_known = is_changed || contains_token(&self.failed, &lower);
            if !is_known && token.kind != TokenKind::Name {
                return false;
            }
        }
        let words = content_words(remark);
        let shares = |text: &str| words.iter().any(|word| text.contains(stem(word)));
        (has_token || shares(&self.changed)) && !self.contradict(remark, cues)
    }

    /// Returns true if the change went in the other direction than the remark.
    fn contradict(&self, remark: &str, cues: &FailureCues) -> bool {
        let lower = remark.to_lowercase();
        let says_missing = cues.remarks.missing.is_in(&lower);
        let says_surplus = cues.remarks.surplus.is_in(&lower);
        if says_missing == says_surplus {
            return false;
        }
        let tokens = code_tokens(remark);
        let only_in = |one: &str, other: &str| {
            tokens.iter().any(|token| {
                let token = token.text.to_lowercase();
                contains_token(one, &token) && !contains_token(other, &token)
            })
        };
        match says_missing {
            true => only_in(&self.removed, &self.added) && !only_in(&self.added, &self.removed),
            false => only_in(&self.added, &self.removed) && !only_in(&self.removed, &self.added),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;
    use heirloom_agents::transcripts::FileEdit;

    fn statements(text: &str) -> Vec<String> {
        read_remarks(text, &Cues::get().failures).statements
    }

    #[test]
    fn read_remarks_keeps_statements() {
        for (text, expected) in [
            (
                "The issue is clear — the worker process can't see the test transaction. Let me fix the setup.",
                vec!["The worker process can't see the test transaction."],
            ),
            (
                "The test config is missing `secret_key` and the endpoint. I need to add it.",
                vec!["The test config is missing `secret_key` and the endpoint."],
            ),
            ("This might be because the cache is stale.", vec![]),
            (
                "It is missing. That's because x isn't set here.",
                vec!["X isn't set here."],
            ),
            ("Is the port missing because of this?", vec![]),
            ("All 5 tests pass.", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(statements(text), expected, "{text}");
        }
        assert!(
            read_remarks(
                "Expected — the module doesn't exist yet.",
                &Cues::get().failures
            )
            .is_expected
        );
        assert!(read_remarks("That's not the issue.", &Cues::get().failures).withdraws);
    }

    #[test]
    fn facts_agree_with_remarks_about_the_change() {
        let edit = FileEdit {
            path: "config/test.exs".to_owned(),
            removed: "pool_size: 1".to_owned(),
            added: "config :app, App.Endpoint, secret_key_base: \"x\"".to_owned(),
        };
        let change = Change::of_edit(EventPlace::default(), &edit, &[], &Cues::get().failures);
        let facts = Facts::new(
            &[&change],
            "`mix test` failed: no :secret_key_base configuration found in App.Endpoint",
        );
        for (remark, agrees) in [
            (
                "The endpoint isn't configured for the test environment.",
                true,
            ),
            ("The test config is missing `secret_key_base`.", true),
            ("The `database_url` is missing.", false),
            ("Redis is not running on port 6379.", false),
            ("The cache needs a restart.", false),
            ("`pool_size` is missing in the configuration.", false),
            ("`secret_key_base` should be removed from config.", false),
            ("`App.Endpoint.url/0` needs a `secret_key_base`.", false),
        ] {
            assert_eq!(
                facts.agree_with(remark, &Cues::get().failures),
                agrees,
                "{remark}"
            );
        }
    }
}
