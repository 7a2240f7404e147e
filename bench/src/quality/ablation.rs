//! What each signal of the ranking is worth: the lists without it, one at a time.

use super::data::{Data, Query};
use super::haystack::{Haystack, Without};
use super::marks::{Marks, NAMES, differences, means};
use super::{ANSWERS, Asked, BASE, Run, Runs, cells, chosen, percents};
use crate::Outcome;
use heirloom_engine::recall::{Asked as Reading, Parts, Ranked};
use heirloom_engine::{Arms, Doubles};

/// So many are ranked anew when a part of their scores is left out.
const DEEP: usize = 100;
/// The list of the parts of the index put together here, with nothing left out.
const OWN: &str = "nothing, scored outside of the store";

/// The list of more candidates than recall asks the store for, with nothing left out.
const OF_MORE: &str = "nothing, of more candidates";

/// Parts of the index and of the reading of a question.
const INDEX: [(Without, &str); 7] = [
    (Without::Nothing, OWN),
    (Without::Joined, "joined identifiers"),
    (Without::CamelParts, "parts of names in camel case"),
    (Without::Head, "the head"),
    (Without::StopWords, "the list of stop words"),
    (Without::Rarity, "rarity in the question's vector"),
    (Without::Rounding, "rounding of counts to a byte"),
];

/// What one signal adds to a score.
type Part = fn(&Parts) -> f64;

/// Parts of a score that are added up.
const PARTS: [(&str, Part); 13] = [
    (OF_MORE, |_| 0.0),
    ("neighbouring words", |parts| parts.pairs),
    ("phrases in quotes", |parts| parts.phrases),
    ("keys and paths", |parts| parts.exact),
    ("dates in the question", |parts| parts.dates),
    ("conversations", |parts| parts.conversation),
    ("speakers", |parts| parts.speaker),
    ("recency", |parts| parts.recency),
    ("confidence", |parts| parts.confidence),
    ("scope", |parts| parts.scope),
    ("kinds", |parts| parts.kind),
    ("confirmations", |parts| parts.confirmations),
    ("usefulness", |parts| parts.useful),
];

/// Asks all questions of a haystack without each signal.
pub(super) fn ask(asked: &Asked, queries: &[(usize, &Query)], runs: &mut Runs) -> Outcome<()> {
    let now = asked.engine.now();
    let haystack = Haystack::of(&asked.records, now);
    for (without, name) in INDEX {
        let postings = haystack.postings(without);
        for (place, query) in queries {
            let mut reading = Reading::of(&query.text, now);
            if !reading.errors.is_empty() {
                reading = Reading::words(&query.text, now);
            }
            let ranked = haystack.ranked(&postings, &reading);
            runs.put(name, *place, first(asked, &ranked), None);
        }
    }
    for (place, query) in queries {
        let folded = asked
            .recall(&query.text, Arms::Both, Doubles::Fold, ANSWERS)?
            .hits;
        let whole = asked
            .recall(&query.text, Arms::Both, Doubles::Keep, DEEP)?
            .hits;
        for (name, arms) in [
            ("words and neighbouring words", Arms::Meaning),
            ("meaning and neighbouring words", Arms::Words),
        ] {
            let one_arm = asked.recall(&query.text, arms, Doubles::Keep, DEEP)?.hits;
            let list = first(asked, &left_out(&one_arm, |parts| parts.pairs));
            runs.put(name, *place, list, None);
        }
        for (name, part) in PARTS {
            let list = first(asked, &left_out(&whole, part));
            runs.put(name, *place, list, None);
        }
        runs.put(
            "nothing, near-duplicates folded",
            *place,
            first(asked, &folded),
            None,
        );
    }
    Ok(())
}

/// The same in the order that the scores without one part give.
fn left_out(ranked: &[Ranked], part: Part) -> Vec<Ranked> {
    let mut ranked = ranked.to_vec();
    for one in &mut ranked {
        one.parts.total -= part(&one.parts);
    }
    let age = |one: &Ranked| (one.item.recorded_at(), one.item.id());
    ranked.sort_by(|a, b| {
        let order = b.parts.total.total_cmp(&a.parts.total);
        order.then_with(|| age(a).cmp(&age(b)))
    });
    ranked
}

fn first(asked: &Asked, ranked: &[Ranked]) -> Vec<String> {
    asked.named(ranked.iter().take(ANSWERS).map(|one| one.item.id()))
}

/// Prints what was left out, how many lists it changes, and what that costs.
pub(super) fn print(data: &Data, side: &[Run], signals: &[Run]) {
    let Some(base) = side.iter().find(|run| run.name == BASE) else {
        return;
    };
    let places: Vec<usize> = (0..data.queries.len()).collect();
    let paraphrases: Vec<usize> = places
        .iter()
        .copied()
        .filter(|place| data.queries[*place].category == "paraphrase")
        .collect();
    println!(
        "| left out | {} | paraphrases R@1 | R@10 | MRR | lists changed | R@1 | R@10 | MRR |",
        NAMES.join(" | ")
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let arms = [
        ("nothing", BASE),
        ("meaning", "words"),
        ("words", "meaning"),
    ];
    let arms = arms.iter().filter_map(|(name, run)| {
        let run = side.iter().find(|one| one.name == *run)?;
        Some((*name, run))
    });
    let of = |name: &str| signals.iter().find(|run| run.name == name);
    let (own, of_more) = (of(OWN).unwrap_or(base), of(OF_MORE).unwrap_or(base));
    // Each with what differs from it in nothing else.
    let against = |name: &str| match name {
        OWN | OF_MORE => base,
        _ if INDEX.iter().any(|(_, of)| *of == name) => own,
        _ if PARTS.iter().any(|(of, _)| *of == name) => of_more,
        _ => base,
    };
    let signals = signals.iter().map(|run| (run.name.as_str(), run));
    for (name, run) in arms.chain(signals) {
        let base = against(name);
        let marks = run.marks(data);
        let changed = run
            .lists
            .iter()
            .zip(&base.lists)
            .filter(|(a, b)| a != b)
            .count();
        print_row(name, &marks, &base.marks(data), &paraphrases, changed);
    }
    println!();
}

fn print_row(name: &str, marks: &[Marks], base: &[Marks], paraphrases: &[usize], changed: usize) {
    let [first, _, tenth, mrr] = means(&chosen(marks, paraphrases));
    let costs = if changed == 0 {
        "| | |".to_owned()
    } else {
        cells(&differences(marks, base))
    };
    println!(
        "| {name} | {} {first:.1} | {tenth:.1} | {mrr:.1} | {changed} | {costs}",
        percents(&means(marks))
    );
}
