//! What recall finds: words, meaning, both, and SQLite's FTS5 side by side over one data set, and what each signal
//! of the ranking is worth.

mod ablation;
mod data;
mod haystack;
mod marks;

use crate::Outcome;
use crate::fts5::Fts5;
use crate::probe;
use crate::stats::Times;
pub(crate) use data::{Data, Document, records};
use heirloom_engine::{Arms, Carried, Doubles, Engine, Reading, RecallRequest, Recalled};
use heirloom_index::words::Question;
use heirloom_model::{ErrorKind, Record, RecordId};
use marks::{Difference, Marks, differences, means};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

/// Answers that are looked at.
const ANSWERS: usize = 20;
/// What everything is compared with.
const BASE: &str = "words and meaning";

/// The lists that one method gave for all questions, in their order.
pub(crate) struct Run {
    name: String,
    lists: Vec<Vec<String>>,
    took: Vec<Duration>,
}

/// The runs in the order in which they came up.
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

    /// Puts down what a method answered to a question.
    fn put(&mut self, name: &str, question: usize, list: Vec<String>, took: Option<Duration>) {
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
    fn marks(&self, data: &Data) -> Vec<Marks> {
        let questions = data.queries.iter().zip(&self.lists);
        questions
            .map(|(query, list)| Marks::of(list, &query.gold))
            .collect()
    }
}

/// One haystack with everything that can be asked in it.
struct Asked {
    engine: Engine,
    names: HashMap<RecordId, String>,
    records: Vec<Record>,
    fts: Fts5,
    documents: Vec<String>,
    /// The engine's files are there as long as it is.
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
        let asked = Asked::of(documents)?;
        let queries: Vec<_> = data.asked(haystack).collect();
        eprintln!(
            "{haystack}: {} documents, {} questions",
            documents.len(),
            queries.len()
        );
        for method in Method::ALL {
            // The first fill the caches.
            for (_, query) in queries.iter().take(20) {
                asked.answers(method, &query.text)?;
            }
            for (place, query) in &queries {
                let start = Instant::now();
                let list = asked.answers(method, &query.text)?;
                let took = start.elapsed();
                side.put(method.name(), *place, list, Some(took));
            }
        }
        ablation::ask(&asked, &queries, &mut signals)?;
    }
    print_side_by_side(&data, &side.runs);
    ablation::print(&data, &side.runs, &signals.runs);
    Ok(())
}

/// What is compared.
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

impl Asked {
    fn of(documents: &[Document]) -> Outcome<Self> {
        let root = tempfile::tempdir()?;
        let engine = probe::engine(root.path())?;
        let records = data::records(&engine, documents);
        let carried = Carried {
            records: (1..).zip(records.iter().cloned()).collect(),
            ..Carried::default()
        };
        let report = engine.import_all(carried, "bench quality")?;
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

    fn answers(&self, method: Method, question: &str) -> Outcome<Vec<String>> {
        let arms = match method {
            Method::Both => Arms::Both,
            Method::Words => Arms::Words,
            Method::Meaning => Arms::Meaning,
            Method::Fts5 => return self.fts5(question, |_| true),
            Method::Fts5WithoutStops => return self.fts5(question, |word| !is_stop(word)),
        };
        let recalled = self.recall(question, arms, Doubles::Keep, ANSWERS)?;
        Ok(self.named(recalled.hits.iter().map(|hit| hit.item.id())))
    }

    /// What the engine recalls, as `heirloom bench recall` asks.
    fn recall(&self, question: &str, arms: Arms, doubles: Doubles, k: usize) -> Outcome<Recalled> {
        let mut request = RecallRequest {
            question: question.to_owned(),
            k: Some(k),
            arms,
            doubles,
            ..RecallRequest::default()
        };
        Ok(match self.engine.recall(&request) {
            Err(fault) if fault.kind == ErrorKind::Usage => {
                request.reading = Reading::Words;
                self.engine.recall(&request)?
            }
            other => other?,
        })
    }

    fn named(&self, ids: impl Iterator<Item = RecordId>) -> Vec<String> {
        ids.filter_map(|id| self.names.get(&id).cloned()).collect()
    }

    fn fts5(&self, question: &str, keeps: impl Fn(&str) -> bool) -> Outcome<Vec<String>> {
        let small = question.to_lowercase();
        let is_between = |c: char| !c.is_alphanumeric() && c != '_';
        let words: BTreeSet<&str> = small
            .split(is_between)
            .filter(|word| !word.is_empty())
            .collect();
        let rows = self
            .fts
            .ask(words.into_iter().filter(|word| keeps(word)), ANSWERS)?;
        let id = |row: &usize| self.documents.get(row.checked_sub(1)?).cloned();
        Ok(rows.iter().filter_map(id).collect())
    }
}

/// Whether recall takes a word for one that says little: beside another word it drops it.
fn is_stop(word: &str) -> bool {
    Question::of(&format!("{word} qqzz")).terms.len() == 1
}

/// Groups of questions by name, with the places of theirs: all, categories, haystacks.
fn groups(data: &Data) -> Vec<(String, Vec<usize>)> {
    let places = |wanted: &dyn Fn(&data::Query) -> bool| -> Vec<usize> {
        let all = data.queries.iter().enumerate();
        all.filter(|(_, query)| wanted(query))
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

fn chosen(marks: &[Marks], places: &[usize]) -> Vec<Marks> {
    places.iter().map(|place| marks[*place]).collect()
}

fn print_side_by_side(data: &Data, runs: &[Run]) {
    println!(
        "| questions | by | R@1 | R@5 | R@10 | MRR | against {BASE}: R@1 | R@10 | MRR | p50 ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let marks: Vec<Vec<Marks>> = runs.iter().map(|run| run.marks(data)).collect();
    let base = runs.iter().position(|run| run.name == BASE).unwrap_or(0);
    for (group, places) in groups(data) {
        let against = chosen(&marks[base], &places);
        for (n, run) in runs.iter().enumerate() {
            let own = chosen(&marks[n], &places);
            let differs = if n == base {
                "| | |".to_owned()
            } else {
                cells(&differences(&own, &against))
            };
            let title = if n == 0 {
                format!("{group} ({})", places.len())
            } else {
                String::new()
            };
            let time = if group == "all" {
                format!("{:.2}", Times::of(&run.took).p50())
            } else {
                String::new()
            };
            println!(
                "| {title} | {} | {} {differs} {time} |",
                run.name,
                percents(&means(&own))
            );
        }
    }
    println!();
}

/// Four cells of percentages, with the bar behind them.
fn percents(means: &[f64; 4]) -> String {
    means
        .iter()
        .map(|mean| format!("{mean:.1} |"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The cells of R@1, R@10 and MRR.
fn cells([first, _, tenth, mrr]: &[Difference; 4]) -> String {
    format!("{first} | {tenth} | {mrr} |")
}
