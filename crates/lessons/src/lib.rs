//! Lessons: knowledge that a session contains and the next one needs, extracted without a model.
//!
//! [`LessonExtractor`] reads the events of a conversation one at a time and keeps a bounded state, which can be stored
//! between two turns. [`LessonExtractor::lessons`] returns the candidates of all sources, each with its evidence, its
//! worth, and a verdict: kept or dropped, with the reason. The crate does no I/O; its input is redacted already.

mod bounded_text;
mod candidate;
mod code_tokens;
mod command_run;
mod cues;
mod event_place;
mod extractor;
mod judgement;
mod outline;
mod phrases;
mod project_paths;
mod prompt_template;
mod rule_model;
mod selection;
mod sentences;
mod sources;
mod statements;
mod wishes;

use heirloom_agents::failures::shell_line;
pub use wishes::{Wish, repeated_wishes};

pub use candidate::{
    Candidate, DropReason, Evidence, Lesson, LessonContent, LessonStep, ModelOpinion, ModelVerdict,
    SourceKind, Speaker, Verdict,
};
pub use extractor::LessonExtractor;
pub use judgement::{JUDGE_PROMPT, JudgeRequest, Judgement, PersonTurn, PickedSpan};
pub use rule_model::{RULE_FEATURES, RuleFeatures, SentencePlace};
pub use sources::{
    LineSteps, SessionSentences, SpokenSentence, TurnSentence, WorkingTree, turn_sentences,
};
