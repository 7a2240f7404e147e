//! Which page belongs to what: by the trees where they can be walked, else by what stands on the page.

use super::bytes;
use super::image::{Image, Node, NodeKind};
use super::layout::{Layout, Shape};
use rusqlite::types::ValueRef;
use std::collections::BTreeMap;

/// Bytes that may be put together from several pages, as a multiple of the image: each is needed once, but
/// a broken file may name a page again and again.
const COPIED_TIMES_MAX: usize = 4;

/// Who takes the rows that are found.
pub(super) trait Sink {
    /// Takes a row of a table: its number, if rows of the table have one, and its values.
    fn row(&mut self, shape: &Shape, rowid: Option<i64>, values: &[ValueRef<'_>]);
    /// Takes the name of a project from an index.
    fn project(&mut self, name: String, number: i64);
}

/// What a search brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Rows that fit a table, in trees or not, each time they were met.
    pub(super) rows: usize,
    /// Pages that hold nothing that could be read.
    pub(super) pages_bad: usize,
    /// Rows on readable pages that could not be read.
    pub(super) rows_bad: usize,
    /// Whether every table was found and walked from end to end.
    pub(super) is_complete: bool,
}

/// A search through an image.
pub(super) struct Survey<'a> {
    image: &'a Image<'a>,
    layout: &'a Layout,
    /// The pages that belong to something, from 0.
    taken: Vec<bool>,
    budget: usize,
    outcome: Outcome,
}

/// A thing that the schema names.
struct Entry {
    is_table: bool,
    name: String,
    table: String,
    root: u32,
}

/// What a tree is expected to hold.
#[derive(Clone, Copy)]
enum Owner<'s> {
    Schema,
    Rows(&'s Shape, bool),
    /// An index; of projects by name or of something else.
    Index(bool),
}

/// Reads every row of `image` that can be read into `sink`, the surest first: rows in trees, then rows on
/// pages that belong to no tree, then rows on free pages.
///
/// The last two are older states of rows that may be elsewhere, so the first of a row counts. They are only
/// taken for tables whose tree is broken; pages without an owner also if the list of free pages is whole, for
/// then they have fallen out of a tree.
pub(super) fn survey(image: &Image<'_>, layout: &Layout, sink: &mut impl Sink) -> Outcome {
    let pages = usize::try_from(image.pages).unwrap_or(usize::MAX);
    let mut survey = Survey {
        image,
        layout,
        taken: vec![false; pages],
        budget: image.len().saturating_mul(COPIED_TIMES_MAX),
        outcome: Outcome::default(),
    };
    let entries = survey.schema();
    let mut whole = BTreeMap::new();
    for entry in &entries {
        let shape = layout.table(&entry.name).filter(|_| entry.is_table);
        if let Some((shape, is_numbered)) = shape {
            let owner = Owner::Rows(shape, is_numbered);
            let is_whole = survey.walk(entry.root, owner, sink);
            whole.insert(entry.name.clone(), is_whole);
        } else {
            survey.walk(entry.root, Owner::Index(entry.table == "projects"), sink);
        }
    }
    let (free, free_is_whole) = image.free_pages();
    for page in &free {
        survey.take(*page);
    }
    let is_whole = |shape: &Shape| whole.get(&shape.table).copied().unwrap_or(false);
    let loose: Vec<u32> = (1..=image.pages).filter(|n| !survey.is_taken(*n)).collect();
    let mut unread = Vec::new();
    for page in loose {
        if !survey.is_taken(page)
            && !survey.loose(page, &|shape| free_is_whole || !is_whole(shape), sink)
        {
            unread.push(page);
        }
    }
    // Pages that hold the rest of a row are taken when the row is read.
    survey.outcome.pages_bad = unread.iter().filter(|n| !survey.is_taken(**n)).count();
    for page in free {
        survey.loose(page, &|shape| !is_whole(shape), sink);
    }
    let mut tables = layout.tables.iter().chain(&layout.keyed);
    survey.outcome.is_complete = tables.all(is_whole);
    survey.outcome
}

/// The statements of the schema that can be read, by name.
pub(super) fn said(image: &Image<'_>) -> BTreeMap<String, String> {
    let mut said = BTreeMap::new();
    let mut budget = image.len().saturating_mul(COPIED_TIMES_MAX);
    for number in 1..=image.pages {
        let node = image.node(number);
        let Some(node) = node.filter(|node| node.kind == NodeKind::TableLeaf) else {
            continue;
        };
        for place in 0..node.cells {
            let cell = image.cell(&node, place, &mut budget);
            let Some(payload) = cell.and_then(|cell| cell.payload) else {
                continue;
            };
            if let Some([_, name, _, _, ValueRef::Text(sql)]) = bytes::values(&payload).as_deref()
                && let (Ok(name), Ok(sql)) = (name.as_str(), std::str::from_utf8(sql))
                && sql.starts_with("CREATE ")
            {
                said.insert(name.to_owned(), sql.to_owned());
            }
        }
    }
    said
}

