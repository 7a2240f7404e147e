//! Tests of outlines.

use super::line::{LineForm, classify_line};
use super::*;

fn headings(text: &str) -> Vec<String> {
    let sections = read_outline(text);
    sections
        .into_iter()
        .map(|section| section.heading)
        .collect()
}

#[test]
fn read_outline_knows_headings_of_all_forms() {
    let text = "intro\n# One\n- a\n**Two**\n- b\n**Three:**\n- c\n3. Four and five:\n   - d\nSix parts:\n- e\nNOTES\nf\n<key_knowledge>\n- g\n</key_knowledge>\nlast\n## 7. **Eight**\n* h";
    assert_eq!(
        headings(text),
        [
            "",
            "One",
            "Two",
            "Three",
            "Four and five",
            "Six parts",
            "NOTES",
            "key_knowledge",
            "",
            "Eight"
        ]
    );
}

#[test]
fn read_outline_takes_sentences_and_items_for_no_headings() {
    for line in [
        "- **`a.rs`** — it is new",
        "1. Run the tests.",
        "This is a sentence. And this:",
        "**Bold** and more",
        "Use `x`:",
        "OK",
    ] {
        assert!(
            !matches!(classify_line(line), LineForm::Heading(_)),
            "{line}"
        );
    }
}

#[test]
fn read_outline_joins_wrapped_lines_and_children() {
    let text = "- **Title**: first\n  line\n  - child one.\n  - child two\n- second\n\nA paragraph\nthat goes on.\n\nAnother one.";
    let sections = read_outline(text);
    let items = &sections[0].items;
    assert_eq!(items.len(), 4);
    assert_eq!(items[0].title.as_deref(), Some("Title"));
    assert_eq!(items[0].text, "first line");
    assert_eq!(
        items[0].full_text(),
        "Title: first line: child one. child two"
    );
    assert_eq!(items[1].full_text(), "second");
    assert_eq!(items[2].text, "A paragraph that goes on.");
    assert!(!items[2].is_listed && items[1].is_listed);
}

#[test]
fn read_outline_leaves_code_out_and_reads_tables() {
    let text = "# H\n```\n- not\n```\n| A | B |\n|---|---|\n| one | two |\n- after";
    let sections = read_outline(text);
    let texts: Vec<String> = sections[0]
        .items
        .iter()
        .map(OutlineItem::full_text)
        .collect();
    assert_eq!(texts, ["A — B", "one — two", "after"]);
}

#[test]
fn split_title_separates_only_titles() {
    for (raw, title, text) in [
        ("**T**: x", Some("T"), "x"),
        ("**T:** x", Some("T"), "x"),
        ("**T** — x", Some("T"), "x"),
        ("**T (a)** in `f`: x", None, "T (a) in `f`: x"),
        ("**Note** this", None, "Note this"),
        ("plain: x", None, "plain: x"),
        ("****", None, ""),
    ] {
        let found = split_title(raw);
        assert_eq!(found.0.as_deref(), title, "{raw}");
        if raw != "****" {
            assert_eq!(found.1, text, "{raw}");
        }
    }
}

#[test]
fn read_outline_is_bounded() {
    let many = "- x\n".repeat(100_000);
    let items: usize = read_outline(&many).iter().map(|s| s.items.len()).sum();
    assert!(items <= ITEMS_MAX);
    let long = format!("- {}", "ä".repeat(1 << 20));
    assert!(read_outline(&long)[0].items[0].text.len() <= ITEM_BYTES_MAX);
    for odd in [
        "", "\0", "**", "****", "|", "||", "- ", "<>", "</>", "# ", "1.", "```", "\u{feff}",
    ] {
        read_outline(odd);
    }
}
