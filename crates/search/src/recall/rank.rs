//! Ranking of candidates, with a breakdown of each score.

use super::proximity::ProximityScorer;
use super::query::ParsedQuery;
use super::recall_item::RecallItem;
use super::verbatim::VerbatimQuery;
use super::{TimeSpan, weights};
use crate::Hit;
use crate::index::tokenizer::Term;
use crate::relevance::Grade;
use heirloom_model::{Record, RecordId, Scope, Timestamp, text};

/// Query, index statistics and circumstances that the ranking uses.
pub struct RankContext<'a> {
    /// The query.
    pub query: &'a ParsedQuery,
    /// Scope of the caller; items of the same scope rank higher.
    pub scope: &'a Scope,
    /// The current time.
    pub now: Timestamp,
    /// Stems of the query.
    pub terms: &'a [Term],
    /// Pairs of neighbouring stems.
    pub pairs: &'a [(usize, usize)],
    /// Document frequency of each stem; if empty, candidates are counted instead.
    pub dfs: &'a [u64],
    /// Number of searched items.
    pub searched: u64,
    /// The query, if records with it word for word come first.
    pub verbatim: Option<&'a VerbatimQuery>,
    /// Stems a text as the index does, in order.
    pub stems: &'a dyn Fn(&str) -> Vec<Term>,
}

/// A search hit with its item.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The record or turn.
    pub item: RecallItem,
    /// Its scores in the index.
    pub hit: Hit,
}

/// Parts of a score. `lexical`, `vector` and `sentence` are the scores of the arms, and `words` is a part of `fused`, for
/// information; the others add up to `total`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScoreBreakdown {
    /// Lexical score.
    pub lexical: f64,
    /// Cosine similarity of the vector.
    pub vector: f64,
    /// Cosine similarity of the sentence transformer's vector; `None` if the query or the item has none.
    pub sentence: Option<f64>,
    /// Fused score of both arms.
    pub fused: f64,
    /// Part of `fused` from the words; the rest is from the vectors.
    pub words: f64,
    /// Bonus for its conversation.
    pub conversation: f64,
    /// Proximity of neighbouring query words.
    pub proximity: f64,
    /// Phrases in quotes.
    pub phrases: f64,
    /// Match of its key or path.
    pub exact: f64,
    /// Match of the query's dates.
    pub dates: f64,
    /// Match of its speaker.
    pub speaker: f64,
    /// Recency.
    pub recency: f64,
    /// Confidence of its source.
    pub confidence: f64,
    /// Closeness of its scope.
    pub scope: f64,
    /// Prior of its kind.
    pub kind: f64,
    /// Confirmations.
    pub confirmations: f64,
    /// Marks as useful or not.
    pub useful: f64,
    /// Difference to the score that its place has, for a record that shares an identifier with a strong hit.
    pub hop: f64,
    /// The total score.
    pub total: f64,
}

impl ScoreBreakdown {
    /// Returns every part with its name, in the order of the documentation.
    pub fn labelled(&self) -> [(&'static str, f64); 18] {
        [
            ("lexical", self.lexical),
            ("vector", self.vector),
            ("sentence", self.sentence.unwrap_or(0.0)),
            ("fused", self.fused),
            ("conversation", self.conversation),
            ("pairs", self.proximity),
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
            ("hop", self.hop),
            ("total", self.total),
        ]
    }

    fn sum(&self) -> f64 {
        self.fused
            + self.conversation
            + self.proximity
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
            + self.hop
    }
}

/// A ranked item.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The record or turn.
    pub item: RecallItem,
    /// Breakdown of its score.
    pub breakdown: ScoreBreakdown,
    /// Chance that a colleague would mention it for the query, 0 to 1; `None` for a query without words.
    pub relevance: Option<f64>,
    /// Near-duplicates grouped under this item, best first.
    pub duplicates: Vec<RecordId>,
}

impl Ranked {
    /// Returns the record; `None` for a turn.
    pub fn record(&self) -> Option<&Record> {
        match &self.item {
            RecallItem::Record(record) => Some(record),
            RecallItem::Turn { .. } => None,
        }
    }

    /// Returns the grade of its relevance.
    pub fn grade(&self) -> Option<Grade> {
        self.relevance.map(Grade::of)
    }
}

