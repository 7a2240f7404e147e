//! Schema tree of a damaged database: its objects and their statements.

use super::{COPIED_TIMES_MAX, Owner, PageScan};
use crate::sqlite::file_format;
use crate::sqlite::recovery::salvage::page_image::{NodeKind, PageImage};
use rusqlite::types::ValueRef;
use std::collections::BTreeMap;

/// Object of the schema.
pub(super) struct SchemaEntry {
    pub(super) is_table: bool,
    pub(super) name: String,
    pub(super) table: String,
    pub(super) root: u32,
}

/// Reads the readable statements of the schema, by name.
pub(in crate::sqlite::recovery::salvage) fn schema_statements(
    image: &PageImage<'_>,
) -> BTreeMap<String, String> {
    let mut statements = BTreeMap::new();
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
            if let Some([_, name, _, _, ValueRef::Text(sql)]) =
                file_format::values(&payload).as_deref()
                && let (Ok(name), Ok(sql)) = (name.as_str(), std::str::from_utf8(sql))
                && sql.starts_with("CREATE ")
            {
                statements.insert(name.to_owned(), sql.to_owned());
            }
        }
    }
    statements
}

impl PageScan<'_> {
    /// Returns the objects of the schema tree, and of other pages that look like a part of it.
    pub(super) fn schema(&mut self) -> Vec<SchemaEntry> {
        let mut entries = Vec::new();
        if !self.walk_schema(1, &mut entries) {
            for number in 2..=self.image.pages {
                self.walk_schema(number, &mut entries);
            }
        }
        entries
    }

    /// Reads the schema pages from `root` down; returns true if none was missing.
    fn walk_schema(&mut self, root: u32, entries: &mut Vec<SchemaEntry>) -> bool {
        let mut is_complete_tree = true;
        let mut waiting = vec![root];
        while let Some(number) = waiting.pop() {
            let image = self.image;
            let node = image.node(number).filter(|_| !self.is_assigned(number));
            let Some(node) = node.filter(|node| node.fits(Owner::Schema)) else {
                is_complete_tree = false;
                continue;
            };
            if node.kind == NodeKind::TableInner {
                // Only the tree that begins on the first page is certain to be the schema.
                if root != 1 {
                    return false;
                }
                self.assign(number);
                is_complete_tree &= self.push_children(&node, &mut waiting);
                continue;
            }
            let before = entries.len();
            let mut rest = Vec::new();
            for place in 0..node.cells {
                let cell = image.cell(&node, place, &mut self.budget);
                let read = cell.and_then(|cell| {
                    rest.extend(cell.rest);
                    entry(&file_format::values(cell.payload.as_deref()?)?)
                });
                match read {
                    Some(entry) => entries.push(entry),
                    None => is_complete_tree = false,
                }
            }
            if entries.len() > before {
                self.assign(number);
                rest.into_iter().for_each(|page| self.assign(page));
            }
        }
        is_complete_tree
    }
}

/// Parses a row of the schema; views and triggers have no pages.
fn entry(values: &[ValueRef<'_>]) -> Option<SchemaEntry> {
    let [kind, name, table, root, _] = values else {
        return None;
    };
    let kind = kind.as_str().ok()?;
    if !matches!(kind, "table" | "index" | "view" | "trigger") {
        return None;
    }
    Some(SchemaEntry {
        is_table: kind == "table",
        name: name.as_str().ok()?.to_owned(),
        table: table.as_str().ok()?.to_owned(),
        root: u32::try_from(root.as_i64().ok()?).ok()?,
    })
}
