//! Plain words of a receipt: names of sections and items, kinds, and reasons.

use super::body::{ReceiptBody, ReceiptItem, capitalize};
use crate::page::record_label;
use crate::page::view::number;
use heirloom_model::{Kind, Record, text};

/// Maximum number of characters of an item's name.
const NAME_CHARS: usize = 110;

/// Sections: stored name, shown name, singular and plural of their items, and kind of an item without a record.
const SECTIONS: [(&str, &str, [&str; 2], &str); 25] = [
    (
        "Task",
        "Task",
        ["line of the task", "lines of the task"],
        "task",
    ),
    ("Pinned", "Pinned", ["pin", "pins"], "knowledge"),
    (
        "Unresolved Errors",
        "Open errors",
        ["open error", "open errors"],
        "error",
    ),
    (
        "Key Decisions",
        "Decisions",
        ["decision", "decisions"],
        "knowledge",
    ),
    ("Key Facts", "Facts", ["fact", "facts"], "knowledge"),
    (
        "Tried Before",
        "Tried before",
        ["attempt", "attempts"],
        "episode",
    ),
    (
        "Artifacts",
        "Artifacts",
        ["artifact", "artifacts"],
        "artifact",
    ),
    (
        "directives",
        "Named files",
        ["part of files", "parts of files"],
        "note",
    ),
    ("input", "Named files", ["file", "files"], "note"),
    ("tail", "Last output", ["output", "outputs"], "output"),
    (
        "plan",
        "Plan",
        ["part of the plan", "parts of the plan"],
        "note",
    ),
    (
        "learnings",
        "Learned before",
        ["lesson", "lessons"],
        "error",
    ),
    (
        "own_output",
        "Own last output",
        ["output", "outputs"],
        "output",
    ),
    (
        "other_outputs",
        "Outputs of other agents",
        ["output", "outputs"],
        "output",
    ),
    ("history", "Conversation", ["turn", "turns"], "turn"),
    (
        "recall",
        "Recalled",
        ["recalled item", "recalled items"],
        "turn",
    ),
    (
        "group",
        "Group instructions",
        ["group file", "group files"],
        "note",
    ),
    (
        "group-facts",
        "Group memory",
        ["group note", "group notes"],
        "note",
    ),
    (
        "group-summary",
        "Group summary",
        ["group summary", "group summaries"],
        "summary",
    ),
    (
        "workspace",
        "Workspace",
        ["workspace file", "workspace files"],
        "note",
    ),
    (
        "team",
        "Team memory",
        ["team entry", "team entries"],
        "knowledge",
    ),
    (
        "user",
        "Your memory",
        ["entry of yours", "entries of yours"],
        "knowledge",
    ),
    (
        "architecture",
        "Architecture",
        ["document", "documents"],
        "note",
    ),
    ("files", "Files of the task", ["file", "files"], "artifact"),
    (
        "Ended",
        "Ended",
        ["ended record", "ended records"],
        "knowledge",
    ),
];

/// Returns the shown name of a section.
pub(super) fn section_name(stored: &str) -> String {
    match SECTIONS.iter().find(|(name, ..)| *name == stored) {
        Some((_, shown, ..)) => (*shown).to_owned(),
        None => capitalize(stored.replace(['_', '-'], " ").to_lowercase()),
    }
}

/// Returns a number of items of a section: `2 decisions`.
pub(super) fn item_count(stored: &str, count: usize) -> String {
    let nouns = SECTIONS.iter().find(|(name, ..)| *name == stored);
    let nouns = nouns.map_or(["other item", "other items"], |(_, _, nouns, _)| *nouns);
    let noun = nouns[usize::from(count != 1)];
    format!("{} {noun}", number(count as u64))
}

/// Returns the kind of an item: that of its record, otherwise the usual one of its section.
pub(super) fn item_kind(
    section: &str,
    item: &ReceiptItem,
    record: Option<&Record>,
) -> &'static str {
    let usual = SECTIONS.iter().find(|(name, ..)| *name == section);
    let usual = usual.map_or(Kind::Note.as_str(), |(.., kind)| *kind);
    match (record, &item.file) {
        (Some(record), _) => record.kind.as_str(),
        // Recall offers records with their id, and turns without.
        (None, Some(_)) => Kind::Note.as_str(),
        (None, None) => usual,
    }
}

