//! Page scan: assigns each page to a table, by walking the trees where possible, else by its content.

mod schema_tree;

pub(super) use schema_tree::schema_statements;

use super::page_image::{Node, NodeKind, PageImage};
use super::row_names::id_of;
use super::schema_layout::{RowShape, SchemaLayout};
use super::skipped_rows::SkippedRows;
use crate::sqlite::file_format;
use rusqlite::types::ValueRef;
use std::collections::BTreeMap;

/// Limit of the bytes that are assembled from overflow pages, as a multiple of the image: each is needed once, but a
/// damaged file may reference a page many times.
const COPIED_TIMES_MAX: usize = 4;

/// Receiver of the rows that a scan finds.
pub(super) trait RowSink {
    /// Receives a row of a table: its number, if its table has row numbers, and its values.
    fn row(&mut self, shape: &RowShape, rowid: Option<i64>, values: &[ValueRef<'_>]);
    /// Receives the name of a project from an index.
    fn project(&mut self, name: String, number: i64);
}

/// Result of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ScanReport {
    /// Number of rows that match a table, in trees or not, counting duplicates.
    pub(super) rows: usize,
    /// Number of unreadable pages.
    pub(super) pages_bad: usize,
    /// Unreadable rows on readable pages.
    pub(super) skipped: SkippedRows,
    /// Number of pages that claim more rows than they can hold.
    pub(super) pages_overfull: usize,
    /// True if every table was found and walked completely.
    pub(super) is_complete: bool,
}

/// Scan of an image.
pub(super) struct PageScan<'a> {
    image: &'a PageImage<'a>,
    layout: &'a SchemaLayout,
    /// Pages that were already assigned, by number from 0.
    assigned: Vec<bool>,
    budget: usize,
    outcome: ScanReport,
}

/// Expected content of a tree.
#[derive(Clone, Copy)]
enum Owner<'s> {
    Schema,
    Rows(&'s RowShape, bool),
    /// An index; true for the one from project names to numbers.
    Index(bool),
}

impl Owner<'_> {
    /// Returns the table of the rows; empty for other pages.
    fn table(&self) -> &str {
        match self {
            Self::Rows(shape, _) => &shape.table,
            Self::Schema | Self::Index(_) => "",
        }
    }
}

/// Reads every readable row of `image` into `sink`, the most reliable first: rows in trees, then rows on pages
/// outside of any tree, then rows on free pages.
///
/// The last two may be older states of rows that exist elsewhere, so the first occurrence of a row counts. They are
/// used only for tables with a broken tree; orphaned pages also if the free list is complete, because then they were
/// cut off from a tree.
pub(super) fn scan(
    image: &PageImage<'_>,
    layout: &SchemaLayout,
    sink: &mut impl RowSink,
) -> ScanReport {
    let pages = usize::try_from(image.pages).unwrap_or(usize::MAX);
    let mut survey = PageScan {
        image,
        layout,
        assigned: vec![false; pages],
        budget: image.len().saturating_mul(COPIED_TIMES_MAX),
        outcome: ScanReport::default(),
    };
    let entries = survey.schema();
    let mut whole = BTreeMap::new();
    for entry in &entries {
        let shape = layout.table(&entry.name).filter(|_| entry.is_table);
        if let Some((shape, is_numbered)) = shape {
            let owner = Owner::Rows(shape, is_numbered);
            let is_complete_tree = survey.walk(entry.root, owner, sink);
            whole.insert(entry.name.clone(), is_complete_tree);
        } else {
            survey.walk(entry.root, Owner::Index(entry.table == "projects"), sink);
        }
    }
    let (free, free_is_whole) = image.free_pages();
    for page in &free {
        survey.assign(*page);
    }
    let is_complete_tree = |shape: &RowShape| whole.get(&shape.table).copied().unwrap_or(false);
    let loose: Vec<u32> = (1..=image.pages)
        .filter(|n| !survey.is_assigned(*n))
        .collect();
    let mut unread = Vec::new();
    for page in loose {
        if !survey.is_assigned(page)
            && !survey.read_orphan(
                page,
                &|shape| free_is_whole || !is_complete_tree(shape),
                sink,
            )
        {
            unread.push(page);
        }
    }
    // Overflow pages are assigned when their row is read.
    survey.outcome.pages_bad = unread.iter().filter(|n| !survey.is_assigned(**n)).count();
    for page in free {
        survey.read_orphan(page, &|shape| !is_complete_tree(shape), sink);
    }
    let mut tables = layout.tables.iter().chain(&layout.keyed);
    survey.outcome.is_complete = tables.all(is_complete_tree);
    survey.outcome
}

impl<'a> PageScan<'a> {
    /// Reads the tree that begins at `root`; returns true if none of its pages was missing.
    fn walk(&mut self, root: u32, owner: Owner<'_>, sink: &mut impl RowSink) -> bool {
        let mut is_complete_tree = true;
        let mut waiting = vec![root];
        while let Some(number) = waiting.pop() {
            let image = self.image;
            let node = image.node(number).filter(|_| !self.is_assigned(number));
            let Some(node) = node.filter(|node| node.fits(owner)) else {
                is_complete_tree = false;
                continue;
            };
            let is_inner = matches!(node.kind, NodeKind::TableInner | NodeKind::IndexInner);
            let bad = (self.outcome.skipped.position(), self.outcome.pages_overfull);
            let read = if node.kind == NodeKind::TableInner {
                0
            } else {
                self.read(number, &node, owner, sink)
            };
            if !is_inner && read == 0 && (node.cells > 0 || number != root) {
                // Rows of another table or of none: the page may be assigned later.
                self.outcome.skipped.truncate(bad.0);
                self.outcome.pages_overfull = bad.1;
                is_complete_tree = false;
                continue;
            }
            is_complete_tree &= self.outcome.skipped.position() == bad.0;
            is_complete_tree &= self.outcome.pages_overfull == bad.1;
            self.assign(number);
            if is_inner {
                is_complete_tree &= self.push_children(&node, &mut waiting);
            }
        }
        is_complete_tree
    }

