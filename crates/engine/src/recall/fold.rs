//! Near-duplicates under the best of them, and a list that fits a budget and says different things.

use super::item::Item;
use super::rank::Ranked;
use super::weights;
use heirloom_model::likeness::Likeness;

/// How many are still looked at behind a full list: near-duplicates of one stand close together.
const BEHIND: usize = 12;

/// The first `k` that differ; each with the near-duplicates that stand close behind it.
///
/// Turns of conversations are never folded: their place is what they are about.
pub fn fold(ranked: Vec<Ranked>, k: usize) -> Vec<Ranked> {
    let mut kept: Vec<(Ranked, Option<Likeness>)> = Vec::new();
    let mut behind = 0;
    for one in ranked {
        if kept.len() >= k {
            behind += 1;
        }
        if behind > BEHIND {
            break;
        }
        let said = match &one.item {
            Item::Record(record) => Some(Likeness::of(&record.text)),
            Item::Turn { .. } => None,
        };
        let head = kept.iter().position(|(head, theirs)| {
            head.item.kind() == one.item.kind()
                && matches!((theirs, &said), (Some(theirs), Some(said)) if theirs.is_near_duplicate(said))
        });
        match head {
            Some(at) => kept[at].0.folded.push(one.item.id()),
            None if kept.len() < k => kept.push((one, said)),
            // One that stands in no list.
            None => {}
        }
    }
    kept.into_iter().map(|(one, _)| one).collect()
}

/// What fits `budget_tokens`, chosen one by one: the best first, less for what is already said. The result
/// stands in the order of the scores.
pub fn fill(ranked: Vec<Ranked>, budget_tokens: usize) -> Vec<Ranked> {
    let scores = || ranked.iter().map(|one| one.parts.total);
    let best = scores().fold(f64::NEG_INFINITY, f64::max);
    let worst = scores().fold(f64::INFINITY, f64::min);
    let penalty = weights::DIVERSITY * (best - worst).max(0.0);
    let said: Vec<Likeness> = ranked
        .iter()
        .map(|one| Likeness::of(one.item.text()))
        .collect();
    let mut likest = vec![0.0_f64; ranked.len()];
    let mut open: Vec<usize> = (0..ranked.len()).collect();
    let mut chosen = vec![false; ranked.len()];
    let mut left = budget_tokens;
    loop {
        open.retain(|&at| ranked[at].item.tokens() <= left);
        let worth = |at: usize| ranked[at].parts.total - penalty * likest[at];
        // On a tie the one that stands first.
        let next = open
            .iter()
            .copied()
            .max_by(|&a, &b| worth(a).total_cmp(&worth(b)).then(b.cmp(&a)));
        let Some(next) = next else { break };
        chosen[next] = true;
        left -= ranked[next].item.tokens();
        open.retain(|&at| at != next);
        for &at in &open {
            likest[at] = likest[at].max(said[at].overlap(&said[next]));
        }
    }
    let chosen = ranked.into_iter().zip(chosen).filter(|(_, chosen)| *chosen);
    chosen.map(|(one, _)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::rank::Parts;
    use crate::recall::rank::tests::{record, turn};

    fn list(rows: &[(&str, f64)]) -> Vec<Ranked> {
        let one = |(text, total): &(&str, f64)| Ranked {
            item: match text.strip_prefix("turn ") {
                Some(text) => turn(text),
                None => Item::Record(Box::new(record(text))),
            },
            parts: Parts {
                total: *total,
                ..Parts::default()
            },
            folded: Vec::new(),
        };
        rows.iter().map(one).collect()
    }

    fn texts(ranked: &[Ranked]) -> Vec<String> {
        let folded = |one: &Ranked| match one.folded.len() {
            0 => one.item.text().to_owned(),
            n => format!("{} (+{n})", one.item.text()),
        };
        ranked.iter().map(folded).collect()
    }

    #[test]
    fn near_duplicates_stand_under_the_best() {
        let rows = [
            ("Run the tests with nextest.", 5.0),
            ("run tests with nextest", 4.0),
            ("run tests with nextest 2", 3.0),
            ("turn run tests with nextest", 2.0),
            ("turn run tests with nextest", 1.0),
            ("RUN the tests, with nextest!", 0.5),
        ];
        let all = fold(list(&rows), 9);
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
            texts(&fold(list(&rows), 1)),
            ["Run the tests with nextest. (+2)"]
        );
        assert!(fold(list(&rows), 0).is_empty());
    }

    #[test]
    fn a_budget_is_filled_with_different_things() {
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
            texts(&fill(list(&rows), 2 * each)),
            ["alpha beta gamma delta", "one two three fourteen"]
        );
        assert_eq!(fill(list(&rows), 0).len(), 0);
        assert_eq!(fill(list(&rows), 10_000).len(), 4);
        for budget in 0..60 {
            let tokens: usize = fill(list(&rows), budget)
                .iter()
                .map(|one| one.item.tokens())
                .sum();
            assert!(tokens <= budget);
        }
    }
}