/// Ranks the candidates, best first; the older one first if scores are equal.
pub fn rank(context: &RankContext<'_>, candidates: Vec<Candidate>) -> Vec<Ranked> {
    let gains = proximity_scores(context, &candidates);
    let words: Vec<String> = context
        .query
        .text
        .split_whitespace()
        .map(normalize_word)
        .collect();
    let mut ranked: Vec<Ranked> = candidates
        .into_iter()
        .zip(gains)
        .map(|(candidate, gain)| {
            let mut breakdown = score(context, &words, &candidate);
            breakdown.proximity = weights::PROXIMITY * gain;
            breakdown.total = breakdown.sum();
            Ranked {
                item: candidate.item,
                breakdown,
                relevance: None,
                duplicates: Vec::new(),
            }
        })
        .collect();
    if let Some(query) = context.verbatim {
        lift_verbatim(query, &mut ranked);
    }
    lift_exact_key(context, &mut ranked);
    ranked.sort_by(|a, b| {
        let older =
            || (a.item.recorded_at(), a.item.id()).cmp(&(b.item.recorded_at(), b.item.id()));
        b.breakdown
            .total
            .total_cmp(&a.breakdown.total)
            .then_with(older)
    });
    ranked
}

/// Returns the proximity score of each candidate.
fn proximity_scores(context: &RankContext<'_>, candidates: &[Candidate]) -> Vec<f64> {
    if context.pairs.is_empty() {
        return vec![0.0; candidates.len()];
    }
    let stems: Vec<Vec<Term>> = candidates
        .iter()
        .map(|candidate| (context.stems)(candidate.item.text()))
        .collect();
    let df = |term: usize| match context.dfs.get(term) {
        Some(df) => *df,
        None => {
            let target = context.terms.get(term);
            let has = |text: &&Vec<Term>| target.is_some_and(|term| text.contains(term));
            stems.iter().filter(has).count() as u64
        }
    };
    let pairs = ProximityScorer::new(context.terms, context.pairs, context.searched, df);
    if pairs.is_empty() {
        return vec![0.0; candidates.len()];
    }
    stems.iter().map(|text| pairs.score_text(text)).collect()
}

fn score(context: &RankContext<'_>, words: &[String], candidate: &Candidate) -> ScoreBreakdown {
    let (item, hit) = (&candidate.item, &candidate.hit);
    let conversation = f64::from(hit.conversation);
    ScoreBreakdown {
        lexical: f64::from(hit.lexical),
        vector: f64::from(hit.vector),
        sentence: hit.sentence.map(f64::from),
        fused: f64::from(hit.score) - conversation,
        words: f64::from(hit.word_score),
        conversation,
        phrases: phrase_score(&context.query.phrases, item.text()),
        exact: name_score(words, item),
        dates: date_score(&context.query.dates, item.recorded_at()),
        speaker: speaker_score(words, item),
        recency: recency_score(context.now, item.recorded_at()),
        confidence: weights::CONFIDENCE * (item.confidence() - 1.0),
        scope: scope_score(context.scope, item),
        kind: weights::kind_prior(item.kind()),
        confirmations: confirmation_score(item.confirmations()),
        useful: usefulness_score(item.useful()),
        proximity: 0.0,
        hop: 0.0,
        total: 0.0,
    }
}

/// Normalises a word for the comparison with names: lower case, without surrounding punctuation.
fn normalize_word(word: &str) -> String {
    let around = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | '~'));
    word.trim_matches(around)
        .trim_end_matches('.')
        .to_lowercase()
}

fn phrase_score(phrases: &[String], text: &str) -> f64 {
    if phrases.is_empty() {
        return 0.0;
    }
    let text = text::normalize(text);
    let found = phrases
        .iter()
        .filter(|phrase| text.contains(&text::normalize(phrase)));
    let found = u32::try_from(found.count()).unwrap_or(u32::MAX);
    (weights::PHRASE * f64::from(found)).min(weights::PHRASES_BOUND)
}

fn name_score(words: &[String], item: &RecallItem) -> f64 {
    let is_word = |name: &str| {
        let name = name.to_lowercase();
        let ends = |word: &String| {
            word.contains(['/', '.'])
                && name.ends_with(word.as_str())
                && name[..name.len() - word.len()].ends_with(['/', ':'])
        };
        !name.is_empty() && words.iter().any(|word| *word == name || ends(word))
    };
    if item.has_name(is_word) {
        weights::EXACT
    } else {
        0.0
    }
}

