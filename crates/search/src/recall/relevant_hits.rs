//! Relevance of ranked hits: rating, the floor, and the order in which they are shown.

use super::rank::Ranked;
use crate::relevance::{
    ANSWER_COSINE_MIN, ANSWER_MIN, CandidateText, FLOOR, Features, Grade, Question, SentenceMatch,
};
use heirloom_model::Record;
use heirloom_model::case::is_case;
use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

/// Cosine of sentence vectors below which a text without a word of the question is weak. 96 of 100 right records of
/// that sort are above it.
const SENTENCE_COSINE_MIN: f64 = 0.125;
/// The same for a question without a known word, such as `zzzqqq`: its sentence vector has a random direction.
const UNKNOWN_WORDS_COSINE_MIN: f64 = 0.4;
/// Greatest relevance of such a text.
const UNRELATED_MAX: f64 = FLOOR * 0.9;
/// Number of hits of one session before the hits of other sessions. With two, and the order by grade, 23 instead of 21 of 32
/// recorded prompts find an earlier session that edited the same files among the first five.
const SESSION_HITS: usize = 2;

/// Computes the relevance of hits, and returns true if one of them answers the question: it is relevant or reads like
/// it, or has all of its words. `ranked` is in the order of the score.
///
/// The floor of single hits does not decide that: the right record of a paraphrase has a low relevance, and so has the
/// best record about another subject. A hit with all words of the question is never
/// below the floor: who searches for a word gets the records with it, however common the word is. A hit with none of
/// them whose sentence vector has another direction is never above it.
pub fn rate_hits(question: &Question, ranked: &mut [Ranked]) -> bool {
    rate_each(question, ranked).contains(&true)
}

/// Rates hits as [`rate_hits`], orders them as they are shown and keeps the first `most`.
///
/// The grade comes first. Within a grade the score decides, which finds more right records first than the relevance; but
/// a third hit of a session comes after the first two of others, and cases change places with each other by their
/// relevance: the score knows no age beyond a small bonus, and the newest case about a subject is the one that goes on.
pub fn rate_and_order(question: &Question, ranked: &mut Vec<Ranked>, most: usize) -> bool {
    let answers = rate_each(question, ranked);
    let places = places_by_score(ranked);
    let hits = std::mem::take(ranked).into_iter().zip(answers);
    let mut hits: Vec<(Ranked, bool, usize)> = (hits.zip(places))
        .map(|((hit, answers), place)| (hit, answers, place))
        .collect();
    hits.sort_by_key(|(hit, _, place)| (Reverse(shown_grade(hit)), *place));
    let all = hits.len();
    let mut of_session: HashMap<String, usize> = HashMap::new();
    for (hit, _, place) in &mut hits {
        let session = hit.record().and_then(|record| record.scope.session.clone());
        let count = session.map_or(0, |session| {
            let count = of_session.entry(session).or_default();
            *count += 1;
            *count
        });
        if count > SESSION_HITS {
            *place += all;
        }
    }
    hits.sort_by_key(|(hit, _, place)| (Reverse(shown_grade(hit)), *place));
    hits.truncate(most);
    let is_answered = hits.iter().any(|(_, answers, _)| *answers);
    ranked.extend(hits.into_iter().map(|(hit, _, _)| hit));
    is_answered
}

/// Returns the grade that decides where a hit is shown. What has the query word for word, or its name, is wanted.
fn shown_grade(hit: &Ranked) -> Grade {
    match hit.grade() {
        Some(grade) if !is_exact(hit) => grade,
        Some(_) | None => Grade::Strong,
    }
}

/// Returns the place of each hit: that of its score, but cases share their places in the order of their relevance.
fn places_by_score(ranked: &[Ranked]) -> Vec<usize> {
    let is_ordered = |hit: &Ranked| hit.record().is_some_and(is_case) && !is_exact(hit);
    let of_cases: Vec<usize> = (ranked.iter().enumerate())
        .filter(|(_, hit)| is_ordered(hit))
        .map(|(place, _)| place)
        .collect();
    let mut cases = of_cases.clone();
    let relevance = |place: &usize| ranked.get(*place).and_then(|hit| hit.relevance);
    cases.sort_by(|a, b| {
        relevance(b)
            .partial_cmp(&relevance(a))
            .unwrap_or(Ordering::Equal)
    });
    let mut places: Vec<usize> = (0..ranked.len()).collect();
    for (case, place) in cases.into_iter().zip(of_cases) {
        if let Some(slot) = places.get_mut(case) {
            *slot = place;
        }
    }
    places
}

