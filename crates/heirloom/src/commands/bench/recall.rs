//! `heirloom bench recall`: a data set through the same recall that everybody gets.

use crate::open::{self, Bench, Session};
use heirloom_engine::recall;
use heirloom_engine::{Arms, Carried, Doubles, Engine, Reading, RecallRequest};
use heirloom_model::record::Attrs;
use heirloom_model::{
    Confidence, ErrorKind, Fault, IdSource, Kind, KindData, Message, Record, RecordId, Role, Scope,
    Timestamp, civil, limits, text, tz,
};
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Rank the documents of a data set for each of its questions
///
/// Every conversation is its own haystack. A document with a session is a turn of that conversation, in the
/// order of the file; one without is a lone record.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Documents, JSONL: {id, conversation, session?, date?, speaker?, text}
    #[arg(long, value_name = "FILE")]
    docs: PathBuf,
    /// Questions, JSONL: {id, conversation, text}
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// Where the ranking goes, JSONL: {id, ranked: [ids], took_us}
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// So many documents a question
    #[arg(short = 'k', value_name = "N", default_value_t = 20)]
    k: usize,
    /// By which arms: lexical, vector, or both
    #[arg(long, value_name = "ARMS", value_delimiter = ',', default_values = ["lexical", "vector"])]
    arms: Vec<Arm>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Arm {
    Lexical,
    Vector,
}

#[derive(Debug, Deserialize)]
struct Document {
    id: String,
    #[serde(default)]
    conversation: String,
    session: Option<String>,
    date: Option<String>,
    speaker: Option<String>,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Query {
    id: String,
    #[serde(default)]
    conversation: String,
    text: String,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let documents: Vec<Document> = lines(&args.docs)?;
    let queries: Vec<Query> = lines(&args.queries)?;
    let count = documents.len();
    let bench = Bench::new(session)?;
    let mut haystacks = Haystacks::of(documents);
    let arms = match (
        args.arms.contains(&Arm::Lexical),
        args.arms.contains(&Arm::Vector),
    ) {
        (true, false) => Arms::Words,
        (false, true) => Arms::Meaning,
        (true, true) | (false, false) => Arms::Both,
    };
    let mut by_conversation: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, query) in queries.iter().enumerate() {
        by_conversation
            .entry(&query.conversation)
            .or_default()
            .push(at);
    }
    let mut answers: Vec<(Vec<String>, u64)> = vec![(Vec::new(), 0); queries.len()];
    for (conversation, asked) in by_conversation {
        let documents = haystacks.take(conversation);
        session.out.talk(&format!(
            "{}: {} documents, {} questions",
            name(conversation),
            documents.len(),
            asked.len()
        ));
        let engine = bench.engine(&name(conversation))?;
        let names = fill(&engine, documents)?;
        for at in asked {
            answers[at] = ranked(&engine, &names, &queries[at].text, args.k, arms)?;
        }
    }
    let mut out = String::new();
    for (query, (ranked, took_us)) in queries.iter().zip(&answers) {
        let line = json!({"id": query.id, "ranked": ranked, "took_us": took_us});
        out.push_str(&format!("{line}\n"));
    }
    open::write_file(&args.out, out.as_bytes())?;
    tell(
        session,
        count,
        answers.into_iter().map(|(_, took_us)| took_us).collect(),
    );
    Ok(0)
}

fn tell(session: &mut Session, documents: usize, mut took_us: Vec<u64>) {
    took_us.sort_unstable();
    let at = |percent: usize| {
        let last = took_us.len().saturating_sub(1);
        took_us.get(last * percent / 100).copied().unwrap_or(0)
    };
    let (queries, p50, p99) = (took_us.len(), at(50), at(99));
    if session.out.json {
        session.out.value(&json!({
            "documents": documents, "queries": queries, "took_us": {"p50": p50, "p99": p99},
        }));
    } else {
        session.out.line(&format!(
            "{documents} documents, {queries} questions, {p50} µs p50, {p99} µs p99"
        ));
    }
}

/// The documents by conversation, each in the order of the file.
struct Haystacks(HashMap<String, Vec<Document>>);

impl Haystacks {
    fn of(documents: Vec<Document>) -> Self {
        let mut all: HashMap<String, Vec<Document>> = HashMap::new();
        for document in documents {
            all.entry(document.conversation.clone())
                .or_default()
                .push(document);
        }
        Self(all)
    }

    fn take(&mut self, conversation: &str) -> Vec<Document> {
        self.0.remove(conversation).unwrap_or_default()
    }
}

/// The project of a conversation.
fn name(conversation: &str) -> String {
    let line = text::one_line(conversation);
    if line.is_empty() {
        return "all".to_owned();
    }
    let short = text::clip(&line, limits::NAME_BYTES_MAX / 8);
    format!("{short}-{}", text::hash16(conversation))
}

