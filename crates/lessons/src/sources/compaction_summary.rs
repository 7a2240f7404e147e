//! Summaries with which a program replaced earlier turns: errors with their fixes, general statements, wishes of people.

mod error_point;
mod summary_text;

use super::person_rules::find_rules;
use crate::code_tokens::{TokenKind, code_tokens};
use crate::cues::{Cues, SummaryCues};
use crate::event_place::EventPlace;
use crate::outline::{OutlineItem, OutlineSection, read_outline};
use crate::rule_model::SentencePlace;
use crate::sentences::{capitalize, shorten_to_sentences};
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use error_point::{ErrorPoint, read_error_point};
use heirloom_agents::transcripts::{EventBody, TranscriptEvent};
use heirloom_model::text;
use serde::{Deserialize, Serialize};
use summary_text::{is_summary, summary_body};

/// Greatest number of points that are kept from all summaries.
const POINTS_MAX: usize = 30;
/// Greatest number of characters of a point.
const POINT_CHARS_MAX: usize = 360;
/// Number of characters from which on a fix in general words is explained.
const EXPLAINED_CHARS_MIN: usize = 40;
/// Smallest number of characters of a statement.
const POINT_CHARS_MIN: usize = 30;

/// Kind of a point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PointKind {
    /// Error with its fix.
    Error,
    /// Finding of a linter or formatter.
    MinorError,
    /// Mistake in the agent's own unfinished work.
    OwnMistake,
    /// General statement.
    #[default]
    Learning,
    /// Statement about the work of the session.
    Narration,
    /// Topic with a general statement.
    Concept,
    /// Wish of a person.
    Preference,
}

/// A point of a summary.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct SummaryPoint {
    kind: PointKind,
    text: String,
    /// The fix of an error.
    resolution: String,
    place: EventPlace,
}

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CompactionSummary {
    points: Vec<SummaryPoint>,
}

impl CompactionSummary {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        let summary = match &event.body {
            EventBody::Summary(text) => text,
            // Gemini CLI stores its summary as a message.
            EventBody::Prompt(text) | EventBody::AssistantText(text) if is_summary(text) => text,
            EventBody::ConversationStart(_)
            | EventBody::Prompt(_)
            | EventBody::AssistantText(_)
            | EventBody::Call { .. }
            | EventBody::Result { .. }
            | EventBody::FileChanged(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::TokenUsage(_) => return,
        };
        let place = EventPlace::of(position, event);
        for section in read_outline(summary_body(summary)) {
            self.read_section(&section, &place, &cues.summaries);
        }
    }

    fn read_section(&mut self, section: &OutlineSection, place: &EventPlace, cues: &SummaryCues) {
        let heading = section.heading.to_lowercase();
        let sections = &cues.sections;
        for item in &section.items {
            // A heading with several subjects, such as "Constraints & Preferences", has points of both kinds.
            let is_mixed = sections.learnings.is_in(&heading) && has_several_subjects(&heading);
            let point = if sections.preferences.is_in(&heading) && !is_mixed {
                preference_point(item, cues)
            } else if sections.pending.is_in(&heading) {
                // Later turns usually do what is pending.
                None
            } else if sections.errors.is_in(&heading) {
                self.add_feedback(item, place, cues);
                error_point(item, cues)
            } else if sections.learnings.is_in(&heading) {
                self.add_feedback(item, place, cues);
                learning_point(item, cues)
            } else if sections.concepts.is_in(&heading) {
                concept_point(item, cues)
            } else {
                self.add_feedback(item, place, cues);
                None
            };
            if let Some(point) = point {
                self.add_point(SummaryPoint {
                    place: place.clone(),
                    ..point
                });
            }
        }
    }

    /// Adds the wishes of people among the children of an item.
    fn add_feedback(&mut self, item: &OutlineItem, place: &EventPlace, cues: &SummaryCues) {
        for child in &item.children {
            let lower = child.to_lowercase();
            if is_wish(&lower, cues) {
                let text = wish_text(child);
                if text.chars().count() >= POINT_CHARS_MIN && sets_rule(&text) {
                    self.add_point(SummaryPoint {
                        kind: PointKind::Preference,
                        text,
                        resolution: String::new(),
                        place: place.clone(),
                    });
                }
            }
        }
    }

    fn add_point(&mut self, point: SummaryPoint) {
        // A later summary repeats the points of an earlier one.
        let name = |point: &SummaryPoint| text::error_identity(&point.text);
        let signature = name(&point);
        if let Some(known) = self
            .points
            .iter_mut()
            .find(|known| name(known) == signature)
        {
            *known = point;
        } else if self.points.len() < POINTS_MAX {
            self.points.push(point);
        }
    }

    /// Adds the candidates found so far.
    pub(crate) fn add_candidates(&self, cues: &Cues, out: &mut Vec<Candidate>) {
        out.extend(
            self.points
                .iter()
                .map(|point| point.candidate(&cues.summaries)),
        );
    }
}

impl SummaryPoint {
    /// Returns true if the fix names code, or the error does and the fix is explained.
    fn is_specific(&self) -> bool {
        let names = |text: &str| {
            code_tokens(text)
                .iter()
                .any(|token| token.kind != TokenKind::Number)
        };
        let is_code = |text: &str| {
            code_tokens(text)
                .iter()
                .any(|token| token.kind == TokenKind::Code)
        };
        is_code(&self.resolution)
            || (names(&self.text) && self.resolution.chars().count() >= EXPLAINED_CHARS_MIN)
    }

