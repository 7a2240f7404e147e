//! What of a conversation fits a budget: the newest turns, told oldest first.

use heirloom_model::{Message, RecordId, Role, text};

/// One turn as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The turn.
    pub id: RecordId,
    /// `[sender]: content`; further lines of the content are indented.
    pub text: String,
}

/// What fits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fitted {
    /// The lines, oldest first.
    pub lines: Vec<Line>,
    /// How many older ones did not fit.
    pub left_out: usize,
    /// Whether the only line is cut, because it is larger than the whole budget.
    pub cut: bool,
}

/// The line of a turn; `None` for tools and for turns that say nothing.
pub fn line_of(turn: &Message) -> Option<Line> {
    let is_told = matches!(turn.role, Role::User | Role::Assistant | Role::System);
    let content = turn.text.trim_end();
    if !is_told || content.trim().is_empty() {
        return None;
    }
    let sender = turn.sender.as_deref().map(str::trim);
    let sender = sender.filter(|sender| !sender.is_empty());
    let sender = text::one_line(sender.unwrap_or(turn.role.as_str())).replace(['[', ']'], "|");
    // A line of its own could pass for somebody else's.
    let content = text::printable(&content.replace("\r\n", "\n"));
    let content = content
        .replace(['\u{2028}', '\u{2029}'], "\n")
        .replace('\n', "\n  ");
    Some(Line {
        id: turn.id,
        text: format!("[{sender}]: {content}"),
    })
}

/// The newest of `lines`, which come oldest first, up to the first that no longer fits `room`.
///
/// `size` says what a text takes of the room; each line is measured with a line break behind it. A newest line that is
/// larger than the whole room is cut at a whole character; nothing fits no room.
pub fn fit(lines: Vec<Line>, room: usize, size: impl Fn(&str) -> usize) -> Fitted {
    let mut left = room;
    let mut taken = 0;
    for line in lines.iter().rev() {
        let needs = size(&format!("{}\n", line.text));
        if needs > left {
            break;
        }
        left -= needs;
        taken += 1;
    }
    let mut lines = lines;
    let total = lines.len();
    if taken == 0
        && let Some(mut newest) = lines.pop()
        && room > 0
    {
        newest.text = cut(&newest.text, room, size);
        let cut = !newest.text.is_empty();
        return Fitted {
            lines: if cut { vec![newest] } else { Vec::new() },
            left_out: total - usize::from(cut),
            cut,
        };
    }
    if taken == 0 {
        lines.clear();
    }
    let lines = lines.split_off(lines.len() - taken);
    Fitted {
        lines,
        left_out: total - taken,
        cut: false,
    }
}

/// The longest beginning that fits with a line break behind it.
fn cut(line: &str, room: usize, size: impl Fn(&str) -> usize) -> String {
    let (mut fits, mut over) = (0, text::chars(line) + 1);
    while over - fits > 1 {
        let middle = fits + (over - fits) / 2;
        if size(&format!("{}\n", text::clip(line, middle))) <= room {
            fits = middle;
        } else {
            over = middle;
        }
    }
    text::clip(line, fits).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(text: &str) -> Line {
        Line {
            id: RecordId::MIN,
            text: text.to_owned(),
        }
    }

    fn fitted(lines: &[&str], room: usize) -> Fitted {
        fit(
            lines.iter().map(|text| line(text)).collect(),
            room,
            text::chars,
        )
    }

    #[test]
    fn the_newest_fit_and_are_told_oldest_first() {
        let lines = ["[a]: one", "[b]: a longer one", "[a]: two", "[b]: three"];
        let texts = |room| -> Vec<String> {
            let fitted = fitted(&lines, room);
            assert!(!fitted.cut);
            assert_eq!(fitted.lines.len() + fitted.left_out, lines.len());
            fitted.lines.into_iter().map(|line| line.text).collect()
        };
        assert_eq!(texts(1_000), lines);
        assert_eq!(texts(11), lines[3..]);
        assert_eq!(texts(20), lines[2..]);
        // The third from the end does not fit, so the one before it, which would, is not told either.
        assert_eq!(texts(34), lines[2..]);
        assert_eq!(texts(0), Vec::<String>::new());
    }

    #[test]
    fn a_message_larger_than_the_budget_is_cut_between_graphemes() {
        let family = "👨\u{200d}👩\u{200d}👧";
        let long = format!("[a]: {family}{family}");
        let fitted = fitted(&["[b]: x", &long], 12);
        assert!(fitted.cut);
        assert_eq!((fitted.lines.len(), fitted.left_out), (1, 1));
        assert_eq!(fitted.lines[0].text, format!("[a]: {family}"));
    }

    proptest! {
        #[test]
        fn the_budget_is_never_exceeded_and_the_order_stays(
            texts in proptest::collection::vec(".{0,60}", 0..12), room in 0_usize..200, tokens: bool,
        ) {
            let lines: Vec<_> = texts.iter().map(|text| line(text)).collect();
            let size = if tokens { text::tokens } else { text::chars };
            let fitted = fit(lines, room, size);
            let told: String = fitted.lines.iter().map(|line| format!("{}\n", line.text)).collect();
            prop_assert!(size(&told) <= room);
            prop_assert_eq!(fitted.lines.len() + fitted.left_out, texts.len());
            let behind = texts[fitted.left_out..].iter();
            for (told, said) in fitted.lines.iter().zip(behind) {
                if fitted.cut {
                    prop_assert!(said.starts_with(&told.text));
                } else {
                    prop_assert_eq!(&told.text, said);
                }
            }
        }
    }
}