/// Writes the documents; what each is called in the data set.
fn fill(engine: &Engine, documents: Vec<Document>) -> Result<HashMap<RecordId, String>, Fault> {
    let ids = IdSource::default();
    let mut names = HashMap::new();
    let mut carried = Carried::default();
    for (line, document) in (1..).zip(documents) {
        let at = document
            .date
            .as_deref()
            .and_then(|date| moment(date, engine.now()));
        let at = at.unwrap_or_else(|| engine.now());
        // One clock for the ids: they keep the order of the file whatever the dates say.
        let id = ids.next(engine.now());
        names.insert(id, document.id);
        match document.session {
            None => {
                let record = note(engine, id, &document.text, at);
                carried.records.push((line, record));
            }
            Some(session) => {
                let turns = carried.messages.entry(session).or_default();
                turns.push(Message {
                    id,
                    seq: 0,
                    role: Role::User,
                    sender: document.speaker,
                    tokens: tokens(&document.text),
                    text: document.text,
                    attrs: Attrs::new(),
                    at,
                });
            }
        }
    }
    carried.sessions = carried
        .messages
        .iter()
        .map(|(id, turns)| heirloom_model::Session {
            project: engine.project().clone(),
            id: id.clone(),
            agent: None,
            task: None,
            started_at: turns.first().map_or(engine.now(), |turn| turn.at),
            ended_at: None,
            attrs: Attrs::new(),
        })
        .collect();
    let report = engine.import_all(carried, "bench recall")?;
    match report.diagnostics.first() {
        None => Ok(names),
        Some(problem) => Err(Fault::failed(format!(
            "document {} was not taken: {}",
            problem.line, problem.message
        ))),
    }
}

fn note(engine: &Engine, id: RecordId, said: &str, at: Timestamp) -> Record {
    let note = heirloom_model::kinds::Note {
        category: "Notes".to_owned(),
        extra: Attrs::new(),
    };
    Record {
        project: engine.project().clone(),
        id,
        kind: Kind::Note,
        key: None,
        text: said.to_owned(),
        attrs: note.to_attrs(),
        scope: Scope::default(),
        source: "user".to_owned(),
        confidence: Confidence::FULL,
        tokens: tokens(said),
        recorded_at: at,
        true_from: None,
        true_to: None,
        retired_at: None,
        replaced_by: None,
        expires_at: None,
    }
}

fn tokens(said: &str) -> u32 {
    u32::try_from(text::tokens(said)).unwrap_or(u32::MAX)
}

/// The ids of the best documents, and how long it took.
fn ranked(
    engine: &Engine,
    names: &HashMap<RecordId, String>,
    question: &str,
    k: usize,
    arms: Arms,
) -> Result<(Vec<String>, u64), Fault> {
    let mut request = RecallRequest {
        question: question.to_owned(),
        k: Some(k),
        arms,
        // Each document is an answer of its own, however like another it is.
        doubles: Doubles::Keep,
        ..RecallRequest::default()
    };
    let recalled = match engine.recall(&request) {
        Err(fault) if fault.kind == ErrorKind::Usage && !question.trim().is_empty() => {
            request.reading = Reading::Words;
            engine.recall(&request)?
        }
        other => other?,
    };
    let ids = recalled
        .hits
        .iter()
        .filter_map(|hit| names.get(&hit.item.id()).cloned());
    Ok((ids.collect(), recalled.took_us))
}

/// The time that a date of the data set means; without a zone it is one of UTC.
fn moment(date: &str, now: Timestamp) -> Option<Timestamp> {
    if let Ok(time) = date.parse() {
        return Some(time);
    }
    let local = date.parse::<civil::DateTime>().ok();
    let local = local.and_then(|time| time.to_zoned(tz::TimeZone::UTC).ok());
    local
        .map(|time| time.timestamp())
        .or_else(|| recall::first(date, now))
}

/// The lines of a JSONL file, blank ones left out.
fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>, Fault> {
    let cannot = |error: std::io::Error| {
        let kind = if error.kind() == std::io::ErrorKind::NotFound {
            ErrorKind::NotFound
        } else {
            ErrorKind::Failed
        };
        Fault::new(kind, format!("cannot read {}: {error}", path.display()))
    };
    let file = File::open(path).map_err(cannot)?;
    let size = file.metadata().map_err(cannot)?.len();
    if size > limits::IMPORT_BYTES_MAX {
        return Err(Fault::usage(format!(
            "{} has {size} bytes; at most {} are read",
            path.display(),
            limits::IMPORT_BYTES_MAX
        )));
    }
    let mut all = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(cannot)?;
        if line.trim().is_empty() {
            continue;
        }
        let read = serde_json::from_str(&line);
        let number: u64 = number;
        all.push(
            read.map_err(|error| {
                Fault::usage(format!("{} line {number}: {error}", path.display()))
            })?,
        );
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speakers_and_dates_of_data_sets() {
        for (speaker, expected) in [
            ("Ada", true),
            ("Mr Smith", true),
            ("user", false),
            ("Assistant", false),
            ("MZ", false),
            ("", false),
            ("speaker_1", false),
            ("J", false),
        ] {
            assert_eq!(
                heirloom_model::session::is_name(speaker),
                expected,
                "{speaker}"
            );
        }
        let now = "2026-05-20T15:00:00Z".parse().unwrap();
        for (date, expected) in [
            ("2024-05-11T13:56", Some("2024-05-11T13:56:00Z")),
            ("2024-05-11", Some("2024-05-11T00:00:00Z")),
            ("2024-05-11T13:56:00+02:00", Some("2024-05-11T11:56:00Z")),
            ("2023/05/20 (Sat) 02:21", Some("2023-05-20T00:00:00Z")),
            ("1:56 pm on 8 May, 2023", Some("2023-05-08T00:00:00Z")),
            ("some day", None),
        ] {
            let found = moment(date, now).map(|time| time.to_string());
            assert_eq!(found.as_deref(), expected, "{date}");
        }
        assert_ne!(name("a"), name("b"));
        assert!(name(&"é".repeat(500)).len() <= limits::NAME_BYTES_MAX);
    }
}