    fn candidate(&self, cues: &SummaryCues) -> Candidate {
        let worth = &cues.worth;
        let (worth, category) = match self.kind {
            PointKind::Error if self.is_specific() => (worth.error, ""),
            PointKind::Error => (worth.vague_error, ""),
            PointKind::MinorError => (worth.minor_error, ""),
            PointKind::OwnMistake => (worth.own_mistake, ""),
            PointKind::Learning => (worth.learning, "learning"),
            PointKind::Narration => (worth.narration, "learning"),
            PointKind::Concept => (worth.concept, "learning"),
            PointKind::Preference => (worth.preference, "preference"),
        };
        let content = match category {
            "" => LessonContent::Error {
                key: format!(
                    "summary:{}",
                    text::hash16(&text::error_identity(&self.text))
                ),
                text: self.text.clone(),
                resolution: Some(self.resolution.clone()),
            },
            category => LessonContent::Knowledge {
                category: category.to_owned(),
                key: None,
                text: self.text.clone(),
                rationale: None,
            },
        };
        Candidate {
            source: SourceKind::CompactionSummary,
            speaker: Speaker::Agent,
            content,
            worth,
            evidence: vec![self.place.evidence(&self.text)],
            at: self.place.at,
            agent: self.place.agent.clone(),
        }
    }
}

fn error_point(item: &OutlineItem, cues: &SummaryCues) -> Option<SummaryPoint> {
    let ErrorPoint { error, fix } = read_error_point(item, cues)?;
    let lower = format!("{} {}", error.to_lowercase(), fix.to_lowercase());
    if cues.phrases.expected.is_in(&lower) {
        return None;
    }
    let kind = if cues.phrases.own_mistake.is_in(&lower) {
        PointKind::OwnMistake
    } else if cues.phrases.minor.is_in(&error.to_lowercase()) {
        PointKind::MinorError
    } else {
        PointKind::Error
    };
    Some(SummaryPoint {
        kind,
        text: error,
        resolution: fix,
        place: EventPlace::default(),
    })
}

fn learning_point(item: &OutlineItem, cues: &SummaryCues) -> Option<SummaryPoint> {
    let text = point_text(&item.full_text())?;
    let lower = text.to_lowercase();
    if is_wish(&lower, cues) {
        return preference_point(item, cues);
    }
    let is_general = cues.phrases.general.is_in(&lower);
    if !is_general {
        return None;
    }
    // As in "Retry logic: Successfully implemented for all clients".
    let after_label = lower.split_once(": ").map_or("", |(_, rest)| rest.trim());
    let is_narration = |text| cues.phrases.narration.begins(text);
    let kind = match is_narration(&lower) || is_narration(after_label) {
        true => PointKind::Narration,
        false => PointKind::Learning,
    };
    Some(SummaryPoint {
        kind,
        text,
        ..SummaryPoint::default()
    })
}

fn concept_point(item: &OutlineItem, cues: &SummaryCues) -> Option<SummaryPoint> {
    let text = point_text(&item.full_text())?;
    cues.phrases
        .binding
        .is_in(&text.to_lowercase())
        .then(|| SummaryPoint {
            kind: PointKind::Concept,
            text,
            ..SummaryPoint::default()
        })
}

fn preference_point(item: &OutlineItem, cues: &SummaryCues) -> Option<SummaryPoint> {
    let text = point_text(&item.full_text())?;
    let lower = text.to_lowercase();
    let is_quoted = lower.starts_with(['"', '“']);
    let text = match is_wish(&lower, cues) {
        true => wish_text(&text),
        false => text,
    };
    let is_none = cues.phrases.no_wish.begins(&text.to_lowercase());
    (!is_none && (!is_quoted || sets_rule(&text))).then(|| SummaryPoint {
        kind: PointKind::Preference,
        text,
        ..SummaryPoint::default()
    })
}

fn has_several_subjects(heading: &str) -> bool {
    heading.contains([',', '&', '/', '+']) || heading.contains(" and ") || heading.contains(" or ")
}

/// Returns true if a text in lower case begins like a wish of a person.
fn is_wish(lower: &str, cues: &SummaryCues) -> bool {
    let text = lower.strip_prefix("the ").unwrap_or(lower);
    cues.phrases.wish.begins(text)
}

/// Returns true if a wish outlasts the work of the summary: "The user wants no new packages" does, "None, found in the
/// logs" and "pushed, please continue" do not.
fn sets_rule(wish: &str) -> bool {
    let words = wish.strip_prefix("The user").map_or(wish, |rest| {
        let rest = rest.trim_start();
        rest.split_once([' ', ':']).map_or(rest, |(_, rest)| rest)
    });
    // A quotation is judged by its own words: "pushed, please continue" after each attempt.
    let words = match words.trim_start().strip_prefix(['"', '“']) {
        Some(quoted) => quoted.split(['"', '”']).next().unwrap_or_default(),
        None => words,
    };
    !find_rules(words, SentencePlace::default(), &Cues::get().person_rules).is_empty()
}

/// Returns a wish as a sentence about the user.
fn wish_text(text: &str) -> String {
    let text = text
        .trim_start_matches("User feedback:")
        .trim_start_matches("User Feedback:")
        .trim();
    let text = text
        .strip_prefix("The user")
        .or_else(|| text.strip_prefix("User"))
        .map_or_else(|| capitalize(text), |rest| format!("The user{rest}"));
    shorten_to_sentences(&text, POINT_CHARS_MAX)
}

/// Returns the first sentences of a point, or `None` if it is too short.
fn point_text(text: &str) -> Option<String> {
    let text = shorten_to_sentences(&capitalize(text.trim()), POINT_CHARS_MAX);
    (text.chars().count() >= POINT_CHARS_MIN && text.contains(' ')).then_some(text)
}
