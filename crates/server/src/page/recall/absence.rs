//! Answer to "Why is a record not here?".

use super::explanation::matching_words;
use super::filter_links::without_filters;
use super::hit_rows::conflict_href;
use super::query_words::QueryWords;
use crate::page::view::Times;
use crate::page::view::recall::AbsenceView;
use crate::page::{RequestContext, record_label};
use heirloom_engine::{Absence, AsOf, Engine, Filter, RecallRequest};
use heirloom_fs::project_fs::display_name;
use heirloom_model::{ErrorKind, Fault, Record, RecordId, limits, mark, text};
use heirloom_search::recall::RecallItem;
use heirloom_search::relevance::FLOOR;
use std::collections::HashMap;

/// Maximum number of characters of the given key or id.
pub(super) const GIVEN_CHARS: usize = 200;
/// Maximum number of other projects in which a record is looked for.
const PROJECTS_MAX: usize = 50;
/// Maximum number of keys that are offered instead of an unknown one.
const KEYS_OFFERED: usize = 5;

/// Explains absences for one query.
pub(super) struct AbsenceExplainer<'p> {
    pub(super) engine: &'p Engine,
    pub(super) context: &'p RequestContext,
    pub(super) request: &'p RecallRequest,
    pub(super) words: &'p QueryWords,
    pub(super) times: &'p Times,
    /// Positions of open conflicts, by the id of the record in effect.
    pub(super) conflicts: &'p HashMap<RecordId, usize>,
}

