//! Changes between a failure and a success, as the resolution of an error.

use heirloom_model::{Timestamp, text};
use serde::{Deserialize, Serialize};

/// Number of newest changes that are remembered.
const CHANGES_MAX: usize = 5;
/// Longest resolution, characters.
const RESOLUTION_CHARS_MAX: usize = 400;

/// A change with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TimedChange {
    #[serde(rename = "at")]
    at: Timestamp,
    #[serde(rename = "what")]
    what: String,
}

/// Newest changes of a session or an iteration, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct RecentChanges(Vec<TimedChange>);

impl RecentChanges {
    /// Adds a change; the same one is moved to the end.
    pub(crate) fn add(&mut self, what: &str, at: Timestamp) {
        self.0.retain(|change| change.what != what);
        self.0.push(TimedChange {
            at,
            what: what.to_owned(),
        });
        if self.0.len() > CHANGES_MAX {
            self.0.drain(..self.0.len() - CHANGES_MAX);
        }
    }

    /// Returns true if nothing was changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the resolution of an error that occurred at `since`; `None` if nothing was changed after it.
    pub(crate) fn resolution_since(&self, since: Timestamp) -> Option<String> {
        let later = self.0.iter().filter(|change| change.at >= since);
        let later: Vec<&str> = later.map(|change| change.what.as_str()).collect();
        resolution(&later)
    }
}

/// Describes an edit of a file, of which hooks do not keep the content.
pub(crate) fn edit_change(file: &str) -> String {
    format!("{EDITED}{file}`")
}

/// Beginning of the description of an edit.
const EDITED: &str = "edited `";

/// Returns the resolution that names the only change; `None` without any, and for several, of which it is not known which
/// one helped. That a file was edited names no fix either: the lessons of the transcript name its lines.
pub(crate) fn resolution<T: AsRef<str>>(changes: &[T]) -> Option<String> {
    const END: &str = ", then it passed";
    let [change] = changes else {
        return None;
    };
    let change = change.as_ref();
    let told = text::excerpt(change, RESOLUTION_CHARS_MAX - END.len());
    (!change.starts_with(EDITED)).then(|| format!("{told}{END}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn resolution_names_changes_since_the_failure() {
        let mut changes = RecentChanges::default();
        assert_eq!(changes.resolution_since(at(0)), None);
        changes.add(&edit_change("a"), at(1));
        changes.add("ran `npm install x`", at(3));
        // One of two changes, and an edit of unknown lines.
        assert_eq!(changes.resolution_since(at(1)), None);
        assert_eq!(
            changes.resolution_since(at(2)).unwrap(),
            "ran `npm install x`, then it passed"
        );
        assert_eq!(changes.resolution_since(at(4)), None);
        changes.add(&edit_change("a"), at(5));
        assert_eq!(changes.resolution_since(at(4)), None);
        for n in 0..20 {
            changes.add(&edit_change(&n.to_string()), at(5));
        }
        assert_eq!(changes.0.len(), CHANGES_MAX);
        changes.add(&edit_change("19"), at(6));
        assert_eq!(changes.0.len(), CHANGES_MAX);
    }

    #[test]
    fn long_resolution_is_shortened() {
        assert_eq!(resolution::<&str>(&[]), None);
        let one = resolution(&["x".repeat(RESOLUTION_CHARS_MAX)]).unwrap();
        assert_eq!(text::chars(&one), RESOLUTION_CHARS_MAX);
        assert!(one.ends_with("…, then it passed"), "{one}");
    }
}
