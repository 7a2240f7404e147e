//! Files of a team's memory: one entry on each line, with its id, so that git merges them line by line.

use heirloom_model::{RecordId, limits, text};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Names that Windows reserves.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];

/// One entry of a team file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamEntry {
    /// Id; `None` if a person wrote the entry without one.
    pub id: Option<RecordId>,
    /// Line, from 1.
    pub line: u64,
    /// Text; never empty.
    pub text: String,
    /// Key, if set.
    pub key: Option<String>,
    /// Rationale of a decision.
    pub why: Option<String>,
}

/// Parsed team file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TeamFile {
    /// Entries in order, with unique ids.
    pub entries: Vec<TeamEntry>,
    /// Notes on skipped lines.
    pub notes: Vec<String>,
}

#[derive(Serialize, Deserialize, Default)]
struct EntryComment {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "key")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "why")]
    why: Option<String>,
}

impl TeamFile {
    /// Parses any text; lines that are not bullets are ignored.
    pub fn parse(page: &str) -> Self {
        let mut read = Self::default();
        let mut ids = HashSet::new();
        for (line, line_text) in (1..).zip(page.lines()) {
            if line_text.starts_with("<<<<<<<") {
                let note = format!("line {line}: a merge is not resolved; both sides are read");
                read.notes.push(note);
            }
            let Some(mut entry) = TeamEntry::parse(line_text) else {
                continue;
            };
            entry.line = line;
            if entry.id.is_some_and(|id| !ids.insert(id)) {
                let note = format!("line {line}: another entry has this id; skipped");
                read.notes.push(note);
                continue;
            }
            read.entries.push(entry);
        }
        read
    }

    /// Adds an entry to a page, ordered by text; a line with the same id is replaced. An empty page gets a heading.
    pub fn upsert_entry(page: &str, category: &str, entry: &TeamEntry) -> String {
        let line = entry.render();
        let lines: Vec<&str> = page.lines().collect();
        let read = |line: &&str| TeamEntry::parse(line);
        let known = |line_text: &&str| read(line_text).is_some_and(|known| known.id == entry.id);
        let mut lines: Vec<String> = match lines.iter().position(known) {
            Some(at) => {
                let replaced = lines.iter().enumerate();
                let line = |(n, line_text): (usize, &&str)| {
                    if n == at { &line } else { *line_text }.to_owned()
                };
                replaced.map(line).collect()
            }
            None => {
                let order = entry.text.to_lowercase();
                let later = |line_text: &&str| {
                    read(line_text).is_some_and(|e| e.text.to_lowercase() > order)
                };
                let last = lines
                    .iter()
                    .rposition(|line_text| read(line_text).is_some());
                let at = lines.iter().position(later);
                let at = at.or(last.map(|last| last + 1)).unwrap_or(lines.len());
                let mut lines: Vec<_> = lines.into_iter().map(str::to_owned).collect();
                lines.insert(at, line);
                lines
            }
        };
        if page.trim().is_empty() {
            let heading = text::one_line(category);
            lines = vec![format!("# {heading}"), String::new(), entry.render()];
        }
        lines.join("\n") + "\n"
    }

    /// Removes the entry with this id from a page; `None` if there is no such entry.
    pub fn remove_entry(page: &str, id: RecordId) -> Option<String> {
        let is_it = |line: &str| TeamEntry::parse(line).is_some_and(|entry| entry.id == Some(id));
        let left: Vec<_> = page
            .split_inclusive('\n')
            .filter(|line| !is_it(line))
            .collect();
        let left = left.concat();
        (left.len() < page.len()).then_some(left)
    }
}