    /// Pushes the child pages of an inner page, so that the first is next; returns true if all were readable.
    fn push_children(&mut self, node: &Node<'_>, waiting: &mut Vec<u32>) -> bool {
        let image = self.image;
        let mut below: Vec<u32> = Vec::with_capacity(node.cells + 1);
        for place in 0..node.cells {
            // No overflow pages are needed for the child number at the start of the cell.
            let cell = image.cell(node, place, &mut 0);
            below.extend(cell.and_then(|cell| cell.below));
        }
        below.extend(node.right);
        let named = below.len();
        below.retain(|page| *page > 1 && *page <= image.pages && !self.is_assigned(*page));
        let is_complete_tree = named == node.cells + 1 && below.len() == named && !node.is_overfull;
        below.reverse();
        waiting.extend(below);
        is_complete_tree
    }

    /// Reads the rows of one page that belongs to `owner`; returns how many match.
    fn read(
        &mut self,
        number: u32,
        node: &Node<'_>,
        owner: Owner<'_>,
        sink: &mut impl RowSink,
    ) -> usize {
        let image = self.image;
        let mut read = 0;
        let mut bad = SkippedRows::default();
        for place in 0..node.cells {
            let cell = image.cell(node, place, &mut self.budget);
            let rowid = cell.as_ref().map_or(0, |cell| cell.rowid);
            let unnamed = || match owner {
                Owner::Rows(_, true) => format!("row {rowid} on page {number}"),
                Owner::Rows(..) | Owner::Index(_) | Owner::Schema => {
                    format!("a row on page {number}")
                }
            };
            let mut problem = None;
            let assigned = cell.and_then(|cell| {
                let payload = cell.payload?;
                let values = file_format::values(&payload)?;
                match owner {
                    Owner::Rows(shape, is_numbered) => {
                        if let Some(misfit) = shape.misfit(&values) {
                            let id = id_of(shape, &values).unwrap_or_else(unnamed);
                            problem = Some((id, misfit));
                            return None;
                        }
                        if is_numbered && cell.rowid == i64::MIN {
                            return None;
                        }
                        sink.row(shape, is_numbered.then_some(cell.rowid), &values);
                        self.outcome.rows += 1;
                    }
                    Owner::Index(true) => {
                        if let Some((name, number)) = SchemaLayout::is_name_of_project(&values) {
                            sink.project(name, number);
                        }
                    }
                    Owner::Index(false) | Owner::Schema => {}
                }
                Some(cell.rest)
            });
            match assigned {
                Some(rest) => {
                    rest.into_iter().for_each(|page| self.assign(page));
                    read += 1;
                }
                None => {
                    let unread = || (unnamed(), "cannot be read".to_owned());
                    let (id, reason) = problem.unwrap_or_else(unread);
                    bad.push(owner.table(), id, reason);
                }
            }
        }
        if read > 0 {
            self.assign(number);
        }
        if matches!(owner, Owner::Rows(..)) {
            self.outcome.skipped.extend(bad);
            self.outcome.pages_overfull += usize::from(node.is_overfull);
        }
        read
    }

    /// Reads a page outside of any tree; returns true if a row on it could be read.
    fn read_orphan(
        &mut self,
        number: u32,
        is_wanted: &dyn Fn(&RowShape) -> bool,
        sink: &mut impl RowSink,
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

    /// Returns the table that the rows of an orphaned page match best.
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
            let Some(values) = file_format::values(&payload) else {
                continue;
            };
            for (count, shape) in fitting.iter_mut().zip(tables) {
                *count += usize::from(shape.fits(&values));
            }
            if !is_numbered {
                let mut shapes = layout.indexes.iter();
                entries += usize::from(shapes.any(|shape| shape.fits_entry(&values)));
                names += usize::from(SchemaLayout::is_name_of_project(&values).is_some());
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

    fn is_assigned(&self, number: u32) -> bool {
        let place = usize::try_from(number).unwrap_or(0).checked_sub(1);
        place.and_then(|place| self.assigned.get(place)).copied() != Some(false)
    }

    fn assign(&mut self, number: u32) {
        let place = usize::try_from(number).unwrap_or(0).checked_sub(1);
        if let Some(assigned) = place.and_then(|place| self.assigned.get_mut(place)) {
            *assigned = true;
        }
    }
}

impl Node<'_> {
    /// Returns true if pages of this type can belong to the owner.
    fn fits(&self, owner: Owner<'_>) -> bool {
        let of_numbered = matches!(self.kind, NodeKind::TableLeaf | NodeKind::TableInner);
        match owner {
            Owner::Schema => of_numbered,
            Owner::Rows(_, is_numbered) => of_numbered == is_numbered,
            Owner::Index(_) => !of_numbered,
        }
    }
}
