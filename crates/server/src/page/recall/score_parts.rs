//! Parts of a hit's score: the bar, its legend, and the table of numbers.

use crate::page::view::recall::ScorePart;
use crate::page::view::{Html, chart};
use heirloom_model::{Kind, text};
use heirloom_search::recall::{Ranked, RecallItem};
use std::collections::BTreeSet;

/// Names of the series of the bar, in fixed order; each sums related parts.
const SERIES: [&str; 7] = [
    "words",
    "meaning",
    "name or phrase",
    "age",
    "confirmations and marks",
    "kind and scope",
    "rest of the conversation",
];
/// Least absolute value of a part that is shown.
const PART_MIN: f64 = 0.004;

/// Row of a score: series, name, origin, value.
type ScoreRow = (usize, &'static str, String, f64);

/// Returns the parts that change the score of a hit.
fn parts(hit: &Ranked) -> Vec<ScoreRow> {
    let parts = &hit.breakdown;
    let confidence = match &hit.item {
        RecallItem::Record(record) => format!("confidence {:.2}", record.confidence.get()),
        RecallItem::Turn { .. } => String::new(),
    };
    let kind = hit.item.kind().map_or("turn", Kind::as_str);
    let rows: [(usize, &'static str, &str, f64); 15] = [
        (1, "words", "rare words count more", parts.words),
        (1, "neighbours", "words next to each other", parts.proximity),
        (
            2,
            "meaning",
            "similarity of the texts",
            parts.fused - parts.words,
        ),
        (3, "phrase", "the phrase in quotes", parts.phrases),
        (3, "name", "its key or path is in the question", parts.exact),
        (3, "shared name", "a name that a strong hit has", parts.hop),
        (
            3,
            "speaker",
            "the question names the speaker",
            parts.speaker,
        ),
        (4, "age", "newer items rank higher", parts.recency),
        (4, "date", "near a date in the question", parts.dates),
        (
            5,
            "confirmations",
            "sources that agree",
            parts.confirmations,
        ),
        (5, "useful", "marks by people", parts.useful),
        (5, "confidence", &confidence, parts.confidence),
        (6, "kind", kind, parts.kind),
        (6, "scope", "same task or session", parts.scope),
        (
            7,
            "conversation",
            "other turns that match",
            parts.conversation,
        ),
    ];
    let rows = rows.into_iter().filter(|(.., adds)| adds.abs() > PART_MIN);
    rows.map(|(series, name, because, adds)| (series, name, because.to_owned(), adds))
        .collect()
}

/// Returns the value of each series that adds to the score. A negative part reduces its series.
fn series(hit: &Ranked) -> Vec<(usize, f64)> {
    let mut sums = [0.0; SERIES.len()];
    for (series, _, _, adds) in parts(hit) {
        if let Some(sum) = sums.get_mut(series - 1) {
            *sum += adds;
        }
    }
    let numbered = (1..).zip(sums);
    numbered.filter(|(_, sum)| *sum > PART_MIN).collect()
}

/// Returns the share of a score that is from the meaning and from the conversation, 0 to 1.
pub(super) fn shares(hit: &Ranked) -> (f64, f64) {
    let series = series(hit);
    let whole: f64 = series.iter().map(|(_, sum)| sum).sum();
    let share = |wanted: usize| {
        let found = series.iter().find(|(series, _)| *series == wanted);
        found.map_or(0.0, |(_, sum)| sum / whole)
    };
    (share(2), share(7))
}

/// Draws the bar of a hit: as long as its relevance, or as its score relative to `best` without one, and divided by the
/// parts of the score. Empty without a score.
pub(super) fn bar(hit: &Ranked, best: f64) -> Html {
    let series = series(hit);
    let whole: f64 = series.iter().map(|(_, sum)| sum).sum();
    if whole <= 0.0 {
        return Html::default();
    }
    let length = hit.relevance.unwrap_or(hit.breakdown.total / best.max(1.0));
    let piece = |(at, sum): &(usize, f64)| {
        let name = SERIES.get(at - 1).copied().unwrap_or_default();
        let words = format!("{name} {}", text::percent(sum / whole));
        (*at, sum / whole * length.clamp(0.0, 1.0), words)
    };
    let pieces: Vec<(usize, f64, String)> = series.iter().map(piece).collect();
    let labels: Vec<&str> = pieces.iter().map(|(.., words)| words.as_str()).collect();
    let label = format!("The score is {}", labels.join(", "));
    chart::parts(&label, 1.0, &pieces)
}

/// Returns the rows of the table of a hit.
pub(super) fn table(hit: &Ranked) -> Vec<ScorePart> {
    let rows = parts(hit).into_iter();
    rows.map(|(series, name, because, adds)| ScorePart {
        series,
        name,
        because,
        adds: format!("{adds:+.2}"),
    })
    .collect()
}

/// Returns the series that occur in the bars of these hits, in order.
pub(super) fn legend<'h>(hits: impl Iterator<Item = &'h Ranked>) -> Vec<(usize, &'static str)> {
    let used: BTreeSet<usize> = hits.flat_map(series).map(|(series, _)| series).collect();
    let named = used
        .into_iter()
        .filter_map(|at| SERIES.get(at - 1).map(|name| (at, *name)));
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::super::explanation::tests::hit;
    use super::*;

    #[test]
    fn bar_is_as_long_as_the_relevance_and_has_the_parts_of_the_score() {
        let mut hit = hit("the port is 5432");
        hit.relevance = Some(0.5);
        hit.breakdown.fused = 4.0;
        hit.breakdown.words = 3.0;
        hit.breakdown.confidence = -0.1;
        let drawn = bar(&hit, 9.0).to_string();
        for expected in [
            "The score is words 75 %, meaning 25 %",
            "class=\"c1\" x=\"0.0%\" width=\"37.0%\"",
            "class=\"c2\" x=\"37.5%\" width=\"12.0%\"",
        ] {
            assert!(drawn.contains(expected), "{drawn}");
        }
        assert!(!drawn.contains("c5"), "a deduction has no colour: {drawn}");
        assert_eq!(
            legend(std::iter::once(&hit)),
            [(1, "words"), (2, "meaning")]
        );
        let adds: Vec<String> = table(&hit).into_iter().map(|part| part.adds).collect();
        assert_eq!(adds, ["+3.00", "+1.00", "-0.10"]);
    }

    #[test]
    fn bar_of_a_hit_of_filters_alone_is_empty() {
        assert_eq!(bar(&hit("x"), 1.0), Html::default());
    }
}