/// Name of an item, and the file that it is from.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ItemName {
    pub(super) words: String,
    /// Path and line; empty for an item that is not from a file.
    pub(super) file: String,
}

/// Returns the name of an item: its words without Markdown marks, with the key of its record; a whole file has its
/// path as the name.
pub(super) fn item_name(item: &ReceiptItem, record: Option<&Record>) -> ItemName {
    let words = plain_words(&item.excerpt);
    if let Some(file) = &item.file {
        let path = file.strip_prefix(".heirloom/").unwrap_or(file);
        let (name, line) = match path.rsplit_once(':') {
            Some((name, line)) if line.bytes().all(|b| b.is_ascii_digit()) => (name, line),
            _ => (path, ""),
        };
        return match line {
            "" => ItemName {
                words: name.to_owned(),
                file: String::new(),
            },
            line => ItemName {
                words: text::excerpt(&words, NAME_CHARS),
                file: format!("{name}, line {line}"),
            },
        };
    }
    let key = record.map(record_label::given_key).unwrap_or_default();
    let words = match key {
        "" => words,
        key if words.starts_with(key) => words,
        key => format!("{}: {words}", text::replace_control_chars(key)),
    };
    ItemName {
        words: text::excerpt(&words, NAME_CHARS),
        file: String::new(),
    }
}

/// Removes list and heading marks from an excerpt, and the brackets around the author of a turn.
fn plain_words(excerpt: &str) -> String {
    let words = excerpt.trim_start_matches(['#', '-', '*', '=', ' ']);
    let words = &words.replacen(" | - ", ": ", usize::from(excerpt.starts_with('#')));
    let words = &words.replace(" | - ", "; ");
    let words = words.strip_prefix("Task: ").unwrap_or(words);
    if let Some((who, rest)) = words
        .strip_prefix('[')
        .and_then(|words| words.split_once("]: "))
    {
        return format!("{who}: {rest}");
    }
    words.to_owned()
}

/// Group of reasons for leaving an item out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum CutReason {
    /// More important items used the budget.
    DidNotFit,
    /// The share of its section was used.
    OverShare,
    /// The item alone is larger than the whole budget.
    TooLarge,
    /// The item is not relevant to the question.
    NotRelevant,
    /// Another item has the same text.
    Duplicate,
    /// Its text consists of signals and control characters.
    Empty,
    /// The receipt has only the number of these items, which did not lack space.
    UnlistedIrrelevant,
    /// The receipt has only the number of these items.
    Unlisted,
    /// A reason of another version.
    Other,
}

impl CutReason {
    /// Returns the group of an omitted item.
    pub(super) fn of(item: &ReceiptItem, body: ReceiptBody<'_>) -> Self {
        match item.reason.as_str() {
            "larger than the budget" if item.size > body.budget() => Self::TooLarge,
            "larger than the budget" | "over budget" | "did not fit" => Self::DidNotFit,
            "over its share" => Self::OverShare,
            "below the relevance floor" => Self::NotRelevant,
            "empty" => Self::Empty,
            reason if reason.starts_with("duplicate of ") => Self::Duplicate,
            _ => Self::Other,
        }
    }

    /// Returns the words for a group of items.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::DidNotFit => "did not fit",
            Self::OverShare => "over the share of its section",
            Self::TooLarge => "larger than the whole budget",
            Self::NotRelevant => "not relevant enough",
            Self::Duplicate => "same text as another item",
            Self::Empty => "no text to send",
            Self::UnlistedIrrelevant => "not relevant or repeated, not listed",
            Self::Unlisted => "not listed one by one",
            Self::Other => "other reasons",
        }
    }
}

/// Returns the reason of an omitted item. `name_of` names the record of an id.
pub(super) fn cut_words(
    item: &ReceiptItem,
    body: ReceiptBody<'_>,
    name_of: &dyn Fn(&str) -> Option<String>,
) -> String {
    let reason = CutReason::of(item, body);
    match reason {
        CutReason::DidNotFit if item.size > body.free() => {
            format!("did not fit: {} {} left", number(body.free()), body.unit())
        }
        CutReason::DidNotFit => "did not fit after more important items".to_owned(),
        CutReason::NotRelevant => match item.relevance {
            Some(relevance) => format!("not relevant enough: {}", text::percent(relevance)),
            None => reason.words().to_owned(),
        },
        CutReason::Duplicate => {
            let other = item.reason.strip_prefix("duplicate of ").and_then(name_of);
            match other {
                Some(name) => format!("same text as “{name}”"),
                None => reason.words().to_owned(),
            }
        }
        CutReason::Other => item.reason.clone(),
        CutReason::OverShare
        | CutReason::TooLarge
        | CutReason::Empty
        | CutReason::UnlistedIrrelevant
        | CutReason::Unlisted => reason.words().to_owned(),
    }
}

