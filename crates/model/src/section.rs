//! What a source has for a prompt: plain data, before anything is chosen or written.

use crate::RecordId;

/// Where an offer is from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Origin {
    /// Nothing that could be opened.
    #[default]
    Nowhere,
    /// A record.
    Record(RecordId),
    /// A file, relative to its root, and a line of it, counted from 1.
    File {
        /// The path, with `/`.
        path: String,
        /// The line where it begins, if it is a part of the file.
        line: Option<u32>,
    },
}

/// One thing that a source has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Offer {
    /// Where it is from.
    pub origin: Origin,
    /// What it says; several lines stay several lines.
    pub text: String,
    /// How much it is wanted beside the others of its source, if the source can tell.
    pub score: Option<f64>,
    /// What of the text stays when lines between are cut; without it the text is in whole or not at all.
    pub frame: Option<Frame>,
}

/// The marks around a text that may be cut, as bytes from its beginning and from its end, and which lines stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Frame {
    /// What stands above the lines that may be cut.
    pub above: usize,
    /// What stands below them.
    pub below: usize,
    /// The last lines stay rather than the first: they are the newest.
    pub keeps_last: bool,
}

/// How the offers of a section are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// Each behind a dash.
    #[default]
    List,
    /// Each as it is, an empty line above it.
    Blocks,
    /// As blocks, the last offer first: what is wanted most stands at the end, as in the file that it is from.
    BlocksReversed,
}

/// What a source has for this prompt, the most wanted first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// The source: `workspace`, `group`, `plan`; its row in the config names it too.
    pub name: String,
    /// The line above it; empty for none.
    pub heading: String,
    /// The line below it; empty for none.
    pub closing: String,
    /// How it is written.
    pub layout: Layout,
    /// What there is.
    pub offers: Vec<Offer>,
    /// What somebody should know of the source: a file that was cut or could not be read.
    pub notes: Vec<String>,
}

/// What one source may take of a context: a row of the config's table, which is in the order of priority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRow {
    /// The source.
    pub name: String,
    /// Percent of what Session Memory leaves; what is not used goes to the next row.
    pub share_percent: u32,
    /// Characters that are kept for it whatever the rows before it want, if there are so many.
    pub min_chars: usize,
}

/// Every source with its usual share and its least characters, in the usual order of priority.
pub const SOURCES: [(&str, u32, usize); 14] = [
    ("directives", 50, 0),
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
    /// The table that everybody has.
    pub fn usual() -> Vec<Self> {
        SOURCES
            .iter()
            .map(|(name, share_percent, min_chars)| Self {
                name: (*name).to_owned(),
                share_percent: *share_percent,
                min_chars: *min_chars,
            })
            .collect()
    }

    /// Reads `name share` or `name share min`; says what is wrong with it.
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
                "`{}`: expected a source, its share from 0 to 100, and if wanted its least characters up to {}",
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
    fn a_row_is_a_source_its_share_and_its_least() {
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
