//! Criteria of the list: the filters, the order and the position that the URL names.

use crate::page::record_label::{percent_encode, source_label, task_label};
use crate::page::view::knowledge::FilterChip;
use axum::extract::Query;
use axum::http::Uri;
use heirloom_engine::Filter;
use heirloom_model::{Kind, Record, RecordId, Timestamp, ToSpan, civil, mark, text, tz};
use serde::Deserialize;

/// State by which entries are filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryState {
    /// In every context of its scope.
    Pinned,
    /// In no context.
    Muted,
    /// In an open conflict.
    Disputed,
    /// Proposed by an agent and not accepted yet.
    Proposed,
    /// Names a file that is gone.
    Stale,
}

impl EntryState {
    /// All states with their names in the URL.
    pub(super) const ALL: [(&'static str, Self); 5] = [
        ("pinned", Self::Pinned),
        ("muted", Self::Muted),
        ("disputed", Self::Disputed),
        ("proposed", Self::Proposed),
        ("stale", Self::Stale),
    ];
}

/// Order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Newest,
    Oldest,
    MostUsed,
    Key,
}

impl Sort {
    /// All orders with their names in the URL and their labels.
    pub(super) const ALL: [(&'static str, &'static str, Self); 4] = [
        ("", "Newest", Self::Newest),
        ("oldest", "Oldest", Self::Oldest),
        ("used", "Most used", Self::MostUsed),
        ("key", "Key", Self::Key),
    ];
}

/// Query parameters of the list and of an entry.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(in crate::page) struct KnowledgeParams {
    pub(super) category: String,
    pub(super) f: String,
    pub(super) source: String,
    pub(super) state: String,
    pub(super) task: String,
    pub(super) from: String,
    pub(super) until: String,
    pub(super) sort: String,
    pub(super) after: String,
    pub(super) before: String,
    pub(super) page: String,
    pub(super) select: String,
    pub(super) conflict: usize,
    pub(super) new: Option<String>,
    pub(super) edit: Option<String>,
}

impl KnowledgeParams {
    /// Returns the parameters in the query of a path; the defaults if it has none.
    pub(super) fn of_path(path: &str) -> Self {
        let uri: Option<Uri> = path.parse().ok();
        let query = uri.and_then(|uri| Query::<Self>::try_from_uri(&uri).ok());
        query.map_or_else(Self::default, |Query(params)| params)
    }

    /// Returns the filters and the order, by name.
    fn filters(&self) -> [(&'static str, &str); 8] {
        [
            ("category", &self.category),
            ("f", &self.f),
            ("source", &self.source),
            ("state", &self.state),
            ("task", &self.task),
            ("from", &self.from),
            ("until", &self.until),
            ("sort", &self.sort),
        ]
    }

    /// Returns true if no filter other than the category is set.
    pub(super) fn has_all_but_category(&self) -> bool {
        let narrows = |name: &str| name != "sort" && name != "category";
        let filters = self.filters();
        (filters.iter()).all(|(name, value)| !narrows(name) || value.trim().is_empty())
    }

    /// Returns a path with the filters of the list, where `changed` replaces some of them or adds others.
    pub(super) fn path(&self, base: &str, changed: &[(&str, &str)]) -> String {
        let filters = self.filters();
        let value = |name: &str| changed.iter().find(|(other, _)| *other == name);
        let kept = filters.map(|(name, own)| value(name).copied().unwrap_or((name, own)));
        let is_filter = |name: &str| filters.iter().any(|(other, _)| *other == name);
        let added = changed.iter().copied().filter(|(name, _)| !is_filter(name));
        query_path(base, kept.into_iter().chain(added))
    }

    /// Returns a path with the filters and the position of the list.
    pub(super) fn path_here(&self, base: &str) -> String {
        let position = [
            ("after", self.after.as_str()),
            ("before", &self.before),
            ("page", &self.page),
        ];
        query_path(base, self.filters().into_iter().chain(position))
    }

    /// Returns the path of the edit form of an entry, with the filters and the position of the list.
    pub(super) fn edit_path(&self, id: RecordId) -> String {
        let here = self.path_here(&format!("/knowledge/{id}"));
        let joint = if here.contains('?') { '&' } else { '?' };
        format!("{here}{joint}edit=1")
    }

    /// Returns the filters as chips, each with the path without it.
    pub(super) fn chips(&self) -> Vec<FilterChip> {
        let label = |name: &str, value: &str| match name {
            "f" => ("text", text::replace_control_chars(value)),
            "source" => ("source", source_label(value)),
            "task" => ("task", task_label(value)),
            "state" => ("state", text::replace_control_chars(value)),
            "from" => ("from", text::replace_control_chars(value)),
            "until" => ("until", text::replace_control_chars(value)),
            _ => ("category", text::replace_control_chars(value)),
        };
        let filters = self.filters().into_iter();
        let set = filters.filter(|(name, value)| *name != "sort" && !value.trim().is_empty());
        set.map(|(name, value)| {
            let (name_shown, value) = label(name, value.trim());
            FilterChip {
                name: name_shown,
                value,
                remove: self.path("/knowledge", &[(name, "")]),
            }
        })
        .collect()
    }
}

/// Returns a path with the parameters that are not empty.
fn query_path<'p>(base: &str, pairs: impl Iterator<Item = (&'p str, &'p str)>) -> String {
    let pairs = pairs.filter(|(_, value)| !value.trim().is_empty());
    let query: Vec<String> = pairs
        .map(|(name, value)| format!("{name}={}", percent_encode(value)))
        .collect();
    match query.is_empty() {
        true => base.to_owned(),
        false => format!("{base}?{}", query.join("&")),
    }
}

