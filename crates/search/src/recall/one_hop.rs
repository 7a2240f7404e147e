//! One hop: records that share an identifier with a strong hit, placed among the direct hits.

use super::rank::{Ranked, ScoreBreakdown};
use super::recall_item::RecallItem;
use super::weights::{HOP_RELEVANCE, HOP_RELEVANCE_WITH_WORD, HOP_STEP};
use crate::index::tokenizer::{self, QueryTerms, Term};
use crate::relevance::{CandidateText, Question, TELL_MIN};
use heirloom_model::{Record, RecordId, limits};
use std::collections::HashSet;

/// Maximum relevance of a hop: less than that of a record that is told unasked.
const RELEVANCE_MAX: f64 = TELL_MIN * 0.99;

/// A record that shares an identifier with a strong hit.
#[derive(Debug, Clone, PartialEq)]
pub struct Hop {
    /// The record.
    pub record: Record,
    /// Id of the strong hit.
    pub strong: RecordId,
    /// Relevance of the record, derived from that of the strong hit.
    pub relevance: f64,
    /// Relevance of the record by its own text; decides between hops with the same relevance.
    pub direct: f64,
}

/// Returns the records among the hits whose identifiers are looked up, with their relevance, in order.
pub fn strong_records(ranked: &[Ranked]) -> Vec<(&Record, f64)> {
    let strong = ranked.iter().filter_map(|hit| match &hit.item {
        RecallItem::Record(record) => {
            let relevance = hit.relevance.filter(|relevance| *relevance >= TELL_MIN)?;
            Some((&**record, relevance))
        }
        RecallItem::Turn { .. } => None,
    });
    strong.take(limits::HOP_STRONG_HITS_MAX).collect()
}

/// Returns the relevance of a record that shares `identifier` with a hit of relevance `strong`. It is higher if the
/// record also has a word of the query that is no part of the identifier.
pub fn hop_relevance(query: &[Term], identifier: &str, record: &Record, strong: f64) -> f64 {
    let shared = QueryTerms::of(identifier).terms;
    let own: HashSet<Term> = tokenizer::stems(&record.text)
        .iter()
        .map(|stem| stem.term)
        .collect();
    let mut words = query.iter().filter(|term| !shared.contains(term));
    let share = match words.any(|term| own.contains(term)) {
        true => HOP_RELEVANCE_WITH_WORD,
        false => HOP_RELEVANCE,
    };
    (share * strong).min(RELEVANCE_MAX)
}

/// Places the most relevant hops among the hits, at most [`limits::HOP_RECORDS_MAX`]. A hop follows its strong hit and
/// the hits after it that are strong or at least as relevant. A direct hit only moves if it is a hop itself, and then
/// only up. Returns true if a hit was added or raised.
///
/// Hops that are equal in both relevances are placed in the given order.
pub fn place_hops(ranked: &mut Vec<Ranked>, mut hops: Vec<Hop>) -> bool {
    hops.sort_by(|a, b| {
        let direct = b.direct.total_cmp(&a.direct);
        b.relevance.total_cmp(&a.relevance).then(direct)
    });
    let mut seen: HashSet<RecordId> = HashSet::new();
    hops.retain(|hop| seen.insert(hop.record.id) && !is_known(ranked, hop));
    hops.truncate(limits::HOP_RECORDS_MAX);
    let has_hops = !hops.is_empty();
    for hop in hops {
        place_hop(ranked, hop);
    }
    has_hops
}

/// Returns true if a record is a hit that is as relevant without the hop, or a near-duplicate of a hit.
fn is_known(ranked: &[Ranked], hop: &Hop) -> bool {
    ranked.iter().any(|hit| {
        let is_same = hit.item.id() == hop.record.id;
        hit.duplicates.contains(&hop.record.id)
            || (is_same && hit.relevance.is_none_or(|direct| direct >= hop.relevance))
    })
}

/// Returns the relevance of a record for the question by its text, without its scores in the index.
pub fn text_relevance(question: &Question, record: &Record) -> f64 {
    question.relevance(&CandidateText {
        text: &record.text,
        key: record.key.as_deref(),
        kind: Some(record.kind),
        category: record.category(),
        ..CandidateText::default()
    })
}

