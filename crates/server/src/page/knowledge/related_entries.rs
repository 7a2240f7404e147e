//! Entries, tasks and sessions that are related to an entry, and their graph.

use crate::page::record_label;
use crate::page::view::chart::put;
use crate::page::view::knowledge::RelatedEntry;
use crate::page::view::{Html, escape};
use heirloom_engine::{Engine, Filter, Order, QuerySyntax, RecallRequest};
use heirloom_model::{Fault, Kind, Record, RecordId, text};
use heirloom_search::recall::RecallItem;

/// Maximum number of related nodes.
const NODES_MAX: usize = 8;
/// Maximum number of entries of one relation.
const EACH_MAX: usize = 3;
/// Number of entries read before and after the entry, among which those of its session are.
const AROUND: usize = 20;
/// Maximum number of characters of the text for which similar entries are searched.
const QUESTION_CHARS: usize = 160;
/// Maximum number of characters of a name in the graph.
const LABEL_CHARS: usize = 30;
/// Height of a row of the graph in pixels.
const ROW: usize = 26;

/// Loads what is related to a record: other versions, its task and session with their entries, and entries that are
/// similar by the search.
pub(super) fn load(
    engine: &Engine,
    record: &Record,
    chain: &[Record],
) -> Result<Vec<RelatedEntry>, Fault> {
    let mut found = Related::default();
    found.shown.extend(chain.iter().map(|one| one.id));
    found.shown.push(record.id);
    let at = chain.iter().position(|one| one.id == record.id);
    if let Some(at) = at {
        let before = at.checked_sub(1).and_then(|before| chain.get(before));
        found.push_version("replaces", before);
        found.push_version("replaced by", chain.get(at + 1));
    }
    if let Some(task) = record_label::named_task(record.scope.task.as_deref()) {
        found.push_place(
            "task",
            record_label::task_label(task),
            record_label::task_href(task),
        );
        let mut of_task = Filter::current(&[Kind::Knowledge], engine.now()).limit(EACH_MAX + 1);
        of_task.scope.task = Some(task.to_owned());
        found.push_all("same task", engine.records().find(&of_task)?);
    }
    if let Some(session) = &record.scope.session {
        found.push_place(
            "session",
            record_label::short_id(session),
            record_label::session_href(session),
        );
        let mut near = neighbours(engine, record.id)?;
        near.retain(|one| one.scope.session.as_ref() == Some(session));
        found.push_all("same session", near);
    }
    found.push_all("similar", similar(engine, record)?);
    found.entries.truncate(NODES_MAX);
    Ok(found.entries)
}

/// Related entries, and the ids that must not be listed again.
#[derive(Default)]
struct Related {
    entries: Vec<RelatedEntry>,
    shown: Vec<RecordId>,
}

impl Related {
    fn push_place(&mut self, kind: &'static str, name: String, href: String) {
        self.entries.push(RelatedEntry {
            relation: "of",
            name,
            href,
            kind,
        });
    }

    fn push_version(&mut self, relation: &'static str, version: Option<&Record>) {
        if let Some(version) = version {
            self.entries.push(entry(relation, version));
        }
    }

    fn push_all(&mut self, relation: &'static str, records: Vec<Record>) {
        let mut left = EACH_MAX;
        for record in records {
            if left > 0 && !self.shown.contains(&record.id) {
                self.shown.push(record.id);
                self.entries.push(entry(relation, &record));
                left -= 1;
            }
        }
    }
}

fn entry(relation: &'static str, record: &Record) -> RelatedEntry {
    RelatedEntry {
        relation,
        name: record_label::name(record),
        href: record_label::href(record),
        kind: record.kind.as_str(),
    }
}

/// Returns the current knowledge recorded just before and after a record. Ids begin with a time, so this reads few
/// records, whereas the store has no index of sessions.
fn neighbours(engine: &Engine, id: RecordId) -> Result<Vec<Record>, Fault> {
    let mut filter = Filter::current(&[Kind::Knowledge], engine.now()).limit(AROUND);
    filter.after = Some(id);
    let mut found = engine.records().find(&filter)?;
    filter.order = Order::Oldest;
    found.extend(engine.records().find(&filter)?);
    Ok(found)
}

/// Returns the knowledge that the search finds relevant for the text of a record, best first.
fn similar(engine: &Engine, record: &Record) -> Result<Vec<Record>, Fault> {
    let request = RecallRequest {
        question: text::excerpt(&record.text, QUESTION_CHARS),
        syntax: QuerySyntax::Words,
        k: Some(4 * EACH_MAX),
        ..RecallRequest::default()
    };
    let hits = engine.recall().search(&request)?.hits;
    let records = hits.into_iter().filter_map(|hit| match hit.item {
        RecallItem::Record(record) if record.kind == Kind::Knowledge => Some(*record),
        RecallItem::Record(_) | RecallItem::Turn { .. } => None,
    });
    Ok(records.collect())
}

/// Draws the record and what is related to it as a fan: one line and one link each. The list next to it has the same
/// links, so the drawing is hidden from screen readers and the keyboard.
pub(super) fn graph(name: &str, related: &[RelatedEntry]) -> Html {
    if related.is_empty() {
        return Html::default();
    }
    let high = related.len() * ROW;
    let middle = high / 2;
    let mut out = format!(
        "<svg class=\"chart fan\" height=\"{high}\" aria-hidden=\"true\" focusable=\"false\">"
    );
    for (at, _) in related.iter().enumerate() {
        let y = at * ROW + ROW / 2;
        put(
            &mut out,
            format_args!("<line class=\"ax\" x1=\"8\" y1=\"{middle}\" x2=\"22%\" y2=\"{y}\"/>"),
        );
    }
    put(
        &mut out,
        format_args!("<circle class=\"k-knowledge own\" cx=\"8\" cy=\"{middle}\" r=\"7\"><title>"),
    );
    escape(name, &mut out);
    out.push_str("</title></circle>");
    for (at, one) in related.iter().enumerate() {
        let y = at * ROW + ROW / 2;
        out.push_str("<a tabindex=\"-1\" href=\"");
        escape(&one.href, &mut out);
        put(
            &mut out,
            format_args!(
                "\"><circle class=\"k-{}\" cx=\"22%\" cy=\"{y}\" r=\"5\"/><text x=\"26%\" y=\"{}\">",
                one.kind,
                y + 4
            ),
        );
        escape(&text::excerpt(&one.name, LABEL_CHARS), &mut out);
        put(&mut out, format_args!("<title>{}: ", one.relation));
        escape(&one.name, &mut out);
        out.push_str("</title></text></a>");
    }
    out.push_str("</svg>");
    Html::from_markup(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graph_escapes_names_and_has_a_link_for_each_node() {
        let related = |name: &str| RelatedEntry {
            relation: "similar",
            name: name.to_owned(),
            href: "/knowledge/1?a=\"b".to_owned(),
            kind: "knowledge",
        };
        let graph = graph("<own>", &[related("<script>"), related("two")]).to_string();
        assert_eq!(
            graph
                .matches("<a tabindex=\"-1\" href=\"/knowledge/1?a=&quot;b\">")
                .count(),
            2
        );
        assert!(
            !graph.contains("<script>") && !graph.contains("<own>"),
            "{graph}"
        );
        assert_eq!(super::graph("own", &[]), Html::default());
    }
}
