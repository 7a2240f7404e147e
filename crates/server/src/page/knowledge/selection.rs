//! Selection of the entries that fit the criteria: one page of them, and how many each category has.

use super::criteria::{Criteria, EntryState, KnowledgeParams, Sort};
use super::rows::CATEGORIES;
use super::text_search::{HITS, search};
use crate::page::view::number;
use heirloom_engine::{Conflict, Engine, Filter, Order};
use heirloom_model::{Fault, Record, RecordId, mark};
use heirloom_search::recall::review;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// Page size of the list.
pub(super) const PAGE: usize = 25;
/// Maximum number of entries that are read to count, sort or filter them; larger sets are listed by the store.
pub(super) const READ: usize = 1_000;

/// Number of entries; `is_more` if there are more than were counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) n: usize,
    pub(super) is_more: bool,
}

impl Count {
    /// Formats the number: `12`, or `1,000+`.
    pub(super) fn label(self) -> String {
        let more = if self.is_more { "+" } else { "" };
        format!("{}{more}", number(self.n as u64))
    }
}

/// One page of the entries that fit.
#[derive(Debug, Default)]
pub(super) struct Selection {
    pub(super) records: Vec<Record>,
    /// Path of the page before this one.
    pub(super) newer: Option<String>,
    /// Path of the page after this one.
    pub(super) older: Option<String>,
    /// Number of entries of each category that pass all other filters.
    pub(super) categories: BTreeMap<String, Count>,
    /// Number of entries of all categories that pass all other filters.
    pub(super) all: Count,
    /// Sources of the read entries.
    pub(super) sources: Vec<String>,
    /// Sentence about the entries that were not looked at; may be empty.
    pub(super) note: String,
}

impl Selection {
    /// Selects the entries of a request; `all` is the number of all entries.
    pub(super) fn load(
        engine: &Engine,
        params: &KnowledgeParams,
        conflicts: &[Conflict],
        all: usize,
    ) -> Result<Self, Fault> {
        let criteria = Criteria::new(params);
        let is_listed = criteria.words.is_empty() && !criteria.needs_reading();
        if is_listed && params.has_all_but_category() && all > READ {
            return by_store(engine, params, &criteria, all);
        }
        // One query decides whether the set is small, because a rare source makes the store look at every entry.
        let set = read_set(engine, &criteria, conflicts, READ)?;
        if is_listed && set.is_cut {
            return by_store(engine, params, &criteria, READ + 1);
        }
        by_reading(engine, params, &criteria, set)
    }
}

/// Entries that were read.
pub(super) struct ReadSet {
    pub(super) records: Vec<Record>,
    /// True if other entries were not looked at.
    is_cut: bool,
    /// Sentence about the entries that were not looked at; may be empty.
    pub(super) note: String,
}

/// Reads at most `most` entries that pass all filters except the category.
pub(super) fn read_set(
    engine: &Engine,
    criteria: &Criteria,
    conflicts: &[Conflict],
    most: usize,
) -> Result<ReadSet, Fault> {
    let disputed: HashSet<RecordId> = conflicts.iter().map(|one| one.winner.id).collect();
    let mut set = match criteria.words.is_empty() {
        true => list(engine, criteria, &disputed, most)?,
        false => find_by_words(engine, criteria)?,
    };
    let records = &mut set.records;
    match criteria.state {
        None | Some(EntryState::Pinned) => {}
        Some(EntryState::Muted) => records.retain(|record| mark::is_muted(&record.attrs)),
        Some(EntryState::Disputed) => records.retain(|record| disputed.contains(&record.id)),
        // A value in a conflict waits for the decision about the conflict.
        Some(EntryState::Proposed) => {
            records.retain(|one| one.is_pending_proposal() && !disputed.contains(&one.id));
        }
        Some(EntryState::Stale) => {
            let root = engine.root().to_owned();
            records.retain(|record| names_missing_file(&root, record));
        }
    }
    Ok(set)
}

/// Reads the entries that pass the filters of the store.
fn list(
    engine: &Engine,
    criteria: &Criteria,
    disputed: &HashSet<RecordId>,
    most: usize,
) -> Result<ReadSet, Fault> {
    let mut set = ReadSet {
        records: Vec::new(),
        is_cut: false,
        note: String::new(),
    };
    let mut filter = criteria.filter(engine.now()).limit(most + 1);
    if criteria.state == Some(EntryState::Disputed) {
        if disputed.is_empty() {
            return Ok(set);
        }
        filter.ids = disputed.iter().copied().collect();
    }
    let mut which = "newest";
    if criteria.sort == Sort::Oldest {
        filter.order = Order::Oldest;
        which = "oldest";
    }
    set.records = engine.records().find(&filter)?;
    if set.records.len() > most {
        set.records.truncate(most);
        set.is_cut = true;
        set.note = format!("Among the {which} {} entries.", number(most as u64));
    }
    Ok(set)
}

/// Reads the entries that a search for the words finds.
fn find_by_words(engine: &Engine, criteria: &Criteria) -> Result<ReadSet, Fault> {
    let mut records = search(engine, &criteria.words)?;
    let is_cut = records.len() == HITS;
    records.retain(|record| criteria.admits(record));
    Ok(ReadSet {
        records,
        is_cut,
        note: match is_cut {
            true => format!("Among the best {HITS} matches of these words."),
            false => String::new(),
        },
    })
}

