//! `heirloom bench recall`: ranks a data set with the same recall as every other command.

use crate::store_access::{self, BenchStore, CliSession};
use heirloom_engine::{
    ConversationHits, DedupMode, Engine, ImportBundle, QuerySyntax, RecallRequest, RetrievalMode,
};
use heirloom_fs::durable::regular_file::{self, LinkPolicy};
use heirloom_model::record::Attrs;
use heirloom_model::text::EscapedPath;
use heirloom_model::{
    Confidence, ErrorKind, Fault, IdSource, Kind, KindData, Message, Record, RecordId, Role, Scope,
    Timestamp, civil, limits, text, tz,
};
use heirloom_search::recall;
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Rank the documents of a data set for each of its questions
///
/// Every conversation is searched separately. A document with a session is a turn of that conversation, in the order
/// of the file; one without a session is a single record.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Documents, JSONL: {id, conversation, session?, date?, speaker?, text}
    #[arg(long, value_name = "FILE")]
    docs: PathBuf,
    /// Questions, JSONL: {id, conversation, text}
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// The file for the ranking, JSONL: {id, ranked: [ids], took_us}
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Documents to rank for each question
    #[arg(short = 'k', value_name = "N", default_value_t = 20)]
    k: usize,
    /// Retrieval arms to use: lexical, vector, or both
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

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let documents: Vec<Document> = read_json_lines(&args.docs)?;
    let queries: Vec<Query> = read_json_lines(&args.queries)?;
    let count = documents.len();
    let bench = BenchStore::new(session)?;
    let mut haystacks = Haystacks::from_documents(documents);
    let arms = match (
        args.arms.contains(&Arm::Lexical),
        args.arms.contains(&Arm::Vector),
    ) {
        (true, false) => RetrievalMode::Words,
        (false, true) => RetrievalMode::Meaning,
        (true, true) | (false, false) => RetrievalMode::Both,
    };
    let mut by_conversation: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, query) in queries.iter().enumerate() {
        by_conversation
            .entry(&query.conversation)
            .or_default()
            .push(at);
    }
    let mut answers: Vec<(Vec<String>, u64)> = vec![(Vec::new(), 0); queries.len()];
    for (conversation, query_indexes) in by_conversation {
        let documents = haystacks.take(conversation);
        session.out.talk(&format!(
            "{}: {} documents, {} questions",
            project_name(conversation),
            documents.len(),
            query_indexes.len()
        ));
        let engine = bench.engine(&project_name(conversation))?;
        let names = import_documents(&engine, documents)?;
        for at in query_indexes {
            answers[at] = rank_documents(&engine, &names, &queries[at].text, args.k, arms)?;
        }
    }
    let mut out = String::new();
    for (query, (ranked, took_us)) in queries.iter().zip(&answers) {
        let line = json!({"id": query.id, "ranked": ranked, "took_us": took_us});
        out.push_str(&format!("{line}\n"));
    }
    store_access::write_file(&args.out, out.as_bytes())?;
    print_summary(
        session,
        count,
        answers.into_iter().map(|(_, took_us)| took_us).collect(),
    );
    Ok(0)
}

