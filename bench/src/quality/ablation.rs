//! Ablation: worth of each ranking signal, measured by ranking without it.

use super::data_set::{Data, Query};
use super::haystack::{Haystack, Without};
use super::metrics::{METRIC_NAMES, RankMetrics, differences, means};
use super::{ANSWERS, BASE, IndexedHaystack, Run, Runs, cells, percents, select_metrics};
use crate::{Outcome, results};
use heirloom_engine::{DedupMode, RetrievalMode};
use heirloom_search::recall::{ParsedQuery, Ranked, ScoreBreakdown};

/// Number of candidates that are ranked again when a part of their scores is left out.
const DEEP: usize = 100;
/// Name of the list that is scored here from parts of the index, with nothing left out.
const SCORED_HERE: &str = "nothing, scored outside of the store";

/// Name of the list of more candidates than recall requests from the store, with nothing left out.
const MORE_CANDIDATES: &str = "nothing, of more candidates";

/// Parts of the index and of the query parser that are left out.
const INDEX: [(Without, &str); 7] = [
    (Without::Nothing, SCORED_HERE),
    (Without::Joined, "joined identifiers"),
    (Without::CamelParts, "parts of names in camel case"),
    (Without::Head, "the head"),
    (Without::StopWords, "the list of stop words"),
    (Without::Rarity, "rarity in the question's vector"),
    (Without::Rounding, "rounding of counts to a byte"),
];

/// Share of one signal in a score.
type Part = fn(&ScoreBreakdown) -> f64;

/// Summands of a score that are left out.
const PARTS: [(&str, Part); 13] = [
    (MORE_CANDIDATES, |_| 0.0),
    ("neighbouring words", |parts| parts.proximity),
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

/// Ranks all queries of a haystack without each signal.
pub(super) fn run_ablations(
    indexed: &IndexedHaystack,
    queries: &[(usize, &Query)],
    runs: &mut Runs,
) -> Outcome<()> {
    let now = indexed.engine.now();
    let haystack = Haystack::of(&indexed.records, now);
    for (without, name) in INDEX {
        let postings = haystack.postings(without);
        for (place, query) in queries {
            let parsed = ParsedQuery::parse(&query.text, now);
            let ranked = haystack.ranked(&postings, &parsed);
            runs.record_result(name, *place, first_names(indexed, &ranked), None);
        }
    }
    for (place, query) in queries {
        let folded = indexed
            .recall(&query.text, RetrievalMode::Both, DedupMode::Fold, ANSWERS)?
            .hits;
        let whole = indexed
            .recall(&query.text, RetrievalMode::Both, DedupMode::Keep, DEEP)?
            .hits;
        for (name, arms) in [
            ("words and neighbouring words", RetrievalMode::Meaning),
            ("meaning and neighbouring words", RetrievalMode::Words),
        ] {
            let one_arm = indexed
                .recall(&query.text, arms, DedupMode::Keep, DEEP)?
                .hits;
            let list = first_names(indexed, &rank_without(&one_arm, |parts| parts.proximity));
            runs.record_result(name, *place, list, None);
        }
        for (name, part) in PARTS {
            let list = first_names(indexed, &rank_without(&whole, part));
            runs.record_result(name, *place, list, None);
        }
        runs.record_result(
            "nothing, near-duplicates folded",
            *place,
            first_names(indexed, &folded),
            None,
        );
    }
    Ok(())
}

/// Ranks again without one part of the scores.
fn rank_without(ranked: &[Ranked], part: Part) -> Vec<Ranked> {
    let mut ranked = ranked.to_vec();
    for one in &mut ranked {
        one.breakdown.total -= part(&one.breakdown);
    }
    let age = |one: &Ranked| (one.item.recorded_at(), one.item.id());
    ranked.sort_by(|a, b| {
        let order = b.breakdown.total.total_cmp(&a.breakdown.total);
        order.then_with(|| age(a).cmp(&age(b)))
    });
    ranked
}

fn first_names(indexed: &IndexedHaystack, ranked: &[Ranked]) -> Vec<String> {
    indexed.names_of(ranked.iter().take(ANSWERS).map(|one| one.item.id()))
}

/// Prints for each left-out signal how many lists change, and the loss of quality.
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
    let mut columns = vec!["left out"];
    columns.extend(METRIC_NAMES);
    columns.extend([
        "paraphrases: R@1",
        "R@10",
        "MRR",
        "lists changed",
        "difference of R@1",
        "of R@10",
        "of MRR",
    ]);
    let mut rows = Vec::new();
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
    let (scored_here, more_candidates) = (
        of(SCORED_HERE).unwrap_or(base),
        of(MORE_CANDIDATES).unwrap_or(base),
    );
    // Each run is compared with the one that differs only in the left-out signal.
    let against = |name: &str| match name {
        SCORED_HERE | MORE_CANDIDATES => base,
        _ if INDEX.iter().any(|(_, of)| *of == name) => scored_here,
        _ if PARTS.iter().any(|(of, _)| *of == name) => more_candidates,
        _ => base,
    };
    let signals = signals.iter().map(|run| (run.name.as_str(), run));
    for (name, run) in arms.chain(signals) {
        let base = against(name);
        let metrics = run.metrics(data);
        let changed = run
            .lists
            .iter()
            .zip(&base.lists)
            .filter(|(a, b)| a != b)
            .count();
        rows.push(row(
            name,
            &metrics,
            &base.metrics(data),
            &paraphrases,
            changed,
        ));
    }
    results::table("ablation", &columns, &rows);
}

fn row(
    name: &str,
    metrics: &[RankMetrics],
    base: &[RankMetrics],
    paraphrases: &[usize],
    changed: usize,
) -> Vec<String> {
    let [first, _, tenth, mrr] = means(&select_metrics(metrics, paraphrases));
    let mut row = vec![name.to_owned()];
    row.extend(percents(&means(metrics)));
    row.extend([first, tenth, mrr].map(|mean| format!("{mean:.1}")));
    row.push(changed.to_string());
    let costs = (changed > 0).then(|| differences(metrics, base));
    row.extend(cells(costs.as_ref()));
    row
}
