//! Sections that context sources offer, before selection and rendering.

use crate::RecordId;
use crate::rating::Rating;

/// Origin of an offer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub enum Origin {
    /// No origin that could be opened.
    #[default]
    Unspecified,
    /// A record.
    Record(RecordId),
    /// A file, relative to its root, and a line of it, counted from 1.
    File {
        /// The path, with `/`.
        path: String,
        /// First line, if it is a part of the file.
        line: Option<u32>,
    },
}

/// One candidate text of a context source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Offer {
    /// Origin of the text.
    pub origin: Origin,
    /// The text; line breaks are preserved.
    pub text: String,
    /// Relevance among the offers of its source, if the source has one.
    pub score: Option<f64>,
    /// Parts that stay if lines are cut; without a frame the text is included whole or not at all.
    pub frame: Option<Frame>,
    /// Importance of the offer.
    pub rating: Rating,
    /// Rank of a standing instruction or memory file that people wrote to be read every time; the least important one
    /// has the largest rank and is cut first.
    pub standing: Option<StandingRank>,
    /// True if the offer is only included together with the one after it: an older message of a conversation.
    pub requires_next: bool,
}

/// Importance of a standing text, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StandingRank {
    /// Persona of the project or of a group.
    Persona,
    /// `SOUL.md`.
    Soul,
    /// `AGENTS.md`.
    Agents,
    /// Rules of the group.
    GroupRules,
    /// `MEMORY.md`.
    Memory,
}

impl StandingRank {
    /// Returns true for instructions that only people may write; `MEMORY.md` is data.
    pub fn is_rule(self) -> bool {
        self != Self::Memory
    }
}

/// Frame of a text that may be cut: the bytes at both ends that stay, and which lines are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Frame {
    /// Bytes above the lines that may be cut.
    pub head_bytes: usize,
    /// Bytes below them.
    pub tail_bytes: usize,
    /// True if the last lines are kept instead of the first, because they are the newest.
    pub keeps_last_lines: bool,
}

/// Layout of the offers of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// One list item each.
    #[default]
    List,
    /// Blocks as they are, separated by empty lines.
    Blocks,
    /// Blocks with the last offer first, so that the most relevant one is at the end as in its file.
    BlocksReversed,
}

/// Offers of one source for a prompt, the most relevant first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Name of the source, such as `workspace`, `group` or `plan`; its row in the config has the same name.
    pub name: String,
    /// Line above the section; empty if absent.
    pub heading: String,
    /// Line below the section; empty if absent.
    pub closing: String,
    /// Layout of the offers.
    pub layout: Layout,
    /// Offers of the source.
    pub offers: Vec<Offer>,
    /// Notes for the reader, for example about a file that was cut or could not be read.
    pub notes: Vec<String>,
}

/// Share of one source in a context: a row of the config table, which is in order of priority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRow {
    /// Name of the source.
    pub name: String,
    /// Percentage of the budget left by Session Memory; the unused part goes to the next row.
    pub share_percent: u32,
    /// Characters reserved for the source whatever earlier rows need.
    pub min_chars: usize,
}

/// Row of what the directives of an invocation name. It is no configurable source: it precedes all of them.
pub const DIRECTIVES: &str = "directives";

/// All sources with their default share and minimum, in default order of priority.
pub const SOURCES: [(&str, u32, usize); 13] = [
    ("plan", 15, 0),
    ("learnings", 15, 0),
    ("output", 20, 0),
    ("outputs", 10, 0),
    ("history", 15, 0),
    ("recall", 20, 0),
    ("group", 10, 0),
    ("workspace", 10, 0),
    ("team", 10, 0),
    ("user", 10, 200),
    ("architecture", 10, 0),
    ("files", 5, 0),
    ("codebase", 10, 0),
];

impl SourceRow {
    /// Returns the default table.
    pub fn default_rows() -> Vec<Self> {
        SOURCES
            .iter()
            .map(|(name, share_percent, min_chars)| Self {
                name: (*name).to_owned(),
                share_percent: *share_percent,
                min_chars: *min_chars,
            })
            .collect()
    }

    /// Returns the row of what directives name.
    pub fn of_directives() -> Self {
        Self {
            name: DIRECTIVES.to_owned(),
            share_percent: 0,
            min_chars: 0,
        }
    }

    /// Parses `name share` or `name share min`; errors describe the problem.
    pub fn parse(row: &str) -> Result<Self, String> {
        let mut words = row.split_whitespace();
        let name = words.next().unwrap_or_default();
        if !SOURCES.iter().any(|(known, ..)| *known == name) {
            let known: Vec<_> = SOURCES.iter().map(|(known, ..)| *known).collect();
            let shown = crate::text::excerpt(name, 40);
            return Err(format!(
                "there is no source `{shown}`: {}",
                known.join(", ")
            ));
        }
        let share = words.next().unwrap_or_default().trim_end_matches('%');
        let share_percent = share.parse().ok().filter(|share| *share <= 100);
        let min_chars = words.next().map_or(Some(0), |min| min.parse().ok());
        let min_chars = min_chars.filter(|min| *min <= crate::limits::SOURCE_MIN_CHARS_MAX);
        let (Some(share_percent), Some(min_chars), None) = (share_percent, min_chars, words.next())
        else {
            return Err(format!(
                "`{}`: expected a source, its share from 0 to 100, and optionally its minimum of characters up to {}",
                crate::text::excerpt(row, 60),
                crate::limits::SOURCE_MIN_CHARS_MAX
            ));
        };
        Ok(Self {
            name: name.to_owned(),
            share_percent,
            min_chars,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

    #[test]
    fn source_row_parses_share_and_minimum() {
        let most = limits::SOURCE_MIN_CHARS_MAX;
        let row = SourceRow::parse(&format!(" plan  100% {most}")).unwrap();
        assert_eq!((row.share_percent, row.min_chars), (100, most));
        assert_eq!(SourceRow::parse("user 0").unwrap().share_percent, 0);
        let beyond = format!("plan 1 {}", most + 1);
        for bad in [
            "",
            "plan",
            "plan 101",
            "plan -1",
            "nobody 3",
            "plan 3 x",
            "plan 3 4 5",
            &beyond,
        ] {
            assert!(SourceRow::parse(bad).is_err(), "{bad}");
        }
    }
}
