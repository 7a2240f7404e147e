//! Table of people's turns, and the rules that the extractor finds in each. Tests and the benchmark use it.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "the table is valid, and a rule is knowledge"
)]

use heirloom_agents::transcripts::{EventBody, TranscriptEvent};
use heirloom_lessons::{Candidate, LessonContent, LessonExtractor, SourceKind};
use serde::Deserialize;
use std::collections::BTreeMap;

const TURNS: &str = include_str!("../data/user_turns.toml");

/// Turns of one language.
#[derive(Deserialize)]
struct Language {
    rules: Vec<RuleTurn>,
    others: Vec<String>,
}

/// A turn that sets a rule.
#[derive(Deserialize)]
struct RuleTurn {
    text: String,
    category: String,
    expect: String,
    #[serde(default)]
    after: String,
}

/// A turn of the table with the rules found in it.
pub(crate) struct MeasuredTurn {
    /// Language of the turn.
    pub(crate) language: String,
    /// The turn.
    pub(crate) text: String,
    /// True if the turn sets a rule.
    pub(crate) sets_rule: bool,
    /// Number of rules that the table expects.
    pub(crate) right: usize,
    /// Other rules.
    pub(crate) wrong: Vec<String>,
}

/// Counts of turns and rules.
#[derive(Default)]
pub(crate) struct RuleCounts {
    turns: f64,
    found_turns: f64,
    right: f64,
    wrong: f64,
}

impl RuleCounts {
    /// Adds a turn.
    pub(crate) fn add(&mut self, turn: &MeasuredTurn) {
        self.turns += f64::from(u8::from(turn.sets_rule));
        self.found_turns += f64::from(u8::from(turn.right > 0));
        self.right += turn.right as f64;
        self.wrong += turn.wrong.len() as f64;
    }

    /// Returns the share of the found rules that the table expects.
    pub(crate) fn precision(&self) -> f64 {
        self.right / (self.right + self.wrong)
    }

    /// Returns the share of the turns with a rule whose rule was found.
    pub(crate) fn recall(&self) -> f64 {
        self.found_turns / self.turns
    }
}

/// Returns an event with a number as its id.
pub(crate) fn event(id: usize, body: EventBody) -> TranscriptEvent {
    TranscriptEvent {
        id: id.to_string(),
        at: None,
        agent: None,
        author: heirloom_agents::transcripts::TurnAuthor::Person,
        body,
    }
}

/// Returns a prompt.
pub(crate) fn prompt(text: &str) -> EventBody {
    EventBody::Prompt(text.to_owned())
}

/// Extracts the rules of people from a conversation.
pub(crate) fn rules_of(bodies: Vec<EventBody>) -> Vec<Candidate> {
    let mut extractor = LessonExtractor::default();
    for (id, body) in bodies.into_iter().enumerate() {
        extractor.push(&event(id, body));
    }
    let mut candidates = extractor.candidates();
    candidates.retain(|candidate| candidate.source == SourceKind::PersonRule);
    candidates
}

/// Extracts the rules of a turn that follows a text of the agent.
pub(crate) fn rules_after(before: &str, turn: &str) -> Vec<Candidate> {
    rules_of(vec![
        prompt("fix the import"),
        EventBody::AssistantText(before.to_owned()),
        prompt(turn),
    ])
}

/// Returns category, text and reason of a rule.
pub(crate) fn knowledge(candidate: &Candidate) -> (&str, &str, &str) {
    let LessonContent::Knowledge {
        category,
        text,
        rationale,
        ..
    } = &candidate.content
    else {
        panic!("{candidate:?}");
    };
    (category, text, rationale.as_deref().unwrap_or_default())
}

/// Extracts the rules of every turn of the table.
pub(crate) fn measure_turns() -> Vec<MeasuredTurn> {
    let table: BTreeMap<String, Language> = toml::from_str(TURNS).expect("a valid table");
    let mut measured = Vec::new();
    for (name, language) in &table {
        for turn in &language.rules {
            let found = rules_after(&turn.after, &turn.text);
            let (right, wrong): (Vec<_>, Vec<_>) =
                found.iter().partition(|one| is_expected(turn, one));
            measured.push(MeasuredTurn {
                language: name.clone(),
                text: turn.text.clone(),
                sets_rule: true,
                right: right.len(),
                wrong: wrong.into_iter().map(description).collect(),
            });
        }
        for turn in &language.others {
            measured.push(MeasuredTurn {
                language: name.clone(),
                text: turn.clone(),
                sets_rule: false,
                right: 0,
                wrong: rules_after("Done.", turn).iter().map(description).collect(),
            });
        }
    }
    measured
}

fn is_expected(turn: &RuleTurn, candidate: &Candidate) -> bool {
    let (category, text, _) = knowledge(candidate);
    turn.category.split('|').any(|one| one == category)
        && text.to_lowercase().contains(&turn.expect.to_lowercase())
}

fn description(candidate: &Candidate) -> String {
    format!("{:?}", knowledge(candidate))
}