/// Parsed filters of the list. An unknown state, order or date is ignored.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Criteria {
    pub(super) category: Option<String>,
    pub(super) words: String,
    pub(super) source: Option<String>,
    pub(super) state: Option<EntryState>,
    pub(super) task: Option<String>,
    pub(super) recorded_from: Option<Timestamp>,
    pub(super) recorded_before: Option<Timestamp>,
    pub(super) sort: Sort,
}

impl Criteria {
    /// Parses the filters of a request.
    pub(super) fn new(params: &KnowledgeParams) -> Self {
        let given = |value: &str| Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        let state = EntryState::ALL
            .iter()
            .find(|(name, _)| *name == params.state);
        let sort = Sort::ALL.iter().find(|(name, _, _)| *name == params.sort);
        Self {
            category: given(&params.category),
            words: params.f.trim().to_owned(),
            source: given(&params.source),
            state: state.map(|(_, state)| *state),
            task: given(&params.task),
            recorded_from: day_start(&params.from, 0),
            recorded_before: day_start(&params.until, 1),
            sort: sort.map_or(Sort::Newest, |(_, _, sort)| *sort),
        }
    }

    /// Returns the filter of the store for everything except the category, the words and the states that the store
    /// has no index for.
    pub(super) fn filter(&self, now: Timestamp) -> Filter {
        let mut filter = Filter::current(&[Kind::Knowledge], now);
        filter.source.clone_from(&self.source);
        filter.scope.task.clone_from(&self.task);
        filter.recorded_from = self.recorded_from;
        filter.recorded_before = self.recorded_before;
        filter.pinned = self.state == Some(EntryState::Pinned);
        filter.proposal = self.state == Some(EntryState::Proposed);
        filter
    }

    /// Returns true if a record passes everything that [`Self::filter`] asks the store for.
    pub(super) fn admits(&self, record: &Record) -> bool {
        let is = |wanted: &Option<String>, value: Option<&str>| {
            wanted.is_none() || wanted.as_deref() == value
        };
        is(&self.source, Some(&record.source))
            && is(&self.task, record.scope.task.as_deref())
            && self
                .recorded_from
                .is_none_or(|from| record.recorded_at >= from)
            && (self.recorded_before).is_none_or(|before| record.recorded_at < before)
            && (self.state != Some(EntryState::Pinned) || mark::is_pinned(&record.attrs))
            && (self.state != Some(EntryState::Proposed) || record.is_pending_proposal())
    }

    /// Returns true if the store cannot list the entries in this order and state by itself.
    pub(super) fn needs_reading(&self) -> bool {
        let by_store = [None, Some(EntryState::Pinned)].contains(&self.state);
        !by_store || [Sort::MostUsed, Sort::Key].contains(&self.sort)
    }
}

/// Returns the midnight in UTC at which a date, or a later day, begins.
fn day_start(date: &str, days_later: i64) -> Option<Timestamp> {
    let date: civil::Date = date.trim().parse().ok()?;
    let date = date.checked_add(days_later.days()).ok()?;
    Some(date.to_zoned(tz::TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_kept_in_paths_and_removed_by_their_chips() {
        let params = KnowledgeParams::of_path(
            "/knowledge?category=fact&f=a%20b&source=agent%3Acodex&page=2&sort=key",
        );
        assert_eq!(
            params.path("/knowledge", &[("category", "")]),
            "/knowledge?f=a%20b&source=agent%3Acodex&sort=key"
        );
        assert_eq!(
            params.path_here("/knowledge/1"),
            "/knowledge/1?category=fact&f=a%20b&source=agent%3Acodex&sort=key&page=2"
        );
        let chips = params.chips();
        let shown: Vec<_> = chips.iter().map(|chip| (chip.name, &*chip.value)).collect();
        assert_eq!(
            shown,
            [("category", "fact"), ("text", "a b"), ("source", "codex")]
        );
        assert_eq!(chips[2].remove, "/knowledge?category=fact&f=a%20b&sort=key");
        assert!(KnowledgeParams::of_path("/knowledge?category=a&sort=key").has_all_but_category());
        assert!(!params.has_all_but_category());
    }

    #[test]
    fn date_range_includes_its_last_day() {
        let params = KnowledgeParams::of_path("/knowledge?from=2026-05-01&until=2026-05-01");
        let criteria = Criteria::new(&params);
        let time = |text: &str| -> Option<Timestamp> { Some(text.parse().unwrap()) };
        assert_eq!(criteria.recorded_from, time("2026-05-01T00:00:00Z"));
        assert_eq!(criteria.recorded_before, time("2026-05-02T00:00:00Z"));
        let params = KnowledgeParams::of_path("/knowledge?from=soon&state=odd&sort=odd");
        assert_eq!(
            Criteria::new(&params),
            Criteria::new(&KnowledgeParams::default())
        );
    }
}