impl TeamEntry {
    fn parse(line: &str) -> Option<Self> {
        let line_text = line.strip_prefix("- ")?.trim();
        let (line_text, comment) = match line_text
            .strip_suffix("-->")
            .and_then(|s| s.rsplit_once("<!--"))
        {
            Some((line_text, comment)) => (line_text.trim_end(), comment.trim()),
            None => (line_text, ""),
        };
        let (id, rest) = comment.split_once(' ').unwrap_or((comment, ""));
        let id = id.parse().ok();
        let mark: EntryComment = match id {
            Some(_) => serde_json::from_str(rest).unwrap_or_default(),
            None => EntryComment::default(),
        };
        let fits = |key: &String| !key.trim().is_empty() && key.len() <= limits::KEY_BYTES_MAX;
        let text = decode(line_text).trim().to_owned();
        (!text.is_empty()).then_some(Self {
            id,
            line: 0,
            text,
            key: mark.key.filter(fits),
            why: mark.why.filter(|why| !why.trim().is_empty()),
        })
    }

    /// Renders the entry as one line.
    pub fn render(&self) -> String {
        let mark = EntryComment {
            key: self.key.clone(),
            why: self.why.clone(),
        };
        let mark = serde_json::to_string(&mark).unwrap_or_default();
        // The JSON escapes have the same meaning, and cannot begin or end a comment.
        let mark = mark.replace('>', "\\u003e").replace('<', "\\u003c");
        let text = encode(&self.text);
        match (&self.id, mark.as_str()) {
            (None, _) => format!("- {text}"),
            (Some(id), "{}") => format!("- {text} <!-- {id} -->"),
            (Some(id), mark) => format!("- {text} <!-- {id} {mark} -->"),
        }
    }
}

/// Encodes a text on one line: a line break is `<br>`; text that looks like that, or like a comment, is escaped.
fn encode(text: &str) -> String {
    let text = text.trim().replace("\r\n", "\n");
    let mut line = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let after = text.get(at + c.len_utf8()..).unwrap_or_default();
        let begins = |names: &[&str]| names.iter().any(|name| after.starts_with(name));
        match c {
            '<' if begins(&["br>", "!--"]) => line.push_str("&lt;"),
            '>' if text.get(..at).is_some_and(|before| before.ends_with("--")) => {
                line.push_str("&gt;");
            }
            '&' if begins(&["lt;", "gt;", "amp;"]) => line.push_str("&amp;"),
            '\n' | '\r' => line.push_str("<br>"),
            other => line.push(other),
        }
    }
    line
}

/// Decodes such a line. Only these entities are decoded, so that other text of people is preserved.
fn decode(line_text: &str) -> String {
    let text = line_text.replace("<br>", "\n");
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&amp;", "&")
}

/// Returns the file name of a category, valid on every file system; `None` if it would be too long.
pub fn category_file_name(category: &str) -> Option<String> {
    let mut name = String::new();
    let bare = category.split('.').next().unwrap_or_default();
    let digit = |c: char| c.is_ascii_digit();
    let port = ["com", "lpt"].iter().any(|p| {
        bare.strip_prefix(p)
            .is_some_and(|n| n.len() == 1 && n.contains(digit))
    });
    let is_reserved = port || RESERVED.contains(&bare);
    for (at, byte) in category.bytes().enumerate() {
        let is_plain = byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        let is_plain = is_plain || (byte == b'.' && at > 0 && at + 1 < category.len());
        if is_plain && !(at == 0 && is_reserved) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02x}"));
        }
    }
    name.push_str(".md");
    (name.len() <= limits::TEAM_FILE_NAME_BYTES_MAX).then_some(name)
}