fn print_summary(session: &mut CliSession, documents: usize, mut took_us: Vec<u64>) {
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

/// Documents by conversation, each in the order of the file.
struct Haystacks(HashMap<String, Vec<Document>>);

impl Haystacks {
    fn from_documents(documents: Vec<Document>) -> Self {
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

/// Returns the project name for a conversation.
fn project_name(conversation: &str) -> String {
    let line = text::one_line(conversation);
    if line.is_empty() {
        return "all".to_owned();
    }
    let short = text::clip(&line, limits::NAME_BYTES_MAX / 8);
    format!("{short}-{}", text::hash16(conversation))
}

/// Imports the documents; returns the data set's id of each record.
fn import_documents(
    engine: &Engine,
    documents: Vec<Document>,
) -> Result<HashMap<RecordId, String>, Fault> {
    let ids = IdSource::default();
    let mut names = HashMap::new();
    let mut bundle = ImportBundle::default();
    for (line, document) in (1..).zip(documents) {
        let at = document
            .date
            .as_deref()
            .and_then(|date| parse_date(date, engine.now()));
        let at = at.unwrap_or_else(|| engine.now());
        // Ids come from one clock, so that they keep the order of the file whatever the dates are.
        let id = ids.next(engine.now());
        names.insert(id, document.id);
        match document.session {
            None => {
                let record = build_note(engine, id, &document.text, at);
                bundle.records.push((line, record));
            }
            Some(session) => {
                let turns = bundle.messages.entry(session).or_default();
                turns.push(Message {
                    id,
                    seq: 0,
                    role: Role::User,
                    sender: document.speaker,
                    tokens: estimate_tokens(&document.text),
                    text: document.text,
                    attrs: Attrs::new(),
                    at,
                });
            }
        }
    }
    bundle.sessions = bundle
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
    let report = engine.imports().import_bundle(bundle, "bench recall")?;
    match report.diagnostics.first() {
        None => Ok(names),
        Some(problem) => Err(Fault::failed(format!(
            "document {} was not imported: {}",
            problem.line, problem.message
        ))),
    }
}

fn build_note(engine: &Engine, id: RecordId, content: &str, at: Timestamp) -> Record {
    let note = heirloom_model::kinds::Note {
        category: "Notes".to_owned(),
        extra: Attrs::new(),
    };
    Record {
        project: engine.project().clone(),
        id,
        kind: Kind::Note,
        key: None,
        text: content.to_owned(),
        attrs: note.to_attrs(),
        scope: Scope::default(),
        source: "user".to_owned(),
        confidence: Confidence::FULL,
        tokens: estimate_tokens(content),
        recorded_at: at,
        true_from: None,
        true_to: None,
        retired_at: None,
        replaced_by: None,
        expires_at: None,
    }
}

fn estimate_tokens(content: &str) -> u32 {
    u32::try_from(text::tokens(content)).unwrap_or(u32::MAX)
}

/// Returns the ids of the best documents, and the time of the search in microseconds.
fn rank_documents(
    engine: &Engine,
    names: &HashMap<RecordId, String>,
    question: &str,
    k: usize,
    arms: RetrievalMode,
) -> Result<(Vec<String>, u64), Fault> {
    let mut request = RecallRequest {
        question: question.to_owned(),
        k: Some(k),
        mode: arms,
        // Each document is a separate answer, however similar it is to another one.
        dedup: DedupMode::Keep,
        min_relevance: Some(0.0),
        conversations: ConversationHits::All,
        ..RecallRequest::default()
    };
    let recalled = match engine.recall().search(&request) {
        Err(fault) if fault.kind == ErrorKind::Usage && !question.trim().is_empty() => {
            request.syntax = QuerySyntax::Words;
            engine.recall().search(&request)?
        }
        other => other?,
    };
    // A data set has documents of one sort or of both, which are one list here.
    let mut hits: Vec<_> = recalled
        .hits
        .iter()
        .chain(&recalled.conversations)
        .collect();
    hits.sort_by(|a, b| b.breakdown.total.total_cmp(&a.breakdown.total));
    hits.truncate(k);
    let ids = hits
        .into_iter()
        .filter_map(|hit| names.get(&hit.item.id()).cloned());
    Ok((ids.collect(), recalled.took_us))
}

/// Parses a date of the data set; UTC without a time zone.
fn parse_date(date: &str, now: Timestamp) -> Option<Timestamp> {
    if let Ok(time) = date.parse() {
        return Some(time);
    }
    let local = date.parse::<civil::DateTime>().ok();
    let local = local.and_then(|time| time.to_zoned(tz::TimeZone::UTC).ok());
    local
        .map(|time| time.timestamp())
        .or_else(|| recall::first_date(date, now))
}

/// Reads the lines of a JSONL file, without blank ones.
fn read_json_lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>, Fault> {
    let read_error = |error: std::io::Error| {
        let kind = if error.kind() == std::io::ErrorKind::NotFound {
            ErrorKind::NotFound
        } else {
            ErrorKind::Failed
        };
        Fault::new(kind, format!("cannot read {}: {error}", path.to_escaped()))
    };
    let opened = regular_file::open(path, LinkPolicy::Follow);
    let opened = opened.map_err(|problem| read_error(problem.into_io_error()))?;
    let (size, file) = (opened.size(), opened.file);
    if size > limits::IMPORT_BYTES_MAX {
        return Err(Fault::usage(format!(
            "{} has {size} bytes; at most {} are read",
            path.to_escaped(),
            limits::IMPORT_BYTES_MAX
        )));
    }
    let mut all = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(read_error)?;
        if line.trim().is_empty() {
            continue;
        }
        let read = serde_json::from_str(&line);
        let number: u64 = number;
        all.push(read.map_err(|error| {
            Fault::usage(format!("{} line {number}: {error}", path.to_escaped()))
        })?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speakers_and_dates_of_data_sets_are_recognised() {
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
                heirloom_model::session::is_personal_name(speaker),
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
            let found = parse_date(date, now).map(|time| time.to_string());
            assert_eq!(found.as_deref(), expected, "{date}");
        }
        assert_ne!(project_name("a"), project_name("b"));
        assert!(project_name(&"é".repeat(500)).len() <= limits::NAME_BYTES_MAX);
    }
}