impl<'a> Survey<'a> {
    /// What the schema names, by its tree, and what else looks like a part of it.
    fn schema(&mut self) -> Vec<Entry> {
        let mut entries = Vec::new();
        if !self.walk_schema(1, &mut entries) {
            for number in 2..=self.image.pages {
                self.walk_schema(number, &mut entries);
            }
        }
        entries
    }

    /// Reads the pages of the schema from `root` down; whether all of them were there.
    fn walk_schema(&mut self, root: u32, entries: &mut Vec<Entry>) -> bool {
        let mut is_whole = true;
        let mut waiting = vec![root];
        while let Some(number) = waiting.pop() {
            let image = self.image;
            let node = image.node(number).filter(|_| !self.is_taken(number));
            let Some(node) = node.filter(|node| node.fits(Owner::Schema)) else {
                is_whole = false;
                continue;
            };
            if node.kind == NodeKind::TableInner {
                // Only the tree that begins on the first page is known to be the schema's.
                if root != 1 {
                    return false;
                }
                self.take(number);
                is_whole &= self.below(&node, &mut waiting);
                continue;
            }
            let before = entries.len();
            let mut rest = Vec::new();
            for place in 0..node.cells {
                let cell = image.cell(&node, place, &mut self.budget);
                let read = cell.and_then(|cell| {
                    rest.extend(cell.rest);
                    entry(&bytes::values(cell.payload.as_deref()?)?)
                });
                match read {
                    Some(entry) => entries.push(entry),
                    None => is_whole = false,
                }
            }
            if entries.len() > before {
                self.take(number);
                rest.into_iter().for_each(|page| self.take(page));
            }
        }
        is_whole
    }

    /// Reads the tree that begins at `root`; whether all of it was there.
    fn walk(&mut self, root: u32, owner: Owner<'_>, sink: &mut impl Sink) -> bool {
        let mut is_whole = true;
        let mut waiting = vec![root];
        while let Some(number) = waiting.pop() {
            let image = self.image;
            let node = image.node(number).filter(|_| !self.is_taken(number));
            let Some(node) = node.filter(|node| node.fits(owner)) else {
                is_whole = false;
                continue;
            };
            let is_inner = matches!(node.kind, NodeKind::TableInner | NodeKind::IndexInner);
            let bad = self.outcome.rows_bad;
            let read = if node.kind == NodeKind::TableInner {
                0
            } else {
                self.read(number, &node, owner, sink)
            };
            if !is_inner && read == 0 && (node.cells > 0 || number != root) {
                // Rows of something else, or of nothing: the page may find its owner later.
                self.outcome.rows_bad = bad;
                is_whole = false;
                continue;
            }
            is_whole &= self.outcome.rows_bad == bad;
            self.take(number);
            if is_inner {
                is_whole &= self.below(&node, &mut waiting);
            }
        }
        is_whole
    }

    /// The pages below an inner page, so that the first is the next; whether all of them are named.
    fn below(&mut self, node: &Node<'_>, waiting: &mut Vec<u32>) -> bool {
        let image = self.image;
        let mut below: Vec<u32> = Vec::with_capacity(node.cells + 1);
        for place in 0..node.cells {
            // Nothing is put together here: only the number in front of the cell is wanted.
            let cell = image.cell(node, place, &mut 0);
            below.extend(cell.and_then(|cell| cell.below));
        }
        below.extend(node.right);
        let named = below.len();
        below.retain(|page| *page > 1 && *page <= image.pages && !self.is_taken(*page));
        let is_whole = named == node.cells + 1 && below.len() == named && !node.is_overfull;
        below.reverse();
        waiting.extend(below);
        is_whole
    }

