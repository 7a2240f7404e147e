//! Quality of recall: words, vectors, both, and SQLite's FTS5 side by side on one data set, and the worth of each
//! ranking signal.

mod ablation;
mod data_set;
mod haystack;
mod metrics;

use crate::fts5::Fts5;
use crate::stats::Times;
use crate::{Outcome, fixture, results};
pub(crate) use data_set::{Data, Document, Query};
use heirloom_engine::{
    ConversationHits, DedupMode, Engine, ImportBundle, QuerySyntax, RecallReport, RecallRequest,
    RetrievalMode,
};
use heirloom_model::{ErrorKind, Record, RecordId};
use heirloom_search::index::tokenizer::QueryTerms;
use metrics::{Difference, RankMetrics, differences, means};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

/// Number of answers that are scored.
const ANSWERS: usize = 20;
/// Name of the method that the others are compared with.
const BASE: &str = "words and meaning";

/// Result lists of one method for all queries, in their order.
pub(crate) struct Run {
    name: String,
    lists: Vec<Vec<String>>,
    took: Vec<Duration>,
}

/// Runs in the order of their first result.
#[derive(Default)]
pub(crate) struct Runs {
    runs: Vec<Run>,
    questions: usize,
}

impl Runs {
    fn of(questions: usize) -> Self {
        Self {
            runs: Vec::new(),
            questions,
        }
    }

    /// Stores the result of a method for a query.
    fn record_result(
        &mut self,
        name: &str,
        question: usize,
        list: Vec<String>,
        took: Option<Duration>,
    ) {
        let known = self.runs.iter().position(|run| run.name == name);
        let place = known.unwrap_or_else(|| {
            self.runs.push(Run {
                name: name.to_owned(),
                lists: vec![Vec::new(); self.questions],
                took: Vec::new(),
            });
            self.runs.len() - 1
        });
        let run = &mut self.runs[place];
        run.lists[question] = list;
        run.took.extend(took);
    }
}

impl Run {
    fn metrics(&self, data: &Data) -> Vec<RankMetrics> {
        let questions = data.queries.iter().zip(&self.lists);
        questions
            .map(|(query, list)| RankMetrics::of(list, &query.gold))
            .collect()
    }
}

/// One haystack with its engine and its FTS5 table.
struct IndexedHaystack {
    engine: Engine,
    names: HashMap<RecordId, String>,
    records: Vec<Record>,
    fts: Fts5,
    documents: Vec<String>,
    /// Keeps the engine's files until it is dropped.
    _root: tempfile::TempDir,
}

pub(crate) fn measure(folder: Option<&Path>) -> Outcome<()> {
    let Some(folder) = folder else {
        println!("quality: skipped, no --data FOLDER and no HEIRLOOM_BENCH_DATA");
        return Ok(());
    };
    let data = Data::read(folder)?;
    let (mut side, mut signals) = (Runs::of(data.queries.len()), Runs::of(data.queries.len()));
    for (haystack, documents) in &data.haystacks {
        let indexed = IndexedHaystack::of(documents)?;
        let queries: Vec<_> = data.queries_of(haystack).collect();
        eprintln!(
            "{haystack}: {} documents, {} questions",
            documents.len(),
            queries.len()
        );
        for method in Method::ALL {
            // The first queries fill the caches.
            for (_, query) in queries.iter().take(20) {
                indexed.ranked_ids(method, &query.text)?;
            }
            for (place, query) in &queries {
                let start = Instant::now();
                let list = indexed.ranked_ids(method, &query.text)?;
                let took = start.elapsed();
                side.record_result(method.name(), *place, list, Some(took));
            }
        }
        ablation::run_ablations(&indexed, &queries, &mut signals)?;
    }
    print_side_by_side(&data, &side.runs);
    ablation::print(&data, &side.runs, &signals.runs);
    Ok(())
}

/// Methods that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Both,
    Words,
    Meaning,
    Fts5,
    Fts5WithoutStops,
}

impl Method {
    const ALL: [Self; 5] = [
        Self::Both,
        Self::Words,
        Self::Meaning,
        Self::Fts5,
        Self::Fts5WithoutStops,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Both => BASE,
            Self::Words => "words",
            Self::Meaning => "meaning",
            Self::Fts5 => "FTS5, OR of all words",
            Self::Fts5WithoutStops => "FTS5, OR without stop words",
        }
    }
}

impl IndexedHaystack {
    fn of(documents: &[Document]) -> Outcome<Self> {
        let root = tempfile::tempdir()?;
        let engine = fixture::engine(root.path())?;
        let records = data_set::records(&engine, documents);
        let carried = ImportBundle {
            records: (1..).zip(records.iter().cloned()).collect(),
            ..ImportBundle::default()
        };
        let report = engine.imports().import_bundle(carried, "bench quality")?;
        if let Some(problem) = report.diagnostics.first() {
            return Err(format!("document {}: {}", problem.line, problem.message).into());
        }
        let fts = Fts5::in_memory()?;
        let texts: Vec<String> = documents
            .iter()
            .map(|document| document.text.clone())
            .collect();
        fts.add(&texts)?;
        let ids: Vec<String> = documents
            .iter()
            .map(|document| document.id.clone())
            .collect();
        Ok(Self {
            names: records
                .iter()
                .map(|record| record.id)
                .zip(ids.iter().cloned())
                .collect(),
            documents: ids,
            engine,
            records,
            fts,
            _root: root,
        })
    }