impl AbsenceExplainer<'_> {
    /// Explains the record with this key or id.
    pub(super) fn explain(&self, given: &str) -> Result<AbsenceView, Fault> {
        let Some(record) = self.find(given)? else {
            return self.unknown(given);
        };
        let absence = self
            .engine
            .recall()
            .explain_absence(self.request, &record)?;
        let (mut reason, links) = self.describe(&record, &absence);
        if mark::is_muted(&record.attrs) {
            reason.push_str(" It is muted: recall finds it, prompts leave it out.");
        }
        Ok(AbsenceView {
            name: record_label::name(&record),
            href: record_label::href(&record),
            kind: record.kind.as_str(),
            reason,
            links,
        })
    }

    /// Returns the record with this key or id; of several with a key the current or newest one.
    fn find(&self, given: &str) -> Result<Option<Record>, Fault> {
        let records = self.engine.records();
        let current = Filter::current(&[], self.engine.now()).limit(1);
        for as_of in [current.as_of, AsOf::Ever] {
            let filter = Filter {
                as_of,
                ..current.clone()
            };
            if given.len() <= limits::KEY_BYTES_MAX
                && let Some(found) = records.find(&filter.key(given))?.into_iter().next()
            {
                return Ok(Some(found));
            }
        }
        let is_missing =
            |fault: &Fault| matches!(fault.kind, ErrorKind::NotFound | ErrorKind::Usage);
        match records.resolve_id(given).and_then(|id| records.get(id)) {
            Ok(record) => Ok(Some(record)),
            Err(fault) if is_missing(&fault) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Explains a key or id that no record of this project has.
    fn unknown(&self, given: &str) -> Result<AbsenceView, Fault> {
        let records = self.engine.records();
        let sees_all = self
            .context
            .access
            .as_ref()
            .is_some_and(|access| access.project.is_none());
        let other = match sees_all {
            true => self
                .engine
                .recall()
                .other_project_with(given, PROJECTS_MAX)?,
            false => None,
        };
        let view = |reason: String, links| AbsenceView {
            name: text::replace_control_chars(given),
            href: String::new(),
            kind: "",
            reason,
            links,
        };
        if let Some(project) = other {
            let name = text::replace_control_chars(&display_name(project.as_str()));
            let href = format!(
                "/projects/{}",
                record_label::percent_encode(project.as_str())
            );
            let reason = format!("It belongs to another project: {name}.");
            return Ok(view(reason, vec![(format!("Open {name}"), href)]));
        }
        let similar = Filter {
            key_prefix: Some(given.to_owned()),
            ..Filter::current(&[], self.engine.now()).limit(KEYS_OFFERED)
        };
        let similar = records.find(&similar)?;
        let links = similar
            .iter()
            .map(|record| (record_label::name(record), record_label::href(record)));
        let reason = "No record has this key or id.".to_owned();
        Ok(view(reason, links.collect()))
    }

    /// Describes an absence in a sentence, with links.
    fn describe(&self, record: &Record, absence: &Absence) -> (String, Vec<(String, String)>) {
        let k = self.request.k.unwrap_or(limits::RECALL_HITS_DEFAULT);
        let percent = |relevance: &Option<f64>| match relevance {
            Some(relevance) => format!(", {} relevant", text::percent(*relevance)),
            None => String::new(),
        };
        let words = || {
            let key = record.key.as_deref().unwrap_or_default();
            matching_words(self.words, &record.text, key)
        };
        let none = Vec::new();
        match absence {
            Absence::Listed { place, relevance } => {
                let here = format!("It is here: hit {place}{}.", percent(relevance));
                let link = ("Go to it".to_owned(), format!("#hit-{}", record.id));
                (here, vec![link])
            }
            Absence::Retired { at } => {
                let at = self.times.full(*at);
                let reason = format!("It was retired ({at}). Recall leaves out retired records.");
                (reason, none)
            }
            Absence::Replaced { by } => {
                let reason = "A newer version replaced it.".to_owned();
                (reason, vec![record_link("Newer version", by)])
            }
            Absence::Outvoted { by, is_open } => {
                let of = record_label::source_label(&by.source);
                let conflict = self.conflicts.get(&by.id).filter(|_| *is_open);
                let conflict = conflict.map(|at| ("Decide".to_owned(), conflict_href(*at)));
                let until = if *is_open {
                    " until the conflict is decided"
                } else {
                    ""
                };
                let reason = format!("It is outvoted: the value of {of} is in effect{until}.");
                let links = std::iter::once(record_link("Value in effect", by));
                (reason, links.chain(conflict).collect())
            }
            Absence::Expired { at } => (format!("It expired ({}).", self.times.full(*at)), none),
            Absence::Filtered { filters } => {
                let filters = text::replace_control_chars(&filters.join(", "));
                let reason = format!("Filters of the question leave it out: {filters}.");
                let href = without_filters(&self.request.question);
                let link = ("The question without filters".to_owned(), href);
                let links = [link].into_iter().filter(|(_, href)| !href.is_empty());
                (reason, links.collect())
            }
            Absence::Weak { relevance, .. } => {
                let reason = format!(
                    "Its relevance is {}, below the limit of {}: {}.",
                    text::percent(*relevance),
                    text::percent(FLOOR),
                    words()
                );
                (reason, none)
            }
            Absence::BelowLimit { place, relevance } => {
                let reason = format!(
                    "It is hit {place}{}; an agent gets the first {k}.",
                    percent(relevance)
                );
                (reason, none)
            }
            Absence::Grouped { under } => {
                let reason = "It is a near-duplicate of a hit and grouped under it.".to_owned();
                let links = match &under.item {
                    RecallItem::Record(hit) => vec![record_link("The hit", hit)],
                    RecallItem::Turn { .. } => none,
                };
                (reason, links)
            }
            Absence::NoCommonWord => {
                let reason = "It has no word of the question, and its meaning is not similar.";
                (reason.to_owned(), none)
            }
            Absence::Outranked { before } => {
                let reason = format!("More than {before} hits are before it: {}.", words());
                (reason, none)
            }
        }
    }
}

/// Returns the link to a record, with its name.
fn record_link(label: &str, record: &Record) -> (String, String) {
    let name = record_label::name(record);
    (format!("{label}: {name}"), record_label::href(record))
}
