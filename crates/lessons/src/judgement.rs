//! Judgement of a session's candidates by a language model: a verdict on each, and further sentences of the person.
//!
//! The model answers with numbers only. Texts of records come from the conversation.

mod judge_answer;
mod judge_request;

pub use judge_request::{JUDGE_PROMPT, JudgeRequest, PersonTurn};

use crate::sources::rule_category;
use crate::{Candidate, Evidence, LessonContent, ModelVerdict, SourceKind, Speaker};
use heirloom_model::{Timestamp, text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Worth of sentences of the person that the model picked.
const PICKED_WORTH: f32 = 0.8;
/// Longest evidence line of a picked text, characters.
const LINE_CHARS_MAX: usize = 200;

/// Judgement of a session's candidates, stored with the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// Model that judged.
    #[serde(rename = "model")]
    pub model: String,
    /// Hash of the request.
    #[serde(rename = "request")]
    pub request: String,
    /// Verdicts by the identity of the candidate.
    #[serde(rename = "verdicts")]
    pub verdicts: BTreeMap<String, ModelVerdict>,
    /// Further texts of the person.
    #[serde(rename = "spans")]
    pub spans: Vec<PickedSpan>,
}

/// Sentences of one turn of the person, verbatim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PickedSpan {
    /// Id of the event.
    #[serde(rename = "event")]
    pub event: String,
    /// Time of the turn.
    #[serde(rename = "at")]
    pub at: Option<Timestamp>,
    /// The sentences.
    #[serde(rename = "text")]
    pub text: String,
}

impl PickedSpan {
    /// Returns the candidate with these words.
    pub(crate) fn candidate(&self) -> Candidate {
        Candidate {
            source: SourceKind::PersonRule,
            speaker: Speaker::Person,
            content: LessonContent::Knowledge {
                category: rule_category(&self.text).to_owned(),
                key: None,
                text: self.text.clone(),
                rationale: None,
            },
            worth: PICKED_WORTH,
            evidence: vec![Evidence {
                event: self.event.clone(),
                position: 0,
                line: text::excerpt(&self.text, LINE_CHARS_MAX),
            }],
            at: self.at,
            agent: None,
        }
    }
}

impl Candidate {
    /// Returns the identity of a candidate in a judgement. It changes with the content, because a verdict is about that.
    pub fn identity(&self) -> String {
        let event = self.evidence.first().map(|place| place.event.as_str());
        let content = serde_json::to_string(&self.content).unwrap_or_default();
        let speaker = serde_json::to_string(&self.speaker).unwrap_or_default();
        text::hash_parts(&[event.unwrap_or_default(), &speaker, &content])
    }
}
