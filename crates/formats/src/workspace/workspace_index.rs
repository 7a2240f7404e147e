//! Index of the workspace files: their stamps at the last import, and the location of each entry.
//!
//! Stored next to the database and rebuilt if it does not match: it contains no data of its own.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Stamp of a file: modification time in nanoseconds, size, inode.
pub type FileStamp = (i64, u64, u64);

/// Location of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryLocation {
    /// Display path of the file.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
}

/// Index of the workspace files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceIndex {
    /// Identity of the database, from its inode and creation time.
    pub store: u64,
    /// Stamps of the files, by display path.
    pub files: BTreeMap<String, FileStamp>,
    /// Locations of the entries, by digest.
    pub places: HashMap<String, EntryLocation>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(rename = "version")]
    version: u32,
    #[serde(rename = "store")]
    store: u64,
    #[serde(rename = "files")]
    files: BTreeMap<String, FileStamp>,
}

const VERSION: u32 = 1;

impl WorkspaceIndex {
    /// Parses the first line only, without locations; `None` if the text is not an index of this version.
    pub fn head(text: &str) -> Option<Self> {
        let head: Head = serde_json::from_str(text.lines().next()?).ok()?;
        (head.version == VERSION).then(|| Self {
            store: head.store,
            files: head.files,
            places: HashMap::new(),
        })
    }

    /// Parses the whole index; invalid lines are skipped.
    pub fn parse(text: &str) -> Option<Self> {
        let mut index = Self::head(text)?;
        for line in text.lines().skip(1) {
            if let Ok((digest, line, file)) = serde_json::from_str(line) {
                index.places.insert(digest, EntryLocation { file, line });
            }
        }
        Some(index)
    }

    /// Renders the index: one line for the files, one for each location.
    pub fn render(&self) -> String {
        let head = Head {
            version: VERSION,
            store: self.store,
            files: self.files.clone(),
        };
        let mut text = serde_json::to_string(&head).unwrap_or_default();
        text.push('\n');
        let mut places: Vec<_> = self.places.iter().collect();
        places.sort_by_key(|(digest, _)| *digest);
        for (digest, place) in places {
            let line = serde_json::json!([digest, place.line, place.file]);
            text.push_str(&line.to_string());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_round_trips_and_rejects_other_text() {
        let place = EntryLocation {
            file: "a\nb.md".to_owned(),
            line: 7,
        };
        let index = WorkspaceIndex {
            store: 3,
            files: [("a\nb.md".to_owned(), (-5, 6, 7))].into(),
            places: [("d".to_owned(), place)].into(),
        };
        let text = index.render();
        assert_eq!(WorkspaceIndex::parse(&text), Some(index.clone()));
        assert_eq!(
            WorkspaceIndex::head(&text).map(|head| head.files),
            Some(index.files)
        );
        for bad in [
            "",
            "{}",
            "[1]",
            "{\"version\":2,\"store\":1,\"files\":{}}",
            "x\n\0",
        ] {
            assert_eq!(WorkspaceIndex::parse(bad), None, "{bad}");
        }
    }
}
