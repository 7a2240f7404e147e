//! What of the files is in the records: which files, as they were, and where each entry stood.
//!
//! Kept beside the database and made anew whenever it does not fit: nothing is only here.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// A file as it was: when it was written (nanoseconds), its size, its number.
pub type Seen = (i64, u64, u64);

/// Where an entry stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as it is shown.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
}

/// What is known of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// The database that it belongs to: made of its number in the file system and of when it was made.
    pub store: u64,
    /// The files, as they are shown.
    pub files: BTreeMap<String, Seen>,
    /// Where each entry stands, by its digest.
    pub places: HashMap<String, Place>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    store: u64,
    files: BTreeMap<String, Seen>,
}

const VERSION: u32 = 1;

impl Index {
    /// The first line only, without the places; `None` for what is no index of this version.
    pub fn head(text: &str) -> Option<Self> {
        let head: Head = serde_json::from_str(text.lines().next()?).ok()?;
        (head.version == VERSION).then(|| Self {
            store: head.store,
            files: head.files,
            places: HashMap::new(),
        })
    }

    /// All of it; a line that cannot be read is left out.
    pub fn parse(text: &str) -> Option<Self> {
        let mut index = Self::head(text)?;
        for line in text.lines().skip(1) {
            if let Ok((digest, line, file)) = serde_json::from_str(line) {
                index.places.insert(digest, Place { file, line });
            }
        }
        Some(index)
    }

    /// As text: one line for the files, one for each place.
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
    fn what_is_written_is_read_and_anything_else_is_none() {
        let place = Place {
            file: "a\nb.md".to_owned(),
            line: 7,
        };
        let index = Index {
            store: 3,
            files: [("a\nb.md".to_owned(), (-5, 6, 7))].into(),
            places: [("d".to_owned(), place)].into(),
        };
        let text = index.render();
        assert_eq!(Index::parse(&text), Some(index.clone()));
        assert_eq!(Index::head(&text).map(|head| head.files), Some(index.files));
        for bad in [
            "",
            "{}",
            "[1]",
            "{\"version\":2,\"store\":1,\"files\":{}}",
            "x\n\0",
        ] {
            assert_eq!(Index::parse(bad), None, "{bad}");
        }
    }
}
