//! Why a hit stands where it stands: the parts of its score, in words and numbers.

use super::is_same;
use heirloom_engine::recall::{Item, Parts, Ranked};
use heirloom_model::Kind;

/// What a bar shows, always in this order; each is the sum of parts of one sort.
pub(super) const SERIES: [&str; 6] = [
    "words and meaning",
    "exact",
    "recency",
    "confidence",
    "scope",
    "kind and use",
];

/// The parts of a score by series.
pub(super) fn series(parts: &Parts) -> Vec<(usize, f64)> {
    let exact = parts.exact + parts.phrases + parts.pairs + parts.dates + parts.speaker;
    vec![
        (1, parts.fused + parts.conversation),
        (2, exact),
        (3, parts.recency),
        (4, parts.confidence + parts.confirmations),
        (5, parts.scope),
        (6, parts.kind + parts.useful),
    ]
}

/// Every part that adds something, with what it comes from.
pub(super) fn parts(hit: &Ranked) -> Vec<(usize, &'static str, String, String)> {
    let parts = &hit.parts;
    let fused = format!("lexical {:.2}, vector {:.2}", parts.lexical, parts.vector);
    let kind = hit.item.kind().map_or("a turn", Kind::as_str);
    let confidence = match &hit.item {
        Item::Record(record) => format!("{:.2}", record.confidence.get()),
        Item::Turn { .. } => String::new(),
    };
    let rows = [
        (1, "fused", fused, parts.fused),
        (
            1,
            "conversation",
            "what the session says around it".to_owned(),
            parts.conversation,
        ),
        (2, "pairs", "words side by side".to_owned(), parts.pairs),
        (2, "phrases", "phrases in quotes".to_owned(), parts.phrases),
        (2, "exact", "its key is named".to_owned(), parts.exact),
        (
            2,
            "dates",
            "a date that is asked for".to_owned(),
            parts.dates,
        ),
        (2, "speaker", "who is asked about".to_owned(), parts.speaker),
        (
            3,
            "recency",
            "half of it in 30 days".to_owned(),
            parts.recency,
        ),
        (4, "confidence", confidence, parts.confidence),
        (
            4,
            "confirmations",
            "said again".to_owned(),
            parts.confirmations,
        ),
        (
            5,
            "scope",
            "near to where one stands".to_owned(),
            parts.scope,
        ),
        (6, "kind", kind.to_owned(), parts.kind),
        (6, "useful", "marked by people".to_owned(), parts.useful),
    ];
    let told = rows.into_iter().filter(|(.., adds)| adds.abs() > 0.004);
    told.map(|(series, name, raw, adds)| (series, name, raw, format!("{adds:.2}")))
        .collect()
}

/// It in one sentence or two.
pub(super) fn sentence(hit: &Ranked, words: &[String], useful: i64) -> String {
    let lower = hit.item.text().to_lowercase();
    let own: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let found = words
        .iter()
        .filter(|word| own.iter().any(|one| is_same(word, one)))
        .count();
    let mut said = match (found, words.len()) {
        (_, 0) => "The newest that fits".to_owned(),
        (0, _) => "No word, close in meaning".to_owned(),
        (n, all) if n == all && all > 1 => format!("All {all} words"),
        (n, all) => format!("{n} of {all} words"),
    };
    if found > 0 && hit.parts.vector > 1.0 {
        said.push_str(", close in meaning");
    }
    said.push('.');
    if hit.parts.exact > 0.0 {
        said.push_str(" Its key is named.");
    }
    if hit.parts.scope > 0.0 {
        said.push_str(" Same scope.");
    }
    match useful {
        1.. => said.push_str(" Marked useful."),
        0 => {}
        _ => said.push_str(" Marked not useful."),
    }
    said
}
