//! The order of the answers, and the parts of every score.

use super::ask::Asked;
use super::item::Item;
use super::pairs::Pairs;
use super::{Span, weights};
use heirloom_index::words::Term;
use heirloom_model::{RecordId, Scope, Timestamp, text};
use heirloom_store::Hit;

/// Who asks what, and what the index knows of the question.
pub struct Asking<'a> {
    /// The question.
    pub asked: &'a Asked,
    /// Where whoever asks stands: what lies near ranks higher.
    pub near: &'a Scope,
    /// When.
    pub now: Timestamp,
    /// The stems of the question.
    pub terms: &'a [Term],
    /// Neighbours among them.
    pub pairs: &'a [(usize, usize)],
    /// In how many items each term is; empty = not known, then the candidates are counted.
    pub dfs: &'a [u64],
    /// How many items were searched.
    pub searched: u64,
    /// The stems of a text, in its order, as the index makes them.
    pub stems: &'a dyn Fn(&str) -> Vec<Term>,
}

/// A candidate: what the store says of it, and what is behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The record or turn.
    pub item: Item,
    /// Its scores.
    pub hit: Hit,
}

/// What a score is made of. `lexical` and `vector` are what the arms say; the rest adds up to `total`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Parts {
    /// The score of its words.
    pub lexical: f64,
    /// The cosine of its vector.
    pub vector: f64,
    /// Both arms, fused.
    pub fused: f64,
    /// What its conversation adds.
    pub conversation: f64,
    /// Neighbouring words of the question.
    pub pairs: f64,
    /// Phrases in quotes.
    pub phrases: f64,
    /// Its key or path.
    pub exact: f64,
    /// Dates of the question.
    pub dates: f64,
    /// Its speaker.
    pub speaker: f64,
    /// How new it is.
    pub recency: f64,
    /// How sure its source was.
    pub confidence: f64,
    /// How near it lies.
    pub scope: f64,
    /// What its kind is worth.
    pub kind: f64,
    /// How often it was said again.
    pub confirmations: f64,
    /// Whether it helped.
    pub useful: f64,
    /// The score.
    pub total: f64,
}

impl Parts {
    /// Every part by its name, in the order of the documentation.
    pub fn named(&self) -> [(&'static str, f64); 16] {
        [
            ("lexical", self.lexical),
            ("vector", self.vector),
            ("fused", self.fused),
            ("conversation", self.conversation),
            ("pairs", self.pairs),
            ("phrases", self.phrases),
            ("exact", self.exact),
            ("dates", self.dates),
            ("speaker", self.speaker),
            ("recency", self.recency),
            ("confidence", self.confidence),
            ("scope", self.scope),
            ("kind", self.kind),
            ("confirmations", self.confirmations),
            ("useful", self.useful),
            ("total", self.total),
        ]
    }

    fn sum(&self) -> f64 {
        self.fused
            + self.conversation
            + self.pairs
            + self.phrases
            + self.exact
            + self.dates
            + self.speaker
            + self.recency
            + self.confidence
            + self.scope
            + self.kind
            + self.confirmations
            + self.useful
    }
}

/// An answer with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The record or turn.
    pub item: Item,
    /// What its score is made of.
    pub parts: Parts,
    /// Near-duplicates that are not in the list because of it, best first.
    pub folded: Vec<RecordId>,
}

/// The candidates by score, the best first; on a tie the older first.
pub fn rank(asking: &Asking<'_>, candidates: Vec<Candidate>) -> Vec<Ranked> {
    let gains = pair_gains(asking, &candidates);
    let words: Vec<String> = asking.asked.text.split_whitespace().map(plain).collect();
    let mut ranked: Vec<Ranked> = candidates
        .into_iter()
        .zip(gains)
        .map(|(candidate, gain)| {
            let mut parts = parts(asking, &words, &candidate);
            parts.pairs = weights::PAIRS * gain;
            parts.total = parts.sum();
            Ranked {
                item: candidate.item,
                parts,
                folded: Vec::new(),
            }
        })
        .collect();
    lift_the_named(asking, &mut ranked);
    ranked.sort_by(|a, b| {
        let older =
            || (a.item.recorded_at(), a.item.id()).cmp(&(b.item.recorded_at(), b.item.id()));
        b.parts.total.total_cmp(&a.parts.total).then_with(older)
    });
    ranked
}

/// For each candidate what the neighbours of the question are worth in it.
fn pair_gains(asking: &Asking<'_>, candidates: &[Candidate]) -> Vec<f64> {
    if asking.pairs.is_empty() {
        return vec![0.0; candidates.len()];
    }
    let stems: Vec<Vec<Term>> = candidates
        .iter()
        .map(|candidate| (asking.stems)(candidate.item.text()))
        .collect();
    let df = |term: usize| match asking.dfs.get(term) {
        Some(df) => *df,
        None => {
            let wanted = asking.terms.get(term);
            let has = |text: &&Vec<Term>| wanted.is_some_and(|term| text.contains(term));
            stems.iter().filter(has).count() as u64
        }
    };
    let pairs = Pairs::new(asking.terms, asking.pairs, asking.searched, df);
    if pairs.is_empty() {
        return vec![0.0; candidates.len()];
    }
    stems.iter().map(|text| pairs.in_text(text)).collect()
}