/// Returns true if a record names a file that is gone, in a folder of the project that exists.
fn names_missing_file(root: &Path, record: &Record) -> bool {
    let is_gone = |path: &String| {
        let first = Path::new(path).components().next();
        let is_known = first.is_some_and(|first| root.join(first).exists());
        is_known && !root.join(path).exists()
    };
    mark::useful_count(&record.attrs) <= 0 && review::paths(&record.text).iter().any(is_gone)
}

/// Sorts the entries of a set that was read.
pub(super) fn sort(engine: &Engine, sort: Sort, set: &mut [Record]) -> Result<(), Fault> {
    match sort {
        Sort::Newest => {}
        Sort::Oldest => set.sort_by_key(|record| record.id),
        Sort::Key => set.sort_by_cached_key(sort_key),
        Sort::MostUsed => {
            let ids: Vec<RecordId> = set.iter().map(|record| record.id).collect();
            let uses = engine.contexts().delivery_counts(&ids)?;
            let used = |record: &Record| uses.get(&record.id).map_or(0, |used| used.count);
            set.sort_by_key(|record| std::cmp::Reverse(used(record)));
        }
    }
    Ok(())
}

/// Returns the given key for sorting; entries without one come last.
fn sort_key(record: &Record) -> (bool, String) {
    let key = crate::page::record_label::given_key(record);
    (key.is_empty(), key.to_lowercase())
}

/// Selects a page from a set that was read.
fn by_reading(
    engine: &Engine,
    params: &KnowledgeParams,
    criteria: &Criteria,
    set: ReadSet,
) -> Result<Selection, Fault> {
    let (mut set, note) = (set.records, set.note);
    let mut selection = Selection {
        all: Count {
            n: set.len(),
            is_more: false,
        },
        sources: sources(&set),
        note,
        ..Selection::default()
    };
    for record in &set {
        let name = record.category().unwrap_or("fact").to_owned();
        selection.categories.entry(name).or_default().n += 1;
    }
    if let Some(category) = &criteria.category {
        set.retain(|record| record.category() == Some(category));
    }
    sort(engine, criteria.sort, &mut set)?;
    let pages = set.len().div_ceil(PAGE).max(1);
    let page = params.page.parse().unwrap_or(1).clamp(1, pages);
    let path = |page: usize| params.path("/knowledge", &[("page", &page.to_string())]);
    selection.newer = match page {
        1 => None,
        2 => Some(params.path("/knowledge", &[])),
        page => Some(path(page - 1)),
    };
    selection.older = (page < pages).then(|| path(page + 1));
    selection.records = set.into_iter().skip((page - 1) * PAGE).take(PAGE).collect();
    Ok(selection)
}

/// Selects a page by the indexes of the store.
fn by_store(
    engine: &Engine,
    params: &KnowledgeParams,
    criteria: &Criteria,
    fits: usize,
) -> Result<Selection, Fault> {
    let mut filter = criteria.filter(engine.now());
    let mut selection = Selection {
        all: match params.has_all_but_category() {
            true => Count {
                n: fits,
                is_more: false,
            },
            false => capped(fits),
        },
        ..Selection::default()
    };
    let own = criteria.category.as_deref();
    for name in CATEGORIES.into_iter().chain(own) {
        if !selection.categories.contains_key(name) {
            let counted = filter.clone().category(name).limit(READ + 1);
            let n = engine.records().count(&counted)?;
            selection.categories.insert(name.to_owned(), capped(n));
        }
    }
    filter.category.clone_from(&criteria.category);
    let is_oldest = criteria.sort == Sort::Oldest;
    let is_back = !params.before.is_empty();
    let cursor = if is_back {
        &params.before
    } else {
        &params.after
    };
    if !cursor.is_empty() {
        filter.after = Some(engine.records().resolve_id(cursor)?);
    }
    filter.order = match is_oldest != is_back {
        true => Order::Oldest,
        false => Order::Newest,
    };
    let (records, has_more) = find_page(engine, filter, is_back)?;
    let link = |name: &str, record: Option<&Record>| {
        let id = record?.id.to_string();
        Some(params.path("/knowledge", &[(name, &id)]))
    };
    let (has_before, has_after) = match is_back {
        true => (has_more, true),
        false => (!params.after.is_empty(), has_more),
    };
    selection.newer = link("before", records.first().filter(|_| has_before));
    selection.older = link("after", records.last().filter(|_| has_after));
    selection.sources = sources(&records);
    selection.records = records;
    Ok(selection)
}

/// Finds a page of records in the order of the list, and if there are more in the direction of the search.
fn find_page(engine: &Engine, filter: Filter, is_back: bool) -> Result<(Vec<Record>, bool), Fault> {
    let mut records = engine.records().find(&filter.limit(PAGE + 1))?;
    let has_more = records.len() > PAGE;
    records.truncate(PAGE);
    if is_back {
        records.reverse();
    }
    Ok((records, has_more))
}

fn capped(n: usize) -> Count {
    Count {
        n: n.min(READ),
        is_more: n > READ,
    }
}

/// Returns the different sources of records, sorted.
fn sources(records: &[Record]) -> Vec<String> {
    let mut names: Vec<String> = records.iter().map(|record| record.source.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
