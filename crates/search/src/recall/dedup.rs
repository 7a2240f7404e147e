//! Deduplication of hits, and selection of diverse hits for a token budget (MMR).

use super::rank::Ranked;
use super::recall_item::RecallItem;
use super::weights;
use heirloom_model::similarity::ComparableText;

/// Number of hits that are searched for near-duplicates after the list is full. Near-duplicates have similar scores.
const LOOKAHEAD: usize = 12;

/// Returns the first `k` distinct hits, each with its near-duplicates. Of near-duplicates the newest is shown, at the
/// place of the best, because it is the likelier correction.
///
/// Turns of conversations are never grouped, because their position matters.
pub fn deduplicate(ranked: Vec<Ranked>, k: usize) -> Vec<Ranked> {
    let mut retained: Vec<(Ranked, Option<ComparableText>)> = Vec::new();
    let mut looked_ahead = 0;
    for mut one in ranked {
        if retained.len() >= k {
            looked_ahead += 1;
        }
        if looked_ahead > LOOKAHEAD {
            break;
        }
        let comparable = match &one.item {
            RecallItem::Record(record) => Some(ComparableText::from_text(&record.text)),
            RecallItem::Turn { .. } => None,
        };
        let head = retained.iter().position(|(head, theirs)| {
            head.item.kind() == one.item.kind()
                && matches!((theirs, &comparable), (Some(theirs), Some(comparable)) if theirs.is_near_duplicate(comparable))
        });
        match head {
            Some(at) => {
                let head = &mut retained[at].0;
                if head.item.recorded_at() < one.item.recorded_at() {
                    std::mem::swap(&mut head.item, &mut one.item);
                }
                head.duplicates.push(one.item.id());
            }
            None if retained.len() < k => retained.push((one, comparable)),
            // A near-duplicate of nothing, after the list is full.
            None => {}
        }
    }
    retained.into_iter().map(|(one, _)| one).collect()
}

/// Selects hits for `budget_tokens` greedily by maximal marginal relevance (MMR): the score minus a penalty for
/// similarity to selected hits. The result is in the order of the scores.
pub fn fill_budget_mmr(ranked: Vec<Ranked>, budget_tokens: usize) -> Vec<Ranked> {
    let scores = || ranked.iter().map(|one| one.breakdown.total);
    let best = scores().fold(f64::NEG_INFINITY, f64::max);
    let worst = scores().fold(f64::INFINITY, f64::min);
    let penalty = weights::DIVERSITY_PENALTY * (best - worst).max(0.0);
    let comparable: Vec<ComparableText> = ranked
        .iter()
        .map(|one| ComparableText::from_text(one.item.text()))
        .collect();
    let mut likest = vec![0.0_f64; ranked.len()];
    let mut open: Vec<usize> = (0..ranked.len()).collect();
    let mut chosen = vec![false; ranked.len()];
    let mut left = budget_tokens;
    loop {
        open.retain(|&at| ranked[at].item.tokens() <= left);
        let worth = |at: usize| ranked[at].breakdown.total - penalty * likest[at];
        // If equal, the first one in the list.
        let next = open
            .iter()
            .copied()
            .max_by(|&a, &b| worth(a).total_cmp(&worth(b)).then(b.cmp(&a)));
        let Some(next) = next else { break };
        chosen[next] = true;
        left -= ranked[next].item.tokens();
        open.retain(|&at| at != next);
        for &at in &open {
            likest[at] = likest[at].max(comparable[at].overlap(&comparable[next]));
        }
    }
    let chosen = ranked.into_iter().zip(chosen).filter(|(_, chosen)| *chosen);
    chosen.map(|(one, _)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::rank::ScoreBreakdown;
    use crate::recall::rank::tests::{record, turn};

    fn list(rows: &[(&str, f64)]) -> Vec<Ranked> {
        let one = |(text, total): &(&str, f64)| Ranked {
            item: match text.strip_prefix("turn ") {
                Some(text) => turn(text),
                None => RecallItem::Record(Box::new(record(text))),
            },
            breakdown: ScoreBreakdown {
                total: *total,
                ..ScoreBreakdown::default()
            },
            relevance: None,
            duplicates: Vec::new(),
        };
        rows.iter().map(one).collect()
    }

    fn texts(ranked: &[Ranked]) -> Vec<String> {
        let folded = |one: &Ranked| match one.duplicates.len() {
            0 => one.item.text().to_owned(),
            n => format!("{} (+{n})", one.item.text()),
        };
        ranked.iter().map(folded).collect()
    }

    #[test]
    fn deduplicate_groups_near_duplicates_under_best() {
        let rows = [
            ("Run the tests with nextest.", 5.0),
            ("run tests with nextest", 4.0),
            ("run tests with nextest 2", 3.0),
            ("turn run tests with nextest", 2.0),
            ("turn run tests with nextest", 1.0),
            ("Please run the tests, with nextest!", 0.5),
        ];
        let all = deduplicate(list(&rows), 9);
        assert_eq!(
            texts(&all),
            [
                "Run the tests with nextest. (+2)",
                "run tests with nextest 2",
                "run tests with nextest",
                "run tests with nextest"
            ]
        );
        assert_eq!(
            texts(&deduplicate(list(&rows), 1)),
            ["Run the tests with nextest. (+2)"]
        );
        assert!(deduplicate(list(&rows), 0).is_empty());
    }

    #[test]
    fn deduplicate_shows_newest_of_near_duplicates() {
        let mut ranked = list(&[("Run the tests", 5.0), ("Please run the tests", 4.0)]);
        let RecallItem::Record(newer) = &mut ranked[1].item else {
            panic!("a record");
        };
        let later = newer.recorded_at.as_second() + 60;
        newer.recorded_at = heirloom_model::Timestamp::from_second(later).unwrap();
        let all = deduplicate(ranked, 9);
        assert_eq!(texts(&all), ["Please run the tests (+1)"]);
        assert_eq!(all[0].breakdown.total, 5.0);
    }

    #[test]
    fn fill_budget_mmr_prefers_different_texts() {
        let rows = [
            ("alpha beta gamma delta", 5.0),
            ("alpha beta gamma epsilon", 4.9),
            ("one two three fourteen", 3.5),
            (
                "nothing like it, and long enough to fit nowhere at all",
                0.0,
            ),
        ];
        let all = list(&rows);
        let each = all[0].item.tokens();
        assert_eq!(
            texts(&fill_budget_mmr(list(&rows), 2 * each)),
            ["alpha beta gamma delta", "one two three fourteen"]
        );
        assert_eq!(fill_budget_mmr(list(&rows), 0).len(), 0);
        assert_eq!(fill_budget_mmr(list(&rows), 10_000).len(), 4);
        for budget in 0..60 {
            let tokens: usize = fill_budget_mmr(list(&rows), budget)
                .iter()
                .map(|one| one.item.tokens())
                .sum();
            assert!(tokens <= budget);
        }
    }
}
