//! Sentences of the turns of a session with their features, as the rules of the session are found: for the fit of the
//! model.

use super::PersonRules;
use super::rule_finder::{FoundRule, TurnSentence, find_rules, turn_sentences};
use crate::cues::{Cues, PersonRuleCues};
use crate::rule_model::SentencePlace;
use heirloom_agents::transcripts::TranscriptEvent;
use heirloom_model::Timestamp;

/// A turn in which rules were looked for.
#[derive(Debug, Clone)]
pub(super) struct ReadTurn {
    at: Option<Timestamp>,
    text: String,
    place: SentencePlace,
}

impl PersonRules {
    /// Finds the rules of a turn.
    pub(super) fn find(
        &mut self,
        turn: &str,
        place: SentencePlace,
        at: Option<Timestamp>,
        cues: &PersonRuleCues,
    ) -> Vec<FoundRule> {
        if let Some(read) = &mut self.read {
            read.push(ReadTurn {
                at,
                text: turn.to_owned(),
                place,
            });
        }
        find_rules(turn, place, cues)
    }
}

/// Sentence that a person said in a session.
#[derive(Debug, Clone)]
pub struct SpokenSentence {
    /// Time of its turn.
    pub at: Option<Timestamp>,
    /// Number of its turn in the session.
    pub turn: usize,
    /// The sentence with its features.
    pub sentence: TurnSentence,
}

/// Reader of the sentences of a session.
#[derive(Debug)]
pub struct SessionSentences {
    rules: PersonRules,
    position: u64,
}

impl Default for SessionSentences {
    fn default() -> Self {
        Self {
            rules: PersonRules {
                read: Some(Vec::new()),
                ..PersonRules::default()
            },
            position: 0,
        }
    }
}

impl SessionSentences {
    /// Reads an event.
    pub fn push(&mut self, event: &TranscriptEvent) {
        self.rules.push(self.position, event, Cues::get());
        self.position += 1;
    }

    /// Returns the sentences of all turns.
    #[must_use]
    pub fn sentences(&self) -> Vec<SpokenSentence> {
        let turns = self.rules.read.iter().flatten().enumerate();
        turns
            .flat_map(|(turn, read)| {
                let sentences = turn_sentences(&read.text, read.place).into_iter();
                sentences.map(move |sentence| SpokenSentence {
                    at: read.at,
                    turn,
                    sentence,
                })
            })
            .collect()
    }
}
