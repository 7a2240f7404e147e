//! Text of a context with the lines of one record marked.

use super::body::{ReceiptItem, ReceiptSection};
use crate::page::view::{Html, escape};
use heirloom_model::record_meaning::record_meaning;
use heirloom_model::{Record, RecordId, text};
use std::ops::Range;

/// Least number of characters by which a shortened line is recognised.
const PIECE_CHARS_MIN: usize = 10;

/// Renders the text of a context; the lines in `marked` have the id `sent`.
pub(super) fn render_text(sent: &str, marked: Option<Range<usize>>) -> Html {
    let mut out = String::with_capacity(sent.len() + sent.len() / 8);
    let marked = marked.unwrap_or(0..0);
    let parts = (
        sent.get(..marked.start),
        sent.get(marked.clone()),
        sent.get(marked.end..),
    );
    let (Some(before), Some(inside), Some(after)) = parts else {
        return Html::from_markup(out);
    };
    push_text(before, &mut out);
    if !inside.is_empty() {
        out.push_str("<mark id=\"sent\" tabindex=\"-1\">");
        push_text(inside.trim_end_matches('\n'), &mut out);
        out.push_str("</mark>");
        out.push_str(&"\n".repeat(inside.len() - inside.trim_end_matches('\n').len()));
    }
    push_text(after, &mut out);
    Html::from_markup(out)
}

fn push_text(words: &str, out: &mut String) {
    escape(&text::replace_control_chars(words), out);
}

/// Finds the lines of a record in the text that was sent, as a range of bytes. `record` is the record, if it is still
/// stored.
///
/// The sizes of the sections add up to the text, so only the part of the record's section is searched.
pub(super) fn find_lines(
    sent: &str,
    sections: &[ReceiptSection],
    id: RecordId,
    record: Option<&Record>,
) -> Option<Range<usize>> {
    let mut start = 0;
    for section in sections {
        let rest = sent.get(start..)?;
        let end = start + byte_offset(rest, section.chars);
        let item = section
            .items
            .iter()
            .find(|item| item.is_in && item.id == Some(id));
        if let Some(found) = item.and_then(|item| find_item(sent, start..end, item, record)) {
            return Some(found);
        }
        start = end;
    }
    None
}

/// Returns the offset of the character with this index.
fn byte_offset(text: &str, chars: usize) -> usize {
    text.char_indices()
        .nth(chars)
        .map_or(text.len(), |(at, _)| at)
}

fn find_item(
    sent: &str,
    part: Range<usize>,
    item: &ReceiptItem,
    record: Option<&Record>,
) -> Option<Range<usize>> {
    let first_line = item.excerpt.split(" | ").next().unwrap_or_default();
    let first_line = first_line.trim_end_matches('…').trim();
    let meaning = record.map(|record| text::one_line(&record_meaning(record)));
    let mut start = part.start;
    let mut of_meaning = None;
    let lines = sent.get(part)?.split_inclusive('\n');
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        let content = line.trim().trim_start_matches("- ");
        if !first_line.is_empty() && content.contains(first_line) {
            let mut end = start + line.len();
            let mut chars = text::chars(line);
            // An item of several lines goes on as far as its size.
            while let Some(next) = lines.next_if(|next| chars + text::chars(next) <= item.chars) {
                end += next.len();
                chars += text::chars(next);
            }
            return Some(start..end);
        }
        if of_meaning.is_none()
            && meaning
                .as_deref()
                .is_some_and(|all| has_pieces(all, content))
        {
            of_meaning = Some(start..start + line.len());
        }
        start += line.len();
    }
    of_meaning
}

/// Returns true if a line that was shortened with `…` consists of pieces of `whole`.
fn has_pieces(whole: &str, line: &str) -> bool {
    let pieces = line
        .split('…')
        .map(str::trim)
        .filter(|piece| !piece.is_empty());
    let mut chars = 0;
    for piece in pieces {
        if !whole.contains(piece) {
            return false;
        }
        chars += text::chars(piece);
    }
    chars >= PIECE_CHARS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &str, chars: usize, items: Vec<ReceiptItem>) -> ReceiptSection {
        ReceiptSection {
            name: name.to_owned(),
            chars,
            size: 0,
            items,
            more: 0,
            more_size: 0,
            more_unfit: None,
        }
    }

    fn item(id: u8, excerpt: &str, chars: usize) -> ReceiptItem {
        ReceiptItem {
            id: Some(RecordId::from_bytes([id; 16])),
            file: None,
            excerpt: excerpt.to_owned(),
            chars,
            size: 0,
            relevance: None,
            is_in: true,
            reason: String::new(),
        }
    }

    #[test]
    fn lines_of_a_record_are_found_in_its_section_alone() {
        let facts = "### Key Facts\n- Pörts are open\n- The port is 8080\n";
        let notes = "## Notes\n- The port is 8080\n  or 8081\n- Other\n";
        let sent = format!("{facts}{notes}");
        let sections = [
            section(
                "Key Facts",
                text::chars(facts),
                vec![item(1, "Pörts are open", 17)],
            ),
            section(
                "notes",
                text::chars(notes),
                vec![item(2, "The port is 8080 | or 8081", 29)],
            ),
        ];
        let found = |id| {
            let id = RecordId::from_bytes([id; 16]);
            find_lines(&sent, &sections, id, None).map(|range| &sent[range])
        };
        assert_eq!(found(1), Some("- Pörts are open\n"));
        let range = find_lines(&sent, &sections, RecordId::from_bytes([2; 16]), None).unwrap();
        assert!(range.start > facts.len());
        assert_eq!(&sent[range], "- The port is 8080\n  or 8081\n");
        assert_eq!(found(3), None);
    }

    #[test]
    fn shortened_line_consists_of_pieces_of_the_record() {
        let whole = "First words of it. The port is 8080, says the file. The end.";
        assert!(has_pieces(whole, "… The port is 8080, says the file. …"));
        assert!(!has_pieces(whole, "… The port is 9090 …"));
        assert!(!has_pieces(whole, "… port …"));
    }

    #[test]
    fn rendered_text_is_escaped_and_has_one_mark() {
        let html = render_text("a <b>\n- c & d\ne\n", Some(6..14)).to_string();
        assert_eq!(
            html,
            "a &lt;b&gt;\n<mark id=\"sent\" tabindex=\"-1\">- c &amp; d</mark>\ne\n"
        );
        assert!(!render_text("a", None).to_string().contains("mark"));
    }
}