/// Returns the reason of an included item; empty if nothing distinguishes it from others.
pub(super) fn inclusion_words(item: &ReceiptItem) -> String {
    let words = match item.reason.as_str() {
        "guaranteed" => "always included",
        "best of its source" => "best of its section",
        "included" | "by worth" => "",
        other => other,
    };
    let relevance = item
        .relevance
        .map(|relevance| format!("{} relevant", text::percent(relevance)));
    let parts = [relevance.unwrap_or_default(), words.to_owned()];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::record::Attrs;
    use serde_json::{Value, json};

    fn item(excerpt: &str, size: u64, reason: &str) -> ReceiptItem {
        ReceiptItem {
            id: None,
            file: None,
            excerpt: excerpt.to_owned(),
            chars: 4 * usize::try_from(size).unwrap(),
            size,
            relevance: None,
            is_in: false,
            reason: reason.to_owned(),
        }
    }

    fn attrs(value: Value) -> Attrs {
        let Value::Object(body) = value else {
            unreachable!()
        };
        body
    }

    #[test]
    fn cut_reason_of_a_small_item_is_the_space_that_was_left() {
        let body = attrs(json!({"unit": "tokens", "budget": 520, "tokens": 514}));
        let words = |item: &ReceiptItem| cut_words(item, ReceiptBody(&body), &|_| None);
        let eight = item("a", 8, "larger than the budget");
        assert_eq!(words(&eight), "did not fit: 6 tokens left");
        let large = item("a", 521, "larger than the budget");
        assert_eq!(words(&large), "larger than the whole budget");
        let small = item("a", 2, "over budget");
        assert_eq!(words(&small), "did not fit after more important items");
        let weak = ReceiptItem {
            relevance: Some(0.031),
            ..item("a", 2, "below the relevance floor")
        };
        assert_eq!(words(&weak), "not relevant enough: 3 %");
        assert_eq!(words(&item("a", 2, "rained away")), "rained away");
        let same = item("a", 2, "duplicate of 0190");
        assert_eq!(words(&same), "same text as another item");
        let name_of = |id: &str| (id == "0190").then(|| "port".to_owned());
        let named = cut_words(&same, ReceiptBody(&body), &name_of);
        assert_eq!(named, "same text as “port”");
    }

    #[test]
    fn item_names_have_no_marks_and_files_are_named_by_their_words() {
        let name = |words: &str| item_name(&item(words, 1, ""), None).words;
        assert_eq!(
            name("### Task: Issue #225 (Phase: FIX)"),
            "Issue #225 (Phase: FIX)"
        );
        assert_eq!(name("- [user]: Why?"), "user: Why?");
        assert_eq!(name("[Iteration 2] it broke"), "[Iteration 2] it broke");
        let file = |path: &str| {
            let item = ReceiptItem {
                file: Some(path.to_owned()),
                ..item("## Habits | - Small commits | - Tests", 1, "")
            };
            let name = item_name(&item, None);
            (name.words, name.file)
        };
        assert_eq!(
            file(".heirloom/groups/delivery/MEMORY.md:4"),
            (
                "Habits: Small commits; Tests".to_owned(),
                "groups/delivery/MEMORY.md, line 4".to_owned()
            )
        );
        assert_eq!(file("SOUL.md"), ("SOUL.md".to_owned(), String::new()));
    }

    #[test]
    fn section_names_have_one_capitalisation() {
        assert_eq!(section_name("Key Facts"), "Facts");
        assert_eq!(section_name("group-facts"), "Group memory");
        assert_eq!(section_name("some_new-Thing"), "Some new thing");
        assert_eq!(item_count("Key Decisions", 1), "1 decision");
        assert_eq!(item_count("history", 1_200), "1,200 turns");
        for (name, shown, ..) in SECTIONS {
            assert_eq!(capitalize(shown.to_lowercase()), shown, "{name}");
        }
        for (name, ..) in heirloom_model::section::SOURCES {
            let shown = section_name(name);
            assert!(!shown.contains(['_', '-']), "{shown}");
        }
    }
}