/// Returns the category of a file name; `None` if it has none.
pub fn category_of_file_name(name: &str) -> Option<String> {
    let stem = name.strip_suffix(".md")?;
    let mut bytes = Vec::new();
    let mut rest = stem.as_bytes();
    while let Some((&byte, more)) = rest.split_first() {
        let code = more.get(..2).filter(|_| byte == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                bytes.push(code);
                rest = &more[2..];
            }
            None => {
                bytes.push(byte);
                rest = more;
            }
        }
    }
    let category = String::from_utf8(bytes).ok()?;
    heirloom_model::record::check_name("category", &category).ok()?;
    Some(category)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(n: u8) -> RecordId {
        format!("01890a5d-ac96-774b-bcce-b302099a80{n:02x}")
            .parse()
            .unwrap()
    }

    fn of(n: u8, text: &str) -> TeamEntry {
        TeamEntry {
            id: Some(id(n)),
            line: 1,
            text: text.to_owned(),
            key: None,
            why: None,
        }
    }

    #[test]
    fn upsert_entry_orders_lines_by_text() {
        let page = ["b", "a", "c"]
            .iter()
            .zip(1..)
            .fold(String::new(), |page, (text, n)| {
                TeamFile::upsert_entry(&page, "fact", &of(n, text))
            });
        let lines: Vec<_> = page.lines().collect();
        assert_eq!(lines[0], "# fact");
        assert!(
            lines[2].starts_with("- a <!-- 01890a5d") && lines[4].starts_with("- c <!--"),
            "{page}"
        );
        assert_eq!(TeamFile::upsert_entry(&page, "fact", &of(2, "a")), page);
        let edited = TeamFile::upsert_entry(&page, "fact", &of(2, "z"));
        assert!(
            edited.lines().nth(2).unwrap().starts_with("- z "),
            "{edited}"
        );
        let left = TeamFile::remove_entry(&page, id(2)).unwrap();
        assert_eq!(TeamFile::parse(&left).entries.len(), 2);
        assert_eq!(TeamFile::remove_entry(&left, id(2)), None);
    }

    #[test]
    fn parse_reads_handwritten_lines() {
        let twice = format!("- a <!-- {} -->\n- b <!-- {} -->\n", id(1), id(1));
        let page =
            format!("# x\n\ntext\n<<<<<<< HEAD\n{twice}- by hand\n- with <!-- a comment -->\n-\n");
        let read = TeamFile::parse(&page);
        let line_text: Vec<_> = read
            .entries
            .iter()
            .map(|entry| entry.text.as_str())
            .collect();
        assert_eq!(line_text, ["a", "by hand", "with"]);
        assert_eq!(read.notes.len(), 2, "{:?}", read.notes);
    }

    #[test]
    fn category_file_name_round_trips_special_names() {
        for (category, name) in [
            ("fact", "fact.md"),
            ("Fact", "%46act.md"),
            ("../x", "%2e.%2fx.md"),
            ("con", "%63on.md"),
            ("com1.x", "%63om1.x.md"),
            ("é", "%c3%a9.md"),
            ("50%", "50%25.md"),
        ] {
            assert_eq!(category_file_name(category).as_deref(), Some(name));
            assert_eq!(category_of_file_name(name).as_deref(), Some(category));
        }
        assert_eq!(
            category_file_name(&"x".repeat(197)).map(|name| name.len()),
            Some(limits::TEAM_FILE_NAME_BYTES_MAX)
        );
        assert_eq!(category_file_name(&"x".repeat(198)), None);
        assert_eq!(category_of_file_name("a%0ab.md"), None);
        assert_eq!(category_of_file_name(".md"), None);
    }

    proptest! {
        #[test]
        fn entry_round_trips(text in "(<br>|<!--|-->|&lt;|&amp;|&gt;|&|;|[a-z<>!-]|\n|\\PC){1,20}", key in proptest::option::of("(-->|<!--|\\PC){1,9}")) {
            let text = text.trim().to_owned();
            prop_assume!(!text.is_empty());
            let key = key.filter(|key| !key.trim().is_empty());
            let entry = TeamEntry { key, ..of(1, &text) };
            let line = entry.render();
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(TeamFile::parse(&line).entries, vec![entry]);
        }

        #[test]
        fn category_round_trips(category in "\\PC{1,12}") {
            if let Some(name) = category_file_name(&category) {
                prop_assert!(!name.contains('/') && !name.starts_with('.'));
                if !category.trim().is_empty() {
                    prop_assert_eq!(category_of_file_name(&name), Some(category));
                }
            }
        }
    }
}
