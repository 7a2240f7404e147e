//! Explanation of a hit's rank: the parts of its score, in words and numbers.

use super::is_same_stem;
use heirloom_model::Kind;
use heirloom_search::recall::{Ranked, RecallItem, ScoreBreakdown};

/// Series of the score bar, in fixed order; each sums related parts.
pub(super) const SERIES: [&str; 6] = [
    "words and meaning",
    "exact",
    "recency",
    "confidence",
    "scope",
    "kind and use",
];

/// Sums the parts of a score by series.
pub(super) fn series(parts: &ScoreBreakdown) -> Vec<(usize, f64)> {
    let exact =
        parts.exact + parts.phrases + parts.proximity + parts.dates + parts.speaker + parts.hop;
    vec![
        (1, parts.fused + parts.conversation),
        (2, exact),
        (3, parts.recency),
        (4, parts.confidence + parts.confirmations),
        (5, parts.scope),
        (6, parts.kind + parts.useful),
    ]
}

/// Returns every part that changes the score, with its origin.
pub(super) fn parts(hit: &Ranked) -> Vec<(usize, &'static str, String, String)> {
    let parts = &hit.breakdown;
    let fused = format!("lexical {:.2}, vector {:.2}", parts.lexical, parts.vector);
    let kind = hit.item.kind().map_or("a turn", Kind::as_str);
    let confidence = match &hit.item {
        RecallItem::Record(record) => format!("{:.2}", record.confidence.get()),
        RecallItem::Turn { .. } => String::new(),
    };
    let rows = [
        (1, "fused", fused, parts.fused),
        (
            1,
            "conversation",
            "matches elsewhere in the session".to_owned(),
            parts.conversation,
        ),
        (
            2,
            "pairs",
            "adjacent query words".to_owned(),
            parts.proximity,
        ),
        (2, "phrases", "phrases in quotes".to_owned(), parts.phrases),
        (
            2,
            "exact",
            "its key is in the query".to_owned(),
            parts.exact,
        ),
        (
            2,
            "dates",
            "matches a date in the query".to_owned(),
            parts.dates,
        ),
        (
            2,
            "speaker",
            "matches a speaker in the query".to_owned(),
            parts.speaker,
        ),
        (
            2,
            "hop",
            "shares an identifier with a strong hit".to_owned(),
            parts.hop,
        ),
        (
            3,
            "recency",
            "half-life of 30 days".to_owned(),
            parts.recency,
        ),
        (4, "confidence", confidence, parts.confidence),
        (
            4,
            "confirmations",
            "confirmed by sources".to_owned(),
            parts.confirmations,
        ),
        (
            5,
            "scope",
            "same task, agent or session".to_owned(),
            parts.scope,
        ),
        (6, "kind", kind.to_owned(), parts.kind),
        (6, "useful", "marked by people".to_owned(), parts.useful),
    ];
    let adding = rows.into_iter().filter(|(.., adds)| adds.abs() > 0.004);
    adding
        .map(|(series, name, raw, adds)| (series, name, raw, format!("{adds:.2}")))
        .collect()
}

/// Returns the explanation in one or two sentences.
pub(super) fn sentence(hit: &Ranked, words: &[String], useful: i64) -> String {
    let lower = hit.item.text().to_lowercase();
    let own: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let found = words
        .iter()
        .filter(|word| own.iter().any(|one| is_same_stem(word, one)))
        .count();
    let mut sentence = match (found, words.len()) {
        (_, 0) => "The newest that fits".to_owned(),
        (0, _) => "No word, close in meaning".to_owned(),
        (n, all) if n == all && all > 1 => format!("All {all} words"),
        (n, all) => format!("{n} of {all} words"),
    };
    if found > 0 && hit.breakdown.vector > 1.0 {
        sentence.push_str(", close in meaning");
    }
    sentence.push('.');
    if hit.breakdown.exact > 0.0 {
        sentence.push_str(" Its key is in the query.");
    }
    if hit.breakdown.hop.abs() > 0.0 {
        sentence.push_str(" Shares a rare identifier with a strong hit.");
    }
    if hit.breakdown.scope > 0.0 {
        sentence.push_str(" Same scope.");
    }
    match useful {
        1.. => sentence.push_str(" Marked useful."),
        0 => {}
        _ => sentence.push_str(" Marked not useful."),
    }
    sentence
}
