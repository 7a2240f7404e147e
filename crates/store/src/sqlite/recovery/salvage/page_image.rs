//! Page view of a damaged database: the file with its write-ahead log applied.

use super::wal::{self, Journal};
use crate::sqlite::database_files::wal_frames::LogEnd;
use crate::sqlite::file_format::{u16_at, u32_at, varint};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// First bytes of a sound file.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Page size of every database that Heirloom creates, bytes.
const PAGE_BYTES: usize = 4_096;
/// Size of the file header at the start of the first page, bytes.
const FILE_HEADER_BYTES: usize = 100;

/// Type of a tree page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    /// Rows of a table, by number.
    TableLeaf,
    /// Inner page of a table.
    TableInner,
    /// Entries of an index, or rows of a table without row numbers.
    IndexLeaf,
    /// Inner page of an index, which has entries too.
    IndexInner,
}

/// Page of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) kind: NodeKind,
    page: &'a [u8],
    /// Offset of the cell pointers.
    cells_at: usize,
    /// Number of cells, limited to those that fit.
    pub(super) cells: usize,
    /// True if the header claims more cells than fit.
    pub(super) is_overfull: bool,
    /// Last child page.
    pub(super) right: Option<u32>,
}

/// Cell of a node.
#[derive(Debug, Clone)]
pub(super) struct Cell<'a> {
    /// Child page before the cell.
    pub(super) below: Option<u32>,
    /// Row number.
    pub(super) rowid: i64,
    /// Record, including the part on overflow pages; `None` on inner pages of a table, or if it cannot be read.
    pub(super) payload: Option<Cow<'a, [u8]>>,
    /// Overflow pages of the record.
    pub(super) rest: Vec<u32>,
}

/// Damaged database in memory.
#[derive(Debug)]
pub(in crate::sqlite) struct PageImage<'a> {
    main: Cow<'a, [u8]>,
    journal: Journal<'a>,
    page_size: usize,
    /// Number of pages; they are numbered from 1.
    pub(super) pages: u32,
}

impl<'a> PageImage<'a> {
    /// Creates the image of a file and its log; either may be empty, truncated or garbage. `known` is the end of the
    /// log according to the WAL index.
    pub(in crate::sqlite) fn new(main: &'a [u8], log: &'a [u8], known: Option<&LogEnd>) -> Self {
        let journal = wal::read(log, known);
        let page_size = page_size(main, &journal);
        let mut main = Cow::Borrowed(main);
        let missing = main.len().next_multiple_of(page_size) - main.len();
        if missing > 0 {
            // The rows in the first part of a truncated page can still be read.
            let filled = main.len() + missing;
            main.to_mut().resize(filled, 0);
        }
        let in_main = u32::try_from(main.len() / page_size).unwrap_or(u32::MAX);
        let in_journal = journal.pages.keys().copied().max().unwrap_or(0);
        // A page number beyond the possible size of the file is damage of the log.
        let most = in_main.saturating_add(u32::try_from(journal.pages.len()).unwrap_or(0));
        Self {
            pages: in_main.max(in_journal.min(most)),
            main,
            journal,
            page_size,
        }
    }

    /// Returns the size of the file and its log, bytes.
    pub(super) fn len(&self) -> usize {
        self.main.len() + self.journal.pages.len() * self.page_size
    }

    /// Returns the number of log frames that could not be read.
    pub(super) fn frames_bad(&self) -> usize {
        self.journal.frames_bad
    }

    /// Returns the pages whose last content was in such a frame.
    pub(super) fn pages_lost(&self) -> &BTreeSet<u32> {
        &self.journal.pages_lost
    }

    /// Returns true if the log has pages.
    pub(super) fn has_journal(&self) -> bool {
        !self.journal.pages.is_empty()
    }

    /// Returns the content of a page; pages are numbered from 1.
    pub(super) fn page(&self, number: u32) -> Option<&[u8]> {
        if number == 0 || number > self.pages {
            return None;
        }
        if self.journal.page_size == Some(self.page_size)
            && let Some(page) = self.journal.pages.get(&number)
        {
            return Some(page);
        }
        let start = usize::try_from(number - 1)
            .ok()?
            .checked_mul(self.page_size)?;
        self.main.get(start..start.checked_add(self.page_size)?)
    }

    /// Returns the first page if it begins like a database.
    pub(super) fn header(&self) -> Option<&[u8]> {
        self.page(1).filter(|page| page.starts_with(MAGIC))
    }

    /// Returns the free pages; the flag is true if their list is complete.
    pub(super) fn free_pages(&self) -> (Vec<u32>, bool) {
        let Some(header) = self.header() else {
            return (Vec::new(), false);
        };
        let mut free = Vec::new();
        let mut trunk = u32_at(header, 32).unwrap_or(0);
        let count = u32_at(header, 36).unwrap_or(0);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let mut trunks = 0;
        while trunk != 0 {
            trunks += 1;
            let Some(page) = self.page(trunk).filter(|_| trunks <= self.pages) else {
                return (free, false);
            };
            free.push(trunk);
            let listed = u32_at(page, 4).and_then(|n| usize::try_from(n).ok());
            let Some(listed) = listed.filter(|n| *n <= self.page_size / 4 - 2) else {
                return (free, false);
            };
            free.extend((0..listed).filter_map(|n| u32_at(page, 8 + 4 * n)));
            if free.len() > count {
                return (free, false);
            }
            trunk = u32_at(page, 0).unwrap_or(0);
        }
        let whole = free.len() == count && free.iter().all(|n| (2..=self.pages).contains(n));
        (free, whole)
    }

