//! Words with which turns of people are read, compiled by `build.rs` from `data/person_rules.toml`.

mod word_match;

use word_match::is_clause_mark;
pub(crate) use word_match::{contains_phrase, ends_with_word, normalize, starts_with_word};

/// Contents of `data/person_rules.toml`.
#[derive(Debug)]
pub(crate) struct PersonRuleCues {
    /// Probability from which on a sentence is a rule.
    pub(crate) threshold: f32,
    /// Worth of a rule at the threshold, and its growth up to certainty.
    pub(crate) worth: [f32; 2],
    /// Worth of a check that only suggests a preference.
    pub(crate) weak_worth: f32,
    /// Words that the reader of turns needs.
    pub(crate) turns: TurnWords,
}

/// Words that the reader of turns needs, in lower case except those of rejections.
#[derive(Debug)]
pub(crate) struct TurnWords {
    /// Interjections before a sentence if a mark follows.
    lead_ins: &'static [&'static str],
    /// Interjections without a mark after them.
    soft_lead_ins: &'static [&'static str],
    /// Words of a question that is a polite instruction.
    pub(crate) polite: &'static [&'static str],
    /// Words of questions without a question mark: anywhere if there are several, otherwise at the end.
    pub(crate) question_tags: &'static [&'static str],
    /// First words of a sentence whose subject the sentence before it names.
    pub(crate) pronouns: &'static [&'static str],
    /// Last words of a sentence that refer to the sentence before it.
    pub(crate) pronoun_ends: &'static [&'static str],
    /// First words of a reason.
    pub(crate) reasons: &'static [&'static str],
    /// First words of a question about work that should be done.
    pub(crate) check_starts: &'static [&'static str],
    /// Words of which one follows those.
    pub(crate) check_verbs: &'static [&'static str],
    /// Complete questions about work that should be done.
    pub(crate) check_phrases: &'static [&'static str],
    /// First words of a request.
    pub(crate) request_starts: &'static [&'static str],
    /// Last words of an impatient request.
    pub(crate) request_ends: &'static [&'static str],
    /// Words that withdraw the last turn.
    pub(crate) withdrawals: &'static [&'static str],
    /// Beginnings of lines that a program wrote.
    pub(crate) machine_starts: &'static [&'static str],
    /// Beginnings of the results of rejected calls.
    pub(crate) rejections: &'static [&'static str],
    /// Words before the person's reason in those.
    pub(crate) rejection_reasons: &'static [&'static str],
    /// Beginnings of reasons that the program wrote.
    pub(crate) rejection_templates: &'static [&'static str],
    /// Words after it.
    pub(crate) rejection_ends: &'static [&'static str],
    /// Sentences, or their beginnings, that contradict the agent.
    pub(crate) contradictions: &'static [&'static str],
    /// First words of a sentence that limits the one before it.
    pub(crate) limits: &'static [&'static str],
    /// Words that end a rule with the task.
    pub(crate) ends: &'static [&'static str],
    /// Words before a verb in `ing` that end a habit.
    pub(crate) stops: &'static [&'static str],
    /// Phrases that end a habit.
    pub(crate) habit_ends: &'static [&'static str],
    /// Words for "now".
    pub(crate) nows: &'static [&'static str],
    /// Words that introduce a list of rules.
    pub(crate) introductions: &'static [&'static str],
    /// Words of a statement about what is used now.
    pub(crate) descriptions: &'static [&'static str],
    /// Verbs of a request to leave something.
    pub(crate) departures: &'static [&'static str],
    /// Words before what comes instead.
    pub(crate) arrivals: &'static [&'static str],
    /// Words for all of the project, or for what was just named.
    pub(crate) wholes: &'static [&'static str],
    /// Names of a project, which do not name what is left.
    pub(crate) places: &'static [&'static str],
    /// Verbs at the beginning of a part whose subject is before it.
    pub(crate) verbs: &'static [&'static str],
    /// Beginnings of a description of what the agent sees anyway.
    pub(crate) surroundings: &'static [&'static str],
    /// Things that such a description is about.
    pub(crate) surrounding_things: &'static [&'static str],
    /// Beginnings of the results that hold a person's answers to questions.
    pub(crate) answers: &'static [&'static str],
}

/// Category of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleCategory {
    Convention,
    Preference,
    Decision,
    Correction,
}

impl RuleCategory {
    /// Returns the category of the record.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Convention => "convention",
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::Correction => "correction",
        }
    }
}

impl PersonRuleCues {
    /// Built-in words.
    pub(super) const BUILT_IN: Self = include!(concat!(env!("OUT_DIR"), "/person_rules.rs"));

    /// Returns the length of the interjections at the beginning of a normalized sentence.
    pub(crate) fn lead_in_length(&self, sentence: &str) -> usize {
        let mut rest = sentence;
        loop {
            rest = rest.trim_start_matches(|c: char| c == ' ' || c == '-' || is_clause_mark(c));
            let marked = self.turns.lead_ins.iter().filter(|word| {
                let after = || rest.get(word.len()..).unwrap_or_default();
                starts_with_word(rest, word)
                    && match after().trim_start().chars().next() {
                        Some(c) => is_clause_mark(c) || matches!(c, '-' | '–' | '—'),
                        None => true,
                    }
            });
            let soft = &self.turns.soft_lead_ins;
            let soft = soft.iter().filter(|word| starts_with_word(rest, word));
            let Some(length) = marked.chain(soft).map(|word| word.len()).max() else {
                return sentence.len() - rest.len();
            };
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lead_ins_are_measured() {
        let cues = PersonRuleCues::BUILT_IN;
        for (text, length) in [
            ("no, use it", 4),
            ("no mocks", 0),
            ("ok but use it", 7),
            ("nope", 4),
            ("不对，用", "不对，".len()),
        ] {
            assert_eq!(cues.lead_in_length(text), length, "{text}");
        }
    }
}
