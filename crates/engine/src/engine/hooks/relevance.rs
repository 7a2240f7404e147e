//! Whether what recall finds for a prompt is worth telling: measured, not ranked.

use crate::engine::Engine;
use crate::engine::recall::{Evidence, Reading, RecallRequest};
use crate::recall::{Item, Ranked};
use heirloom_index::words::{self, Term};
use heirloom_model::{Fault, Kind, Record, limits, mark, text};
use std::collections::HashSet;

/// What is told with a prompt: what was learned, not what was done.
const KINDS: [Kind; 5] = [
    Kind::Knowledge,
    Kind::Note,
    Kind::Error,
    Kind::Episode,
    Kind::Summary,
];

/// A record and how near it is to a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Relevant {
    /// The record.
    pub record: Record,
    /// What the words that it shares with the prompt say, in nats: rare words say more.
    pub shared: f64,
    /// The part of what the prompt's words say that is shared.
    pub coverage: f64,
    /// The cosine of the two.
    pub cosine: f64,
}

impl Relevant {
    /// How sure it is that the record is about what the prompt is about: log-odds, fitted to commits and to the changelog
    /// lines of the same and of other projects (decision 59); 0 is where it is told.
    pub fn score(&self) -> f64 {
        let covered = self.coverage.min(COVERAGE_ENOUGH);
        let cosine = self.cosine.max(0.0);
        2.9 * (1.0 + self.shared).ln()
            + (17.9 - 14.6 * covered) * covered
            + (25.4 - 9.4 * cosine) * cosine
            - THRESHOLD
    }

    /// Whether it is good enough to be told: by its score, or because it has nearly all words of a prompt that says
    /// something. Those are few in what the score was fitted to, and what people ask.
    pub fn is_good(&self) -> bool {
        let has_nearly_all = self.coverage >= 0.75 && self.shared >= 18.0 && self.cosine >= 0.2;
        has_nearly_all || self.score() >= 0.0
    }

    /// The places of those in `near`, which recall has put best first, that a prompt is told, at most `most`: none unless
    /// one is good enough. Then the first ones are, because recall's order is the better one; what is far off is not.
    pub fn told(near: &[Self], most: usize) -> Vec<usize> {
        let Some(good) = near.iter().position(Self::is_good) else {
            return Vec::new();
        };
        let may = |one: &Self| one.is_good() || one.score() >= -BESIDE;
        let mut told: Vec<usize> = (0..near.len())
            .filter(|n| near.get(*n).is_some_and(may))
            .take(most)
            .collect();
        if told.iter().all(|n| *n < good) {
            told.truncate(most.saturating_sub(1));
            told.push(good);
        }
        told
    }
}

/// The part of a prompt's words beyond which more of them say nothing more.
const COVERAGE_ENOUGH: f64 = 0.61;
/// Where fewer than one in fifty prompts of other projects get something.
const THRESHOLD: f64 = 25.1;
/// How far below that what stands beside one that is good enough may be.
const BESIDE: f64 = 4.0;
/// A young memory counts as one of so many texts: else every word of it would be a common one.
const TEXTS_MIN: u64 = 1_000;

impl Engine {
    /// The first answers of recall to a prompt, best first, with how near they are.
    ///
    /// Errors: those of [`Engine::recall`].
    pub fn nearest(&self, prompt: &str) -> Result<Vec<Relevant>, Fault> {
        let question = beginning(prompt);
        if !question.chars().any(char::is_alphanumeric) {
            return Ok(Vec::new());
        }
        let request = RecallRequest {
            question: question.to_owned(),
            reading: Reading::Words,
            // Asked for by kind it would take three times as long: what is of another kind is left out afterwards.
            k: Some(2 * limits::RECALL_HITS_DEFAULT),
            ..RecallRequest::default()
        };
        let (ranked, evidence) = self.recall_with_evidence(&request)?;
        let worth = Worth::of(&evidence);
        let now = self.now();
        let near = ranked.into_iter().filter_map(|one| worth.of_hit(one));
        let holds = |record: &Record| {
            record.true_from.is_none_or(|from| from <= now)
                && record.true_to.is_none_or(|to| to > now)
                && !mark::is_muted(&record.attrs)
                && record.attrs.get("disputed").is_none()
        };
        Ok(near
            .filter(|one| KINDS.contains(&one.record.kind) && holds(&one.record))
            .take(limits::RECALL_HITS_DEFAULT)
            .collect())
    }
}

/// What each word of a question says.
struct Worth {
    terms: Vec<(Term, f64)>,
    all: f64,
}