    /// Returns the tree page at `number`; `None` if it cannot be one.
    pub(super) fn node(&self, number: u32) -> Option<Node<'_>> {
        let page = self.page(number)?;
        let base = if number == 1 { FILE_HEADER_BYTES } else { 0 };
        let kind = match page.get(base)? {
            0x0d => NodeKind::TableLeaf,
            0x05 => NodeKind::TableInner,
            0x0a => NodeKind::IndexLeaf,
            0x02 => NodeKind::IndexInner,
            _ => return None,
        };
        let is_inner = matches!(kind, NodeKind::TableInner | NodeKind::IndexInner);
        let cells_at = base + if is_inner { 12 } else { 8 };
        let stored = usize::from(u16_at(page, base + 3)?);
        let most = page.len().saturating_sub(cells_at) / 4;
        Some(Node {
            kind,
            page,
            cells_at,
            cells: stored.min(most),
            is_overfull: stored > most,
            right: if is_inner {
                u32_at(page, base + 8)
            } else {
                None
            },
        })
    }

    /// Returns the cell at `place` of a node. `budget` limits the bytes that may still be copied from overflow pages.
    pub(super) fn cell<'p>(
        &'p self,
        node: &Node<'p>,
        place: usize,
        budget: &mut usize,
    ) -> Option<Cell<'p>> {
        let start = usize::from(u16_at(node.page, node.cells_at + 2 * place)?);
        if start < node.cells_at + 2 * node.cells {
            return None;
        }
        let mut bytes = node.page.get(start..)?;
        let mut below = None;
        if matches!(node.kind, NodeKind::TableInner | NodeKind::IndexInner) {
            below = Some(u32_at(bytes, 0)?);
            bytes = bytes.get(4..)?;
        }
        if node.kind == NodeKind::TableInner {
            return Some(Cell {
                below,
                rowid: 0,
                payload: None,
                rest: Vec::new(),
            });
        }
        let (size, mut bytes) = varint(bytes)?;
        let mut rowid = 0;
        if node.kind == NodeKind::TableLeaf {
            let (number, after) = varint(bytes)?;
            rowid = number.cast_signed();
            bytes = after;
        }
        let mut rest = Vec::new();
        let size = usize::try_from(size).ok();
        let payload = size.and_then(|size| self.payload(node.kind, size, bytes, budget, &mut rest));
        Some(Cell {
            below,
            rowid,
            payload,
            rest,
        })
    }

    /// Returns a record of `size` bytes that begins in `bytes` and continues on overflow pages.
    fn payload<'p>(
        &'p self,
        kind: NodeKind,
        size: usize,
        bytes: &'p [u8],
        budget: &mut usize,
        rest: &mut Vec<u32>,
    ) -> Option<Cow<'p, [u8]>> {
        let usable = self.page_size;
        let most = match kind {
            NodeKind::TableLeaf | NodeKind::TableInner => usable - 35,
            NodeKind::IndexLeaf | NodeKind::IndexInner => (usable - 12) * 64 / 255 - 23,
        };
        if size <= most {
            return bytes.get(..size).map(Cow::Borrowed);
        }
        if size > self.len() || size > *budget {
            return None;
        }
        let least = (usable - 12) * 32 / 255 - 23;
        let fitting = least + (size - least) % (usable - 4);
        let local = if fitting <= most { fitting } else { least };
        let mut payload = bytes.get(..local)?.to_vec();
        let mut next = u32_at(bytes, local)?;
        while payload.len() < size {
            *budget = budget.checked_sub(usable)?;
            let page = self.page(next)?;
            rest.push(next);
            let wanted = (size - payload.len()).min(usable - 4);
            payload.extend_from_slice(page.get(4..4 + wanted)?);
            next = u32_at(page, 0)?;
        }
        // The last page of a chain has no successor.
        (next == 0).then_some(Cow::Owned(payload))
    }
}

/// Reads the page size in the file header.
fn header_page_size(main: &[u8]) -> Option<usize> {
    let stored = match u16_at(main, 16)? {
        1 => 65_536,
        stored => usize::from(stored),
    };
    (main.starts_with(MAGIC) && stored >= 512 && stored.is_power_of_two()).then_some(stored)
}

/// Returns the page size: that of the header or the log if it yields tree pages, else ours.
fn page_size(main: &[u8], journal: &Journal<'_>) -> usize {
    let stored = header_page_size(main);
    let candidates = [stored, journal.page_size, Some(PAGE_BYTES)];
    let mut best = (0, PAGE_BYTES);
    for size in candidates.into_iter().flatten() {
        // Compare over the same bytes, so that small pages do not win by their number.
        let trees = main
            .chunks(size)
            .filter(|page| looks_like_a_tree(page))
            .count()
            * size;
        if trees > best.0 {
            best = (trees, size);
        }
    }
    best.1
}

fn looks_like_a_tree(page: &[u8]) -> bool {
    let cells = u16_at(page, 3).map_or(0, usize::from);
    let content = u16_at(page, 5).map_or(0, usize::from);
    matches!(page.first(), Some(0x0d | 0x05 | 0x0a | 0x02))
        && cells > 0
        && 8 + 2 * cells <= content
        && content < page.len()
}