fn parts(asking: &Asking<'_>, words: &[String], candidate: &Candidate) -> Parts {
    let (item, hit) = (&candidate.item, &candidate.hit);
    let conversation = f64::from(hit.conversation);
    Parts {
        lexical: f64::from(hit.lexical),
        vector: f64::from(hit.vector),
        fused: f64::from(hit.score) - conversation,
        conversation,
        phrases: phrases(&asking.asked.phrases, item.text()),
        exact: exact(words, item),
        dates: dates(&asking.asked.dates, item.recorded_at()),
        speaker: speaker(words, item),
        recency: recency(asking.now, item.recorded_at()),
        confidence: weights::CONFIDENCE * (item.confidence() - 1.0),
        scope: scope(asking.near, item),
        kind: weights::kind_prior(item.kind()),
        confirmations: confirmations(item.confirmations()),
        useful: useful(item.useful()),
        pairs: 0.0,
        total: 0.0,
    }
}

/// A word as names are compared: small letters, without punctuation around it.
fn plain(word: &str) -> String {
    let around = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | '~'));
    word.trim_matches(around)
        .trim_end_matches('.')
        .to_lowercase()
}

fn phrases(phrases: &[String], text: &str) -> f64 {
    if phrases.is_empty() {
        return 0.0;
    }
    let text = text::normal(text);
    let found = phrases
        .iter()
        .filter(|phrase| text.contains(&text::normal(phrase)));
    let found = u32::try_from(found.count()).unwrap_or(u32::MAX);
    (weights::PHRASE * f64::from(found)).min(weights::PHRASES_BOUND)
}

fn exact(words: &[String], item: &Item) -> f64 {
    let is_word = |name: &str| {
        let name = name.to_lowercase();
        let ends = |word: &String| {
            word.contains(['/', '.'])
                && name.ends_with(word.as_str())
                && name[..name.len() - word.len()].ends_with(['/', ':'])
        };
        !name.is_empty() && words.iter().any(|word| *word == name || ends(word))
    };
    if item.is_called(is_word) {
        weights::EXACT
    } else {
        0.0
    }
}

/// The record that the question calls by its key, and by nothing else, stands first.
fn lift_the_named(asking: &Asking<'_>, ranked: &mut [Ranked]) {
    let whole = text::normal(&asking.asked.text);
    let best = ranked
        .iter()
        .map(|one| one.parts.total)
        .max_by(f64::total_cmp);
    let (Some(best), false) = (best, whole.is_empty()) else {
        return;
    };
    for one in ranked {
        if one.item.is_called(|name| text::normal(name) == whole) {
            let lead = best - one.parts.total + weights::EXACT_WHOLE_LEAD;
            one.parts.exact += lead;
            one.parts.total += lead;
        }
    }
}

/// The most that one of the dates says for `at`.
fn dates(dates: &[Span], at: Timestamp) -> f64 {
    let near = |span: &Span| {
        const DAY_S: i64 = 86_400;
        const WEEK_S: i64 = 7 * DAY_S;
        let (from, to, at_s) = (span.from.as_second(), span.to.as_second(), at.as_second());
        let length = to - from;
        let around = if length <= DAY_S { DAY_S } else { 0 };
        if length <= WEEK_S && (from - around..to + around).contains(&at_s) {
            weights::DATE_DAY
        } else if span.holds(at) || (length <= WEEK_S && same_month(span.from, at)) {
            weights::DATE_MONTH
        } else {
            0.0
        }
    };
    dates.iter().map(near).fold(0.0, f64::max)
}

fn same_month(one: Timestamp, other: Timestamp) -> bool {
    use heirloom_model::tz::TimeZone;
    let month = |time: Timestamp| time.to_zoned(TimeZone::UTC).date().first_of_month();
    month(one) == month(other)
}

/// A turn of somebody whom the question names.
fn speaker(words: &[String], item: &Item) -> f64 {
    let Item::Turn { message, .. } = item else {
        return 0.0;
    };
    let named = message.sender.as_deref().is_some_and(|sender| {
        let sender = sender.to_lowercase();
        let mut names = sender
            .split_whitespace()
            .filter(|name| name.chars().count() > 1);
        names.any(|name| {
            words
                .iter()
                .any(|word| word == name || word.strip_suffix("'s") == Some(name))
        })
    });
    if named { weights::SPEAKER } else { 0.0 }
}

fn recency(now: Timestamp, at: Timestamp) -> f64 {
    let age_s = (now.as_second() - at.as_second()).max(0);
    #[expect(clippy::cast_precision_loss, reason = "an age needs no such precision")]
    let days = age_s as f64 / 86_400.0;
    weights::RECENCY * (-days / weights::RECENCY_HALF_LIFE_DAYS).exp2()
}

fn scope(near: &Scope, item: &Item) -> f64 {
    let Item::Record(record) = item else {
        return 0.0;
    };
    let same = |mine: &Option<String>, theirs: &Option<String>| mine.is_some() && mine == theirs;
    let there = &record.scope;
    if same(&near.task, &there.task) {
        weights::SCOPE_TASK
    } else if same(&near.plan, &there.plan)
        || same(&near.group, &there.group)
        || same(&near.session, &there.session)
    {
        weights::SCOPE_PLAN
    } else {
        0.0
    }
}

fn confirmations(count: u32) -> f64 {
    let count = f64::from(count);
    weights::CONFIRMATIONS * count / (count + weights::CONFIRMATIONS_HALF)
}

fn useful(count: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let share = count as f64 / heirloom_model::limits::USEFUL_MAX as f64;
    weights::USEFUL * share.clamp(-1.0, 1.0)
}

#[cfg(test)]
#[path = "rank_tests.rs"]
pub(super) mod tests;
