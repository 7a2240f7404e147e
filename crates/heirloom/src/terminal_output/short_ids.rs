//! Short forms of ids for people: the end of an id, which is random.

/// Hexadecimal digits of a short id. The last eight digits of a UUIDv7 are random; those before count or are the time.
const SHORT_ID_DIGITS: usize = 8;

/// Digits of an id.
const ID_DIGITS: usize = 32;

/// Length of the short ids of one output, so that they differ from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShortIds {
    digits: usize,
}

impl Default for ShortIds {
    fn default() -> Self {
        Self {
            digits: SHORT_ID_DIGITS,
        }
    }
}

impl ShortIds {
    /// Chooses the length for ids that are shown together.
    pub(crate) fn for_ids<'i>(ids: impl Iterator<Item = &'i str>) -> Self {
        let mut ends: Vec<String> = ids.map(reversed_digits).collect();
        ends.sort_unstable();
        ends.dedup();
        // Neighbours in the order of the reversed ids have the longest common ends.
        let pairs = ends.iter().zip(ends.iter().skip(1));
        let common =
            pairs.map(|(a, b)| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count());
        let digits = common.max().map_or(0, |common| common + 1);
        Self {
            digits: digits.clamp(SHORT_ID_DIGITS, ID_DIGITS),
        }
    }

    /// Returns the end of an id; a text that is no id is unchanged.
    pub(crate) fn shorten(self, id: &str) -> String {
        let reversed = reversed_digits(id);
        if reversed.len() != ID_DIGITS {
            return id.to_owned();
        }
        reversed
            .get(..self.digits)
            .unwrap_or(&reversed)
            .chars()
            .rev()
            .collect()
    }
}

fn reversed_digits(id: &str) -> String {
    id.chars().rev().filter(char::is_ascii_hexdigit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

    #[test]
    fn short_ids_are_unique_among_the_shown() {
        let second = "01890a5d-ac96-774b-bcce-b302199a8057";
        let ids = ShortIds::for_ids([FIRST, second, FIRST].into_iter());
        assert_eq!(ids.shorten(FIRST), "099a8057");
        assert_eq!(ids.shorten(second), "199a8057");
        let third = "01890a5d-ac96-774b-bcce-b312099a8057";
        let ids = ShortIds::for_ids([FIRST, third].into_iter());
        assert_eq!(ids.shorten(FIRST), "02099a8057");
        assert_eq!(ids.shorten(third), "12099a8057");
    }

    #[test]
    fn short_ids_of_one_instant_differ() {
        let source = heirloom_model::IdSource::default();
        let now = heirloom_model::Timestamp::default();
        let ids: Vec<_> = (0..50).map(|_| source.next(now).to_string()).collect();
        let short = ShortIds::for_ids(ids.iter().map(String::as_str));
        let all: std::collections::HashSet<_> = ids.iter().map(|id| short.shorten(id)).collect();
        assert_eq!(all.len(), 50);
    }

    #[test]
    fn shorten_keeps_texts_that_are_no_ids() {
        let ids = ShortIds::default();
        assert_eq!(ids.shorten("MEMORY.md"), "MEMORY.md");
        assert_eq!(ids.shorten(""), "");
    }
}