fn place_hop(ranked: &mut Vec<Ranked>, hop: Hop) {
    let position = |id: RecordId| ranked.iter().position(|hit| hit.item.id() == id);
    let Some(strong) = position(hop.strong) else {
        return;
    };
    let direct = position(hop.record.id);
    // A strong hit is never displaced, even if the hop is more relevant.
    let least = hop.relevance.min(TELL_MIN);
    let is_passed = |hit: &&Ranked| {
        hit.item.id() != hop.record.id && hit.relevance.is_some_and(|relevance| relevance >= least)
    };
    let passed = ranked.iter().skip(strong + 1).take_while(is_passed).count();
    let at = strong + 1 + passed;
    let mut placed = match direct {
        // A hit in front of its place stays there.
        Some(direct) if direct <= at => {
            if let Some(hit) = ranked.get_mut(direct) {
                hit.relevance = Some(hop.relevance);
            }
            return;
        }
        Some(direct) => ranked.remove(direct),
        None => Ranked {
            item: RecallItem::Record(Box::new(hop.record)),
            breakdown: ScoreBreakdown::default(),
            relevance: None,
            duplicates: Vec::new(),
        },
    };
    let total = |at: usize| ranked.get(at).map(|hit| hit.breakdown.total);
    let before = total(at - 1).unwrap_or_default();
    let score = match total(at) {
        Some(after) => f64::midpoint(before, after),
        None => before - HOP_STEP,
    };
    placed.relevance = Some(hop.relevance);
    placed.breakdown.hop += score - placed.breakdown.total;
    placed.breakdown.total = score;
    ranked.insert(at, placed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::rank::tests::{record, turn};

    fn hit(item: RecallItem, relevance: f64, total: f64) -> Ranked {
        Ranked {
            item,
            breakdown: ScoreBreakdown {
                fused: total,
                total,
                ..ScoreBreakdown::default()
            },
            relevance: Some(relevance),
            duplicates: Vec::new(),
        }
    }

    /// Creates hits `h0`, `h1`… with these relevances.
    fn hits(relevances: &[f64]) -> Vec<Ranked> {
        let total = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0];
        let rated = relevances.iter().zip(total).enumerate();
        rated
            .map(|(n, (relevance, total))| {
                let item = RecallItem::Record(Box::new(record(&format!("h{n}"))));
                hit(item, *relevance, total)
            })
            .collect()
    }

    fn hop(text: &str, strong: &Ranked, relevance: f64) -> Hop {
        Hop {
            record: record(text),
            strong: strong.item.id(),
            relevance,
            direct: 0.0,
        }
    }

    fn texts(ranked: &[Ranked]) -> Vec<&str> {
        for pair in ranked.windows(2) {
            assert!(pair[0].breakdown.total > pair[1].breakdown.total);
        }
        for hit in ranked {
            let parts = hit.breakdown;
            assert!((parts.fused + parts.hop - parts.total).abs() < 1e-9);
        }
        ranked.iter().map(|hit| hit.item.text()).collect()
    }

    #[test]
    fn hop_follows_strong_and_more_relevant_hits() {
        for (direct, relevance, expected) in [
            (&[0.9, 0.1, 0.1][..], 0.45, &["h0", "x", "h1", "h2"][..]),
            (&[0.9, 0.4, 0.1], 0.5, &["h0", "h1", "x", "h2"]),
            (&[0.4, 0.3, 0.1], 0.2, &["h0", "h1", "x", "h2"]),
            (&[0.4, 0.3, 0.3], 0.2, &["h0", "h1", "h2", "x"]),
            (&[0.4], 0.2, &["h0", "x"]),
        ] {
            let mut ranked = hits(direct);
            let x = hop("x", &ranked[0], relevance);
            assert!(place_hops(&mut ranked, vec![x]));
            assert_eq!(texts(&ranked), expected, "{direct:?} {relevance}");
        }
    }

    #[test]
    fn direct_hit_is_raised_once_and_never_lowered() {
        let mut ranked = hits(&[0.9, 0.2, 0.2, 0.1]);
        let last = hop("", &ranked[0], 0.45);
        let RecallItem::Record(own) = ranked[3].item.clone() else {
            panic!("a record");
        };
        let last = Hop {
            record: *own,
            ..last
        };
        assert!(place_hops(&mut ranked, vec![last.clone(), last.clone()]));
        assert_eq!(texts(&ranked), ["h0", "h3", "h1", "h2"]);
        assert_eq!(ranked[1].relevance, Some(0.45));
        // The hit has this relevance now.
        assert!(!place_hops(&mut ranked, vec![last]));
        // In front of the strong hit it keeps its place.
        let mut ranked = hits(&[0.1, 0.9]);
        let RecallItem::Record(own) = ranked[0].item.clone() else {
            panic!("a record");
        };
        let first = Hop {
            record: *own,
            strong: ranked[1].item.id(),
            relevance: 0.45,
            direct: 0.0,
        };
        assert!(place_hops(&mut ranked, vec![first]));
        assert_eq!(texts(&ranked), ["h0", "h1"]);
        assert_eq!(ranked[0].relevance, Some(0.45));
    }

    #[test]
    fn most_relevant_hops_are_placed_up_to_limit() {
        let mut ranked = hits(&[0.9, 0.1]);
        let hops = |ranked: &[Ranked]| -> Vec<Hop> {
            let names = ["a", "b", "c", "d"]
                .into_iter()
                .zip([0.45, 0.54, 0.45, 0.45]);
            names
                .map(|(text, relevance)| hop(text, &ranked[0], relevance))
                .collect()
        };
        let many = hops(&ranked);
        assert_eq!(many.len(), limits::HOP_RECORDS_MAX + 1);
        place_hops(&mut ranked, many);
        assert_eq!(texts(&ranked), ["h0", "b", "a", "c", "h1"]);
        // Equal ones are in the order of their own relevance.
        let mut ranked = hits(&[0.9, 0.1]);
        let mut equal = vec![hop("a", &ranked[0], 0.45), hop("b", &ranked[0], 0.45)];
        equal[1].direct = 0.1;
        place_hops(&mut ranked, equal);
        assert_eq!(texts(&ranked), ["h0", "b", "a", "h1"]);
        // A near-duplicate of a hit is no new hit.
        let mut ranked = hits(&[0.9, 0.1]);
        let x = hop("x", &ranked[0], 0.45);
        ranked[1].duplicates.push(x.record.id);
        assert!(!place_hops(&mut ranked, vec![x]));
    }

    #[test]
    fn strong_records_exclude_turns_and_weak_hits_up_to_limit() {
        let mut ranked = hits(&[0.9, 0.3, TELL_MIN, 0.8, 0.7]);
        ranked.insert(0, hit(turn("t"), 0.9, 10.0));
        let strong = strong_records(&ranked);
        assert_eq!(strong.len(), limits::HOP_STRONG_HITS_MAX);
        let names: Vec<&str> = strong.iter().map(|(one, _)| one.text.as_str()).collect();
        assert_eq!(names, ["h0", "h2", "h3"]);
    }

    #[test]
    fn text_relevance_is_higher_with_words_of_question() {
        let terms = QueryTerms::of("which port does the service use").terms;
        let dfs = vec![3; terms.len()];
        let question = Question::new("which port does the service use", &terms, &dfs, 100);
        let of_text = |text: &str| text_relevance(&question, &record(text));
        assert!(of_text("src/a.rs: the service port is 80") > of_text("src/a.rs is long"));
    }

    #[test]
    fn word_of_query_beside_identifier_raises_relevance() {
        let query = QueryTerms::of("which port does src/a.rs use").terms;
        let with =
            |text: &str, strong: f64| hop_relevance(&query, "src/a.rs", &record(text), strong);
        assert!((with("src/a.rs listens on 80", 0.5) - 0.25).abs() < 1e-9);
        assert!((with("src/a.rs: port 80", 0.5) - 0.3).abs() < 1e-9);
        // A hop is never told unasked.
        assert!(with("src/a.rs: port 80", 1.0) < TELL_MIN);
    }
}