/// Computes the relevance of hits, and returns which of them answer the question.
fn rate_each(question: &Question, ranked: &mut [Ranked]) -> Vec<bool> {
    let mut answers = Vec::with_capacity(ranked.len());
    let features = hit_features(question, ranked);
    for (hit, features) in ranked.iter_mut().zip(features) {
        let sentence = hit.breakdown.sentence;
        let is_known = question.has_known_word();
        let cosine_min = match is_known {
            true => SENTENCE_COSINE_MIN,
            false => UNKNOWN_WORDS_COSINE_MIN,
        };
        // Word pieces of an unknown word give the built-in vectors no meaning either.
        let is_unrelated = sentence.map_or(!is_known, |cosine| cosine < cosine_min);
        let (least, most) = match features.has_all_words() {
            true => (FLOOR, 1.0),
            false if is_unrelated && !features.has_words() => (0.0, UNRELATED_MAX),
            false => (0.0, 1.0),
        };
        let relevance = features.probability().clamp(least, most);
        hit.relevance = Some(relevance);
        let is_alike = match sentence {
            Some(cosine) => relevance >= ANSWER_MIN || cosine >= ANSWER_COSINE_MIN,
            None => relevance >= question.answer_min(),
        };
        answers.push(is_alike || features.has_all_words() || is_exact(hit));
    }
    answers
}

/// Returns the features of hits. `ranked` is in the order of the score.
pub fn hit_features(question: &Question, ranked: &[Ranked]) -> Vec<Features> {
    let best = ranked.first().map_or(0.0, |hit| hit.breakdown.total);
    let sentences = ranked.iter().filter_map(|hit| hit.breakdown.sentence);
    let best_sentence = sentences.fold(0.0, f64::max);
    let of_hit = |(rank, hit): (usize, &Ranked)| {
        let record = hit.record();
        question.features(&CandidateText {
            text: hit.item.text(),
            complement: record.map_or("", complement),
            key: record.and_then(|record| record.key.as_deref()),
            kind: hit.item.kind(),
            category: record.and_then(|record| record.category()),
            cosine: hit.breakdown.vector,
            sentence: hit.breakdown.sentence.map(|cosine| SentenceMatch {
                cosine,
                behind: best_sentence - cosine,
            }),
            pairs: hit.breakdown.proximity,
            behind: best - hit.breakdown.total,
            rank,
            case_at: record
                .filter(|record| is_case(record))
                .map(|record| record.recorded_at),
        })
    };
    ranked.iter().enumerate().map(of_hit).collect()
}

/// Returns what completes the text of a record; empty if nothing does.
fn complement(record: &Record) -> &str {
    let mut names = ["rationale", "resolution", "outcome"].iter();
    let found = names.find_map(|name| record.attr_str(name));
    found.unwrap_or_default()
}

/// Removes the hits below a relevance and returns their number.
pub fn retain_relevant(ranked: &mut Vec<Ranked>, least: f64) -> usize {
    let before = ranked.len();
    ranked.retain(|hit| is_relevant(hit, least));
    before - ranked.len()
}

/// Returns true if a hit reaches a relevance. So do hits without a relevance, exact matches of a name and of a quoted
/// phrase.
pub fn is_relevant(hit: &Ranked, least: f64) -> bool {
    is_exact(hit) || hit.relevance.is_none_or(|relevance| relevance >= least)
}

