//! Cost of sessions: recorded usage of the model, and the share that a window saves.

use crate::page::view::{duration, percent, short_number};
use heirloom_engine::{Engine, Filter, Order, TRANSCRIPT, WindowTimeline};
use heirloom_model::kinds::Episode;
use heirloom_model::{Fault, Kind, KindData, Message, Session, Timestamp};
use std::collections::HashMap;

/// Maximum number of attempts that are searched for the usage of sessions, from the start of the oldest session on.
const ATTEMPTS_READ: usize = 10_000;

/// Tokens that a session used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TokenUsage {
    pub(super) input: u64,
    /// Part of the input that came from the cache.
    pub(super) cached: u64,
    pub(super) output: u64,
}

impl TokenUsage {
    /// Returns the usage that a transcript recorded; `None` if it recorded none.
    pub(super) fn of_transcript(session: &Session) -> Option<Self> {
        let usage = session.attrs.get(TRANSCRIPT)?.get("usage")?;
        let tokens = |name: &str| usage.get(name).and_then(serde_json::Value::as_u64);
        let found = Self {
            // Transcripts count cached input apart.
            input: tokens("input").unwrap_or(0) + tokens("cached").unwrap_or(0),
            cached: tokens("cached").unwrap_or(0),
            output: tokens("output").unwrap_or(0),
        };
        (found.input + found.output > 0).then_some(found)
    }

    /// Returns the usage for a row: `412k in, 21k out`.
    pub(super) fn words(self) -> String {
        format!(
            "{} in, {} out",
            short_number(self.input),
            short_number(self.output)
        )
    }
}

/// Usage and result of the attempts of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct AttemptSummary {
    pub(super) usage: TokenUsage,
    /// Action of the newest attempt: `completed`, `failed` or another.
    pub(super) action: String,
}

/// Returns the attempts that were recorded since the start of a session, by session.
pub(super) fn attempts_by_session(
    engine: &Engine,
    since: Timestamp,
) -> Result<HashMap<String, AttemptSummary>, Fault> {
    let filter = Filter {
        order: Order::Oldest,
        recorded_from: Some(since),
        ..Filter::current(&[Kind::Episode], engine.now()).limit(ATTEMPTS_READ)
    };
    let mut found: HashMap<String, AttemptSummary> = HashMap::new();
    for record in engine.records().find(&filter)? {
        let (Some(session), Ok(episode)) =
            (record.scope.session.clone(), Episode::from_record(&record))
        else {
            continue;
        };
        let summary = found.entry(session).or_default();
        summary.usage.input += episode.tokens_in.unwrap_or(0);
        summary.usage.output += episode.tokens_out.unwrap_or(0);
        summary.action = episode.action;
    }
    Ok(found)
}

/// Returns the duration of a session: until its end, or until its last turn if no end was recorded.
pub(super) fn session_duration(session: &Session, last_turn: Option<&Message>) -> Option<String> {
    let until = session.ended_at.or(last_turn.map(|turn| turn.at))?;
    let ms = until.as_millisecond() - session.started_at.as_millisecond();
    let ms = u64::try_from(ms).ok().filter(|ms| *ms > 0)?;
    Some(duration(ms))
}

/// Returns the rows of the recorded usage.
pub(super) fn usage_rows(usage: Option<TokenUsage>) -> Vec<(&'static str, String)> {
    let Some(usage) = usage.filter(|usage| usage.input + usage.output > 0) else {
        return Vec::new();
    };
    let mut rows = vec![("Read", format!("{} tokens", short_number(usage.input)))];
    if usage.cached > 0 {
        let share = percent(usage.cached, usage.input);
        rows.push(("From cache", format!("{share} %")));
    }
    rows.push(("Written", format!("{} tokens", short_number(usage.output))));
    rows
}

/// Returns one sentence about the share that a window saves of the cost of the conversation; empty if it is unknown.
pub(super) fn savings(timeline: Option<&WindowTimeline>) -> String {
    let Some(timeline) = timeline.filter(|timeline| timeline.cost.0 > 0) else {
        return String::new();
    };
    let (without, with) = timeline.cost;
    let sizes = format!(
        "{} instead of {}",
        short_number(with),
        short_number(without)
    );
    match percent(without.abs_diff(with), without) {
        0 => format!(
            "A window saves nothing here: the conversation is too short to be compacted, which begins at {} tokens.",
            short_number(timeline.threshold_tokens as u64)
        ),
        share @ 1..5 if with < without => {
            format!("A window saves almost nothing here: {share} %, {sizes}.")
        }
        share if with < without => format!("A window saves {share} % here: {sizes}."),
        share => format!("A window costs {share} % more here: {sizes}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(without: u64, with: u64) -> WindowTimeline {
        WindowTimeline {
            cost: (without, with),
            threshold_tokens: 40_000,
            ..WindowTimeline::default()
        }
    }

    #[test]
    fn savings_of_nothing_are_named_as_nothing() {
        for (without, with, expected) in [
            (0, 0, ""),
            (169_000, 169_000, "saves nothing here"),
            (
                169_000,
                166_000,
                "almost nothing here: 2 %, 166k instead of 169k",
            ),
            (4_020, 2_310, "saves 43 % here: 2.3k instead of 4.0k"),
            (1_000, 1_100, "costs 10 % more here"),
        ] {
            let words = savings(Some(&timeline(without, with)));
            assert!(words.contains(expected), "{words}");
            assert_eq!(words.is_empty(), expected.is_empty(), "{words}");
        }
    }
}
