//! Data set: documents, queries, and the documents that answer each query.

use crate::Outcome;
use heirloom_engine::Engine;
use heirloom_model::record::Attrs;
use heirloom_model::{
    Confidence, IdSource, Kind, Record, RecordId, Scope, Timestamp, civil, text, tz,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Document.
pub(crate) struct Document {
    pub(crate) id: String,
    pub(crate) at: Option<Timestamp>,
    pub(crate) text: String,
}

/// Query.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(crate) haystack: String,
    pub(crate) category: String,
    pub(crate) text: String,
    pub(crate) gold: Vec<String>,
}

/// Documents by haystack, in file order, and the queries.
pub(crate) struct Data {
    pub(crate) haystacks: BTreeMap<String, Vec<Document>>,
    pub(crate) queries: Vec<Query>,
}

impl Data {
    /// Reads `dev.docs.jsonl` and `dev.queries.jsonl` of a folder; a query without an answer is skipped.
    pub(crate) fn read(folder: &Path) -> Outcome<Self> {
        let mut haystacks: BTreeMap<String, Vec<Document>> = BTreeMap::new();
        for line in lines(&folder.join("dev.docs.jsonl"))? {
            if line.get("session").is_some_and(Value::is_string) {
                return Err("turns of conversations are not scored here: `heirloom bench recall` ranks them".into());
            }
            let document = Document {
                id: string(&line, "id"),
                at: parse_date(&string(&line, "date")),
                text: string(&line, "text"),
            };
            let haystack = string(&line, "conversation");
            haystacks.entry(haystack).or_default().push(document);
        }
        let mut queries = Vec::new();
        for line in lines(&folder.join("dev.queries.jsonl"))? {
            let gold = line.get("gold").and_then(Value::as_array);
            let gold = gold.into_iter().flatten().filter_map(Value::as_str);
            queries.push(Query {
                haystack: string(&line, "conversation"),
                category: string(&line, "category"),
                text: string(&line, "text"),
                gold: gold.map(str::to_owned).collect(),
            });
        }
        queries.retain(|query| !query.gold.is_empty());
        if queries.is_empty() {
            return Err(format!("{} has no question with an answer", folder.display()).into());
        }
        Ok(Self { haystacks, queries })
    }

    /// Returns the queries of a haystack, with their index among all.
    pub(crate) fn queries_of<'d>(
        &'d self,
        haystack: &'d str,
    ) -> impl Iterator<Item = (usize, &'d Query)> {
        let all = self.queries.iter().enumerate();
        all.filter(move |(_, query)| query.haystack == haystack)
    }
}

/// Returns the records of documents, in their order, as `heirloom bench recall` creates them.
pub(crate) fn records(engine: &Engine, documents: &[Document]) -> Vec<Record> {
    let ids = IdSource::default();
    let now = engine.now();
    let record = |document: &Document| {
        // One clock for the ids: they keep the file order whatever the dates are.
        let id: RecordId = ids.next(now);
        let mut attrs = Attrs::new();
        attrs.insert("category".to_owned(), "Notes".into());
        Record {
            project: engine.project().clone(),
            id,
            kind: Kind::Note,
            key: None,
            text: document.text.clone(),
            attrs,
            scope: Scope::default(),
            source: "user".to_owned(),
            confidence: Confidence::FULL,
            tokens: u32::try_from(text::tokens(&document.text)).unwrap_or(u32::MAX),
            recorded_at: document.at.unwrap_or(now),
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        }
    };
    documents.iter().map(record).collect()
}

fn lines(path: &Path) -> Outcome<Vec<Value>> {
    let read = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let mut all = Vec::new();
    for (number, line) in read
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let value = serde_json::from_str(line)
            .map_err(|error| format!("{} line {}: {error}", path.display(), number + 1))?;
        all.push(value);
    }
    Ok(all)
}

fn string(line: &Value, name: &str) -> String {
    let value = line.get(name).and_then(Value::as_str);
    value.unwrap_or_default().to_owned()
}

/// Parses a date; without a zone it is UTC.
fn parse_date(date: &str) -> Option<Timestamp> {
    let local = || {
        date.parse::<civil::DateTime>()
            .ok()?
            .to_zoned(tz::TimeZone::UTC)
            .ok()
    };
    date.parse()
        .ok()
        .or_else(|| local().map(|time| time.timestamp()))
}