fn is_exact(hit: &Ranked) -> bool {
    hit.breakdown.exact > 0.0 || hit.breakdown.phrases > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::tokenizer::QueryTerms;
    use crate::recall::RecallItem;
    use crate::recall::rank::ScoreBreakdown;
    use crate::recall::rank::tests::record;
    use heirloom_model::{Kind, Timestamp};

    fn hit(item: RecallItem, relevance: f64) -> Ranked {
        Ranked {
            item,
            breakdown: ScoreBreakdown::default(),
            relevance: Some(relevance),
            duplicates: Vec::new(),
        }
    }

    fn known(text: &str, relevance: f64) -> Ranked {
        hit(RecallItem::Record(Box::new(record(text))), relevance)
    }

    #[test]
    fn question_of_unknown_words_needs_a_similar_meaning() {
        let rate = |text: &str, cosine: Option<f64>| {
            let terms = QueryTerms::of(text).terms;
            let question = Question::new(text, &terms, &vec![0; terms.len()], 60);
            let mut hits = vec![known("Task 131", 0.0)];
            hits[0].breakdown.sentence = cosine;
            hits[0].breakdown.vector = cosine.unwrap_or(0.9);
            rate_hits(&question, &mut hits);
            hits[0].relevance.unwrap()
        };
        for nonsense in ["zzzqqq", "what is the zzzqqq?"] {
            for cosine in [Some(0.39), None] {
                let below = rate(nonsense, cosine);
                assert!(below < FLOOR, "{nonsense} {cosine:?} {below}");
            }
        }
        for (text, cosine) in [
            ("zzzqqq", Some(0.6)),
            ("kitchen", Some(0.39)),
            ("kitchen", None),
        ] {
            let above = rate(text, cosine);
            assert!(above >= FLOOR, "{text} {above}");
        }
    }

    #[test]
    fn hits_are_ordered_by_grade_and_cases_by_their_age() {
        let now: Timestamp = "2026-11-28T12:00:00Z".parse().unwrap();
        let terms = QueryTerms::of("tile server port").terms;
        let question = Question::new("tile server port", &terms, &vec![1; terms.len()], 60);
        let question = question.asked_at(now);
        let case = |name: &str, at: &str| {
            let mut one = record(&format!("Asked: the port of the tile server, {name}"));
            (one.kind, one.recorded_at) = (Kind::Episode, at.parse().unwrap());
            hit(RecallItem::Record(Box::new(one)), 0.0)
        };
        let mut hits = vec![
            case("old", "2026-01-01T00:00:00Z"),
            known("The tile server has a port", 0.0),
            case("recent", "2026-11-28T11:00:00Z"),
            known("Unrelated", 0.0),
        ];
        assert!(rate_and_order(&question, &mut hits, 3));
        let texts: Vec<&str> = hits.iter().map(|hit| hit.item.text()).collect();
        assert_eq!(
            texts,
            [
                "The tile server has a port",
                "Asked: the port of the tile server, recent",
                "Asked: the port of the tile server, old"
            ]
        );
        // What is left out does not answer, and what answers comes first.
        let mut hits = vec![known("Unrelated", 0.0), known("Weather", 0.0)];
        assert!(!rate_and_order(&question, &mut hits, 1));
        assert_eq!(hits.len(), 1);
        let mut hits = vec![known("Unrelated", 0.0), known("tile server port", 0.0)];
        assert!(rate_and_order(&question, &mut hits, 1));
        assert_eq!(hits[0].item.text(), "tile server port");
    }

    #[test]
    fn third_hit_of_a_session_comes_after_those_of_others() {
        let terms = QueryTerms::of("tile server port").terms;
        let question = Question::new("tile server port", &terms, &vec![1; terms.len()], 60);
        let said = |session: Option<&str>, end: &str| {
            let mut one = record(&format!("The tile server has a port, {end}"));
            one.scope.session = session.map(str::to_owned);
            hit(RecallItem::Record(Box::new(one)), 0.0)
        };
        let mut hits = vec![
            said(Some("a"), "one"),
            said(Some("a"), "two"),
            said(Some("a"), "three"),
            said(None, "four"),
            said(None, "five"),
            said(None, "six"),
            said(Some("b"), "seven"),
        ];
        rate_and_order(&question, &mut hits, 10);
        let ends: Vec<&str> = (hits.iter())
            .filter_map(|hit| hit.item.text().rsplit(' ').next())
            .collect();
        assert_eq!(
            ends,
            ["one", "two", "four", "five", "six", "seven", "three"]
        );
    }

    #[test]
    fn retain_relevant_keeps_exact_matches() {
        let mut exact = known("named", 0.0);
        exact.breakdown.exact = 1.0;
        let mut filtered = known("newest", 0.0);
        filtered.relevance = None;
        let mut hits = vec![known("good", 0.5), known("weak", 0.1), exact, filtered];
        assert_eq!(retain_relevant(&mut hits, 0.2), 1);
        let left: Vec<&str> = hits.iter().map(|hit| hit.item.text()).collect();
        assert_eq!(left, ["good", "named", "newest"]);
    }
}
