//! Search of entries by their keys and words.

use heirloom_engine::{Engine, Filter, QuerySyntax, RecallRequest};
use heirloom_model::{Fault, Kind, Record};
use heirloom_search::recall::{Ranked, RecallItem};

/// Maximum number of found entries.
pub(super) const HITS: usize = 50;
/// Maximum number of entries with a similar meaning, if no entry contains the words.
const MEANT: usize = 5;

/// Returns the entries whose keys begin with the words, then those that contain them, best first.
pub(super) fn search(engine: &Engine, words: &str) -> Result<Vec<Record>, Fault> {
    let mut filter = Filter::current(&[Kind::Knowledge], engine.now()).limit(HITS);
    filter.key_prefix = Some(words.to_owned());
    let mut records = engine.records().find(&filter)?;
    let mut hits = recall_knowledge(engine, words)?;
    // Prefer lexical matches; without any, keep the nearest in meaning.
    match hits.iter().any(|hit| hit.breakdown.lexical > 0.0) {
        true => hits.retain(|hit| hit.breakdown.lexical > 0.0),
        false => hits.truncate(MEANT),
    }
    for hit in hits {
        if let RecallItem::Record(record) = hit.item
            && !records.iter().any(|known| known.id == record.id)
        {
            records.push(*record);
        }
    }
    records.truncate(HITS);
    Ok(records)
}

/// Recalls knowledge. A recall over all kinds is faster than a filtered one, which follows only if too few hits are
/// knowledge.
fn recall_knowledge(engine: &Engine, words: &str) -> Result<Vec<Ranked>, Fault> {
    let mut request = RecallRequest {
        question: words.to_owned(),
        syntax: QuerySyntax::Words,
        k: Some(2 * HITS),
        min_relevance: Some(0.0),
        ..RecallRequest::default()
    };
    let mut hits = engine.recall().search(&request)?.hits;
    let all = hits.len();
    hits.retain(
        |hit| matches!(&hit.item, RecallItem::Record(record) if record.kind == Kind::Knowledge),
    );
    if all < 2 * HITS || hits.len() >= HITS {
        hits.truncate(HITS);
        return Ok(hits);
    }
    request.k = Some(HITS);
    request.kinds = vec![Kind::Knowledge];
    Ok(engine.recall().search(&request)?.hits)
}