    /// Reads the rows of one page that belongs to `owner`; how many fit.
    fn read(
        &mut self,
        number: u32,
        node: &Node<'_>,
        owner: Owner<'_>,
        sink: &mut impl Sink,
    ) -> usize {
        let image = self.image;
        let mut read = 0;
        let mut bad = usize::from(node.is_overfull);
        for place in 0..node.cells {
            let cell = image.cell(node, place, &mut self.budget);
            let taken = cell.and_then(|cell| {
                let payload = cell.payload?;
                let values = bytes::values(&payload)?;
                match owner {
                    Owner::Rows(shape, is_numbered) => {
                        let fits = shape.fits(&values) && (!is_numbered || cell.rowid != i64::MIN);
                        fits.then(|| sink.row(shape, is_numbered.then_some(cell.rowid), &values))?;
                        self.outcome.rows += 1;
                    }
                    Owner::Index(true) => {
                        if let Some((name, number)) = Layout::is_name_of_project(&values) {
                            sink.project(name, number);
                        }
                    }
                    Owner::Index(false) | Owner::Schema => {}
                }
                Some(cell.rest)
            });
            match taken {
                Some(rest) => {
                    rest.into_iter().for_each(|page| self.take(page));
                    read += 1;
                }
                None => bad += 1,
            }
        }
        if read > 0 {
            self.take(number);
        }
        if matches!(owner, Owner::Rows(..)) {
            self.outcome.rows_bad += bad;
        }
        read
    }

    /// Reads a page that no tree has; whether something on it could be read.
    fn loose(
        &mut self,
        number: u32,
        is_wanted: &dyn Fn(&Shape) -> bool,
        sink: &mut impl Sink,
    ) -> bool {
        let image = self.image;
        let Some(node) = image.node(number) else {
            return false;
        };
        if node.kind == NodeKind::TableInner {
            return node.cells > 0;
        }
        let Some(owner) = self.owner(&node) else {
            return false;
        };
        if let Owner::Rows(shape, _) = owner
            && !is_wanted(shape)
        {
            return true;
        }
        self.read(number, &node, owner, sink) > 0
    }

    /// What the rows of a page without an owner fit best.
    fn owner(&mut self, node: &Node<'_>) -> Option<Owner<'a>> {
        let layout = self.layout;
        let is_numbered = node.kind == NodeKind::TableLeaf;
        let tables = if is_numbered {
            &layout.tables
        } else {
            &layout.keyed
        };
        let mut fitting = vec![0_usize; tables.len()];
        let mut entries = 0;
        let mut names = 0;
        for place in 0..node.cells {
            let cell = self.image.cell(node, place, &mut self.budget);
            let Some(payload) = cell.and_then(|cell| cell.payload) else {
                continue;
            };
            let Some(values) = bytes::values(&payload) else {
                continue;
            };
            for (count, shape) in fitting.iter_mut().zip(tables) {
                *count += usize::from(shape.fits(&values));
            }
            if !is_numbered {
                let mut shapes = layout.indexes.iter();
                entries += usize::from(shapes.any(|shape| shape.fits_entry(&values)));
                names += usize::from(Layout::is_name_of_project(&values).is_some());
            }
        }
        let (most, shape) = fitting
            .into_iter()
            .zip(tables)
            .max_by_key(|(count, _)| *count)?;
        if most > 0 && most > entries {
            return Some(Owner::Rows(shape, is_numbered));
        }
        (entries > 0).then_some(Owner::Index(names > 0))
    }

    fn is_taken(&self, number: u32) -> bool {
        let place = usize::try_from(number).unwrap_or(0).checked_sub(1);
        place.and_then(|place| self.taken.get(place)).copied() != Some(false)
    }

    fn take(&mut self, number: u32) {
        let place = usize::try_from(number).unwrap_or(0).checked_sub(1);
        if let Some(taken) = place.and_then(|place| self.taken.get_mut(place)) {
            *taken = true;
        }
    }
}

impl Node<'_> {
    /// Whether pages of this kind can hold what the owner has.
    fn fits(&self, owner: Owner<'_>) -> bool {
        let of_numbered = matches!(self.kind, NodeKind::TableLeaf | NodeKind::TableInner);
        match owner {
            Owner::Schema => of_numbered,
            Owner::Rows(_, is_numbered) => of_numbered == is_numbered,
            Owner::Index(_) => !of_numbered,
        }
    }
}

/// What a row of the schema names; views and triggers have no pages.
fn entry(values: &[ValueRef<'_>]) -> Option<Entry> {
    let [kind, name, table, root, _] = values else {
        return None;
    };
    let kind = kind.as_str().ok()?;
    if !matches!(kind, "table" | "index" | "view" | "trigger") {
        return None;
    }
    Some(Entry {
        is_table: kind == "table",
        name: name.as_str().ok()?.to_owned(),
        table: table.as_str().ok()?.to_owned(),
        root: u32::try_from(root.as_i64().ok()?).ok()?,
    })
}