impl Worth {
    fn of(evidence: &Evidence) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "counts of texts")]
        let idf = |df: u64| {
            let (df, all) = (df as f64, evidence.searched.max(df).max(TEXTS_MIN) as f64);
            (1.0 + (all - df + 0.5) / (df + 0.5)).ln()
        };
        let dfs = evidence.dfs.iter().copied();
        let terms: Vec<(Term, f64)> = evidence.terms.iter().copied().zip(dfs.map(idf)).collect();
        let all = terms.iter().map(|(_, worth)| worth).sum();
        Self { terms, all }
    }

    fn of_hit(&self, hit: Ranked) -> Option<Relevant> {
        let Item::Record(record) = hit.item else {
            return None;
        };
        let named = record.key.as_deref().unwrap_or_default();
        let stems = words::stems(&record.text).into_iter();
        let stems: HashSet<Term> = stems
            .chain(words::stems(named))
            .map(|stem| stem.term)
            .collect();
        let shared = self.terms.iter().filter(|(term, _)| stems.contains(term));
        let shared: f64 = shared.map(|(_, worth)| worth).sum();
        Some(Relevant {
            record: *record,
            shared,
            coverage: if self.all > 0.0 {
                shared / self.all
            } else {
                0.0
            },
            cosine: hit.parts.vector,
        })
    }
}

/// The beginning of a prompt: what is asked stands there, what follows is pasted.
fn beginning(prompt: &str) -> &str {
    let mut end = prompt.len().min(limits::HOOK_QUESTION_BYTES_MAX);
    while !prompt.is_char_boundary(end) {
        end -= 1;
    }
    &prompt[..end]
}

/// A record as a prompt gets it: what it says, of which sort it is, and where it is from.
pub(super) fn line(record: &Record) -> String {
    let said = text::excerpt(&record.text, limits::HOOK_HIT_CHARS_MAX);
    let what = record
        .category()
        .map_or_else(|| record.kind.to_string(), str::to_owned);
    let more = [("rationale", "because"), ("resolution", "resolved by")];
    let more: String = (more.iter())
        .filter_map(|(name, word)| {
            let why = text::excerpt(record.attr_str(name)?, limits::HOOK_HIT_CHARS_MAX / 4);
            Some(format!("; {word}: {why}"))
        })
        .collect();
    let day = record.recorded_at.strftime("%Y-%m-%d");
    let source = text::one_line(&record.source);
    let id = record.id.to_string();
    format!("- {what}: {said}{more} (from {source}, {day}; heirloom show {id})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_prompt_the_beginning_is_asked() {
        let most = limits::HOOK_QUESTION_BYTES_MAX;
        let fits = "x".repeat(most);
        assert_eq!(beginning(&fits), fits);
        let over = format!("{}é", "x".repeat(most - 1));
        assert_eq!(beginning(&over).len(), most - 1);
        assert_eq!(beginning(""), "");
    }

    fn record(text: &str) -> Record {
        Record {
            project: heirloom_model::ProjectName::new("p").unwrap(),
            id: heirloom_model::RecordId::MIN,
            kind: Kind::Note,
            key: None,
            text: text.to_owned(),
            attrs: heirloom_model::record::Attrs::new(),
            scope: heirloom_model::Scope::default(),
            source: "ann".to_owned(),
            confidence: heirloom_model::Confidence::FULL,
            tokens: 1,
            recorded_at: heirloom_model::Timestamp::UNIX_EPOCH,
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        }
    }

    #[test]
    fn of_a_long_record_the_beginning_is_told() {
        let most = limits::HOOK_HIT_CHARS_MAX;
        let told = |chars: usize| line(&record(&"x".repeat(chars)));
        assert!(told(most).starts_with(&format!(
            "- note: {} (from ann, 1970-01-01;",
            "x".repeat(most)
        )));
        assert!(told(most + 1).contains("x… (from ann"));
    }

    fn near(shared: f64, coverage: f64, cosine: f64) -> Relevant {
        Relevant {
            record: record("x"),
            shared,
            coverage,
            cosine,
        }
    }

    #[test]
    fn what_stands_beside_a_good_one_is_told_and_nothing_else() {
        let (good, close, far) = (
            near(40.0, 0.6, 0.6),
            near(14.0, 0.4, 0.4),
            near(2.0, 0.1, 0.0),
        );
        assert!(good.is_good() && !close.is_good() && !far.is_good());
        assert!(close.score() >= -BESIDE && far.score() < -BESIDE);
        let told = |near: &[&Relevant]| {
            let near: Vec<Relevant> = near.iter().map(|one| (*one).clone()).collect();
            Relevant::told(&near, 3)
        };
        assert!(told(&[]).is_empty());
        assert!(told(&[&close, &close, &far]).is_empty());
        assert_eq!(told(&[&good, &far]), [0]);
        assert_eq!(told(&[&close, &far, &good, &close]), [0, 2, 3]);
        assert_eq!(told(&[&close, &close, &close, &good]), [0, 1, 3]);
        assert_eq!(told(&[&good, &good, &close, &good]), [0, 1, 2]);
    }

    #[test]
    fn rare_words_say_more_and_unknown_ones_too() {
        let question = words::Question::of("borrow checker lifetimes");
        let evidence = Evidence {
            terms: question.terms,
            dfs: vec![100, 5, 0],
            searched: 10_000,
        };
        let worth = Worth::of(&evidence);
        let each: Vec<f64> = worth.terms.iter().map(|(_, worth)| *worth).collect();
        assert!(each[0] < each[1] && each[1] < each[2], "{each:?}");
        assert!(worth.all > 0.0);
    }
}