    fn ranked_ids(&self, method: Method, question: &str) -> Outcome<Vec<String>> {
        let arms = match method {
            Method::Both => RetrievalMode::Both,
            Method::Words => RetrievalMode::Words,
            Method::Meaning => RetrievalMode::Meaning,
            Method::Fts5 => return self.fts5(question, |_| true),
            Method::Fts5WithoutStops => return self.fts5(question, |word| !is_stop(word)),
        };
        let recalled = self.recall(question, arms, DedupMode::Keep, ANSWERS)?;
        // Documents of both lanes are one list here.
        let mut hits: Vec<_> = recalled
            .hits
            .iter()
            .chain(&recalled.conversations)
            .collect();
        hits.sort_by(|a, b| b.breakdown.total.total_cmp(&a.breakdown.total));
        Ok(self.names_of(hits.iter().take(ANSWERS).map(|hit| hit.item.id())))
    }

    /// Recalls as `heirloom bench recall` does.
    fn recall(
        &self,
        question: &str,
        arms: RetrievalMode,
        doubles: DedupMode,
        k: usize,
    ) -> Outcome<RecallReport> {
        let mut request = RecallRequest {
            question: question.to_owned(),
            k: Some(k),
            mode: arms,
            dedup: doubles,
            min_relevance: Some(0.0),
            conversations: ConversationHits::All,
            ..RecallRequest::default()
        };
        Ok(match self.engine.recall().search(&request) {
            Err(fault) if fault.kind == ErrorKind::Usage => {
                request.syntax = QuerySyntax::Words;
                self.engine.recall().search(&request)?
            }
            other => other?,
        })
    }

    fn names_of(&self, ids: impl Iterator<Item = RecordId>) -> Vec<String> {
        ids.filter_map(|id| self.names.get(&id).cloned()).collect()
    }

    fn fts5(&self, question: &str, is_kept: impl Fn(&str) -> bool) -> Outcome<Vec<String>> {
        let small = question.to_lowercase();
        let is_between = |c: char| !c.is_alphanumeric() && c != '_';
        let words: BTreeSet<&str> = small
            .split(is_between)
            .filter(|word| !word.is_empty())
            .collect();
        let rows = self
            .fts
            .search(words.into_iter().filter(|word| is_kept(word)), ANSWERS)?;
        let id = |row: &usize| self.documents.get(row.checked_sub(1)?).cloned();
        Ok(rows.iter().filter_map(id).collect())
    }
}

/// Returns true if recall treats a word as a stop word: it drops one next to another word.
fn is_stop(word: &str) -> bool {
    QueryTerms::of(&format!("{word} qqzz")).terms.len() == 1
}

/// Returns groups of queries by name, with the indexes of their queries: all, categories, haystacks.
fn query_groups(data: &Data) -> Vec<(String, Vec<usize>)> {
    let places = |predicate: &dyn Fn(&data_set::Query) -> bool| -> Vec<usize> {
        let all = data.queries.iter().enumerate();
        all.filter(|(_, query)| predicate(query))
            .map(|(place, _)| place)
            .collect()
    };
    let categories: BTreeSet<&str> = data
        .queries
        .iter()
        .map(|query| query.category.as_str())
        .collect();
    let mut groups = vec![("all".to_owned(), places(&|_| true))];
    for category in categories {
        groups.push((
            category.to_owned(),
            places(&|query| query.category == category),
        ));
    }
    for haystack in data.haystacks.keys() {
        groups.push((
            haystack.clone(),
            places(&|query| query.haystack == *haystack),
        ));
    }
    groups.retain(|(_, places)| !places.is_empty());
    groups
}

fn select_metrics(metrics: &[RankMetrics], places: &[usize]) -> Vec<RankMetrics> {
    places.iter().map(|place| metrics[*place]).collect()
}

fn print_side_by_side(data: &Data, runs: &[Run]) {
    let columns = [
        "questions",
        "by",
        "R@1",
        "R@5",
        "R@10",
        "MRR",
        "difference of R@1",
        "of R@10",
        "of MRR",
        "median, ms",
    ];
    let mut rows = Vec::new();
    let metrics: Vec<Vec<RankMetrics>> = runs.iter().map(|run| run.metrics(data)).collect();
    let base = runs.iter().position(|run| run.name == BASE).unwrap_or(0);
    for (group, places) in query_groups(data) {
        let against = select_metrics(&metrics[base], &places);
        for (n, run) in runs.iter().enumerate() {
            let own = select_metrics(&metrics[n], &places);
            let title = format!("{group} ({})", places.len());
            let mut row = vec![title, run.name.clone()];
            row.extend(percents(&means(&own)));
            let differs = (n != base).then(|| differences(&own, &against));
            row.extend(cells(differs.as_ref()));
            let took = (group == "all").then(|| Times::of(&run.took).p50());
            row.push(took.map_or_else(String::new, |ms| format!("{ms:.2}")));
            rows.push(row);
        }
    }
    results::table("quality", &columns, &rows);
}

/// Formats four table cells of percentages.
fn percents(means: &[f64; 4]) -> [String; 4] {
    means.map(|mean| format!("{mean:.1}"))
}

/// Formats the table cells of R@1, R@10 and MRR; empty ones without a difference.
fn cells(differences: Option<&[Difference; 4]>) -> [String; 3] {
    let Some([first, _, tenth, mrr]) = differences else {
        return Default::default();
    };
    [first, tenth, mrr].map(ToString::to_string)
}
