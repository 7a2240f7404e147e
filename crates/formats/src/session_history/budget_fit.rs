//! Selection of the newest turns that fit a budget, rendered oldest first.

use heirloom_model::{Message, RecordId, Role, text};

/// One rendered turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryLine {
    /// Id of the turn.
    pub id: RecordId,
    /// Text `[sender]: content`; further lines of the content are indented.
    pub text: String,
}

/// Turns that fit the budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FittedHistory {
    /// Rendered turns, oldest first.
    pub lines: Vec<HistoryLine>,
    /// Number of older turns that did not fit.
    pub left_out: usize,
    /// True if the only turn was cut because it is larger than the whole budget.
    pub cut: bool,
}

/// Renders a turn; `None` for tools and for turns without text.
pub fn render_turn(turn: &Message) -> Option<HistoryLine> {
    let is_told = matches!(turn.role, Role::User | Role::Assistant | Role::System);
    let content = turn.text.trim_end();
    if !is_told || content.trim().is_empty() {
        return None;
    }
    let sender = turn.sender.as_deref().map(str::trim);
    let sender = sender.filter(|sender| !sender.is_empty());
    let sender = text::one_line(sender.unwrap_or(turn.role.as_str())).replace(['[', ']'], "|");
    // Indented, because an unindented line could look like another turn.
    let content = text::replace_control_chars(&content.replace("\r\n", "\n"));
    let content = content
        .replace(['\u{2028}', '\u{2029}'], "\n")
        .replace('\n', "\n  ");
    Some(HistoryLine {
        id: turn.id,
        text: format!("[{sender}]: {content}"),
    })
}

/// Selects the newest of `lines`, which are ordered oldest first, up to the first that no longer fits `budget`.
///
/// `size` returns the size of a text in units of `budget`; each turn is measured with a line break. A newest turn
/// that is larger than `budget` is cut between graphemes; nothing fits an empty budget.
pub fn fit_to_budget(
    lines: Vec<HistoryLine>,
    budget: usize,
    size: impl Fn(&str) -> usize,
) -> FittedHistory {
    let mut left = budget;
    let mut selected = 0;
    for line in lines.iter().rev() {
        let line_size = size(&format!("{}\n", line.text));
        if line_size > left {
            break;
        }
        left -= line_size;
        selected += 1;
    }
    let mut lines = lines;
    let total = lines.len();
    if selected == 0
        && let Some(mut newest) = lines.pop()
        && budget > 0
    {
        newest.text = cut(&newest.text, budget, size);
        let cut = !newest.text.is_empty();
        return FittedHistory {
            lines: if cut { vec![newest] } else { Vec::new() },
            left_out: total - usize::from(cut),
            cut,
        };
    }
    if selected == 0 {
        lines.clear();
    }
    let lines = lines.split_off(lines.len() - selected);
    FittedHistory {
        lines,
        left_out: total - selected,
        cut: false,
    }
}

/// Returns the longest prefix that fits with a line break after it.
fn cut(line: &str, budget: usize, size: impl Fn(&str) -> usize) -> String {
    let (mut fits, mut over) = (0, text::chars(line) + 1);
    while over - fits > 1 {
        let middle = fits + (over - fits) / 2;
        if size(&format!("{}\n", text::clip(line, middle))) <= budget {
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

    fn line(text: &str) -> HistoryLine {
        HistoryLine {
            id: RecordId::MIN,
            text: text.to_owned(),
        }
    }

    fn fitted(lines: &[&str], budget: usize) -> FittedHistory {
        fit_to_budget(
            lines.iter().map(|text| line(text)).collect(),
            budget,
            text::chars,
        )
    }

    #[test]
    fn fit_to_budget_selects_newest_in_order() {
        let lines = ["[a]: one", "[b]: a longer one", "[a]: two", "[b]: three"];
        let texts = |budget| -> Vec<String> {
            let fitted = fitted(&lines, budget);
            assert!(!fitted.cut);
            assert_eq!(fitted.lines.len() + fitted.left_out, lines.len());
            fitted.lines.into_iter().map(|line| line.text).collect()
        };
        assert_eq!(texts(1_000), lines);
        assert_eq!(texts(11), lines[3..]);
        assert_eq!(texts(20), lines[2..]);
        // The third turn from the end does not fit, so the one before it is not selected, although it would fit.
        assert_eq!(texts(34), lines[2..]);
        assert_eq!(texts(0), Vec::<String>::new());
    }

    #[test]
    fn fit_to_budget_cuts_large_turn_between_graphemes() {
        let family = "👨\u{200d}👩\u{200d}👧";
        let long = format!("[a]: {family}{family}");
        let fitted = fitted(&["[b]: x", &long], 12);
        assert!(fitted.cut);
        assert_eq!((fitted.lines.len(), fitted.left_out), (1, 1));
        assert_eq!(fitted.lines[0].text, format!("[a]: {family}"));
    }

    proptest! {
        #[test]
        fn fit_to_budget_never_exceeds_budget_and_preserves_order(
            texts in proptest::collection::vec(".{0,60}", 0..12), budget in 0_usize..200, tokens: bool,
        ) {
            let lines: Vec<_> = texts.iter().map(|text| line(text)).collect();
            let size = if tokens { text::tokens } else { text::chars };
            let fitted = fit_to_budget(lines, budget, size);
            let fitted_text: String = fitted.lines.iter().map(|line| format!("{}\n", line.text)).collect();
            prop_assert!(size(&fitted_text) <= budget);
            prop_assert_eq!(fitted.lines.len() + fitted.left_out, texts.len());
            let expected_texts = texts[fitted.left_out..].iter();
            for (fitted_text, expected) in fitted.lines.iter().zip(expected_texts) {
                if fitted.cut {
                    prop_assert!(expected.starts_with(&fitted_text.text));
                } else {
                    prop_assert_eq!(&fitted_text.text, expected);
                }
            }
        }
    }
}