/// Moves the records with the query word for word before all others, in the order that they have.
fn lift_verbatim(query: &VerbatimQuery, ranked: &mut [Ranked]) {
    let is_match: Vec<bool> = (ranked.iter())
        .map(|one| one.record().is_some_and(|record| query.is_in(&record.text)))
        .collect();
    let totals = |matches: bool| {
        let of_kind = ranked.iter().zip(&is_match);
        of_kind
            .filter(move |(_, is_match)| **is_match == matches)
            .map(|(one, _)| one.breakdown.total)
    };
    let best = totals(false).fold(f64::NEG_INFINITY, f64::max);
    let least = totals(true).fold(f64::INFINITY, f64::min);
    let behind = (best - least).max(0.0);
    let lead = weights::PHRASE + if behind.is_finite() { behind } else { 0.0 };
    let matches = ranked.iter_mut().zip(is_match);
    for (one, _) in matches.filter(|(_, is_match)| *is_match) {
        one.breakdown.phrases += lead;
        one.breakdown.total += lead;
    }
}

/// Moves the record whose key is the whole query to the top.
fn lift_exact_key(context: &RankContext<'_>, ranked: &mut [Ranked]) {
    let whole = text::normalize(&context.query.text);
    let best = ranked
        .iter()
        .map(|one| one.breakdown.total)
        .max_by(f64::total_cmp);
    let (Some(best), false) = (best, whole.is_empty()) else {
        return;
    };
    for one in ranked {
        if one.item.has_name(|name| text::normalize(name) == whole) {
            let lead = best - one.breakdown.total + weights::EXACT_WHOLE_LEAD;
            one.breakdown.exact += lead;
            one.breakdown.total += lead;
        }
    }
}

/// Returns the highest score that one of the dates gives to `at`.
fn date_score(dates: &[TimeSpan], at: Timestamp) -> f64 {
    let nearby = |span: &TimeSpan| {
        const DAY_S: i64 = 86_400;
        const WEEK_S: i64 = 7 * DAY_S;
        let (from, to, at_s) = (span.from.as_second(), span.to.as_second(), at.as_second());
        let length = to - from;
        let around = if length <= DAY_S { DAY_S } else { 0 };
        if length <= WEEK_S && (from - around..to + around).contains(&at_s) {
            weights::DATE_DAY
        } else if span.contains(at) || (length <= WEEK_S && same_month(span.from, at)) {
            weights::DATE_MONTH
        } else {
            0.0
        }
    };
    dates.iter().map(nearby).fold(0.0, f64::max)
}

fn same_month(one: Timestamp, other: Timestamp) -> bool {
    use heirloom_model::tz::TimeZone;
    let month = |time: Timestamp| time.to_zoned(TimeZone::UTC).date().first_of_month();
    month(one) == month(other)
}

/// Scores a turn whose speaker is named in the query.
fn speaker_score(words: &[String], item: &RecallItem) -> f64 {
    let RecallItem::Turn { message, .. } = item else {
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

fn recency_score(now: Timestamp, at: Timestamp) -> f64 {
    let age_s = (now.as_second() - at.as_second()).max(0);
    #[expect(clippy::cast_precision_loss, reason = "an age needs no such precision")]
    let days = age_s as f64 / 86_400.0;
    weights::RECENCY * (-days / weights::RECENCY_HALF_LIFE_DAYS).exp2()
}

fn scope_score(nearby: &Scope, item: &RecallItem) -> f64 {
    let RecallItem::Record(record) = item else {
        return 0.0;
    };
    let same = |mine: &Option<String>, theirs: &Option<String>| mine.is_some() && mine == theirs;
    let there = &record.scope;
    if same(&nearby.task, &there.task) {
        weights::SCOPE_TASK
    } else if same(&nearby.plan, &there.plan)
        || same(&nearby.group, &there.group)
        || same(&nearby.session, &there.session)
    {
        weights::SCOPE_PLAN
    } else {
        0.0
    }
}

fn confirmation_score(count: u32) -> f64 {
    let count = f64::from(count);
    weights::CONFIRMATIONS * count / (count + weights::CONFIRMATIONS_HALF)
}

fn usefulness_score(count: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let share = count as f64 / heirloom_model::limits::USEFUL_MAX as f64;
    weights::USEFUL * share.clamp(-1.0, 1.0)
}

#[cfg(test)]
#[path = "rank_tests.rs"]
pub(super) mod tests;
