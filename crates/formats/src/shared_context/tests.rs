//! Tests of shared context: pages as text, entries as `line category/key: text`.

use super::*;
use heirloom_model::limits;
use heirloom_model::record::check_name;

fn check(page: &str, expect: &[&str]) {
    let found = parse(page);
    let line = |entry: &SharedEntry| {
        let key = entry.key.as_deref().unwrap_or("-");
        let text = entry.text.replace('\n', " | ");
        format!("{} {}/{key}: {text}", entry.line, entry.category)
    };
    let rendered: Vec<_> = found.entries.iter().map(line).collect();
    assert_eq!(rendered, expect, "{page}");
}

#[test]
fn parse_headings_gives_category_and_key() {
    check(
        "# Conventions\n\n## Indentation\n- tabs\n## Names\n- short\n- English\n",
        &[
            "4 convention/indentation: tabs",
            "6 convention/names: short | English",
        ],
    );
    check(
        "# Shop\n## Key Decisions\n- use SQLite\n- no server\n### Storage\n* WAL mode.\n",
        &[
            "3 decision/-: use SQLite",
            "4 decision/-: no server",
            "6 decision/storage: WAL mode.",
        ],
    );
    check(
        "# API\n## Auth\n### Tokens\n1. expire\n",
        &["4 auth/tokens: expire"],
    );
    check(
        "# Deployment\n- on Fridays\n",
        &["2 deployment/-: on Fridays"],
    );
    check("- alone\n", &["1 fact/-: alone"]);
    check(
        "# Architecture\n## A\n### B\n- x\n",
        &["4 architecture/a / b: x"],
    );
    check("# A\n## B\n- x\n# C\n- y\n", &["3 a/b: x", "5 c/-: y"]);
    check("# !!!\n- x\n", &["2 fact/-: x"]);
    check("# \n- x\n", &["2 fact/-: x"]);
}

#[test]
fn parse_bullet_with_name_gives_key() {
    check(
        "# Conventions\n- **Indent**: tabs\n- **Line length:** 100\n- `clippy`: pedantic\n- **bold** words\n",
        &[
            "2 convention/indent: tabs",
            "3 convention/line length: 100",
            "4 convention/clippy: pedantic",
            "5 convention/-: bold words",
        ],
    );
    check(
        "# Facts\n## Ports\n- **web**: 80\n- **web**: 81\n- **db**:\n",
        &["3 fact/ports / web: 80 | 81", "5 fact/ports: db:"],
    );
}

#[test]
fn parse_bullet_preserves_its_text() {
    check(
        "# F\n- a *b* `c` [d](http://e) <http://f> Vec<T> &amp; <!-- no -->g\n",
        &["2 f/-: a b `c` d (http://e) http://f Vec<T> & g"],
    );
    check(
        "# F\n- a\n  b\n\n  c\n- [x] done\n",
        &["2 f/-: a b | c", "6 f/-: [x] done"],
    );
    check(
        "# F\n- a\n  - b\n    - c\n  - d\n",
        &["2 f/-: a | - b |   - c | - d"],
    );
    check("# F\n- run:\n  ```sh\n  ls\n  ```\n", &["2 f/-: run: | ls"]);
    check("# F\n-\n- \n- x\n", &["4 f/-: x"]);
}

#[test]
fn parse_reports_skipped_blocks() {
    let page = parse(
        "---\ntitle: x\n---\n<!-- summary: y -->\n# F\nwords\n\nmore\n- x\n\n```\ncode\n```\n",
    );
    assert_eq!(page.entries.len(), 1);
    let [diagnostic] = page.diagnostics.as_slice() else {
        panic!("{:?}", page.diagnostics);
    };
    assert_eq!(diagnostic.line, 6);
    assert!(
        diagnostic.message.starts_with("3 paragraphs"),
        "{}",
        diagnostic.message
    );
    assert_eq!(parse("# F\n- x\n").diagnostics, []);
    assert_eq!(parse(""), SharedPage::default());
}

#[test]
fn index_line_has_summary_of_file() {
    let check = |text: &str, summary: &str| {
        let line = index_line("docs/a.md", text);
        assert_eq!(line.summary, summary, "{text}");
        assert_eq!(
            (line.path.as_str(), line.size),
            ("docs/a.md", text.len() as u64)
        );
    };
    check("", "");
    check("words *here*\nand there\n\nmore", "words here and there");
    check("words\n# The title\n", "The title");
    check("---\ntitle: Front\n---\n# The title\n", "Front");
    check("---\ntitle: Front\nSummary: \"It: is\"\n---\n", "It: is");
    check("---\nsummary: |\n  long\ntitle: 'T'\n---\n", "T");
    check(
        "---\nsummary: front\n---\n<!-- summary: The  comment -->\n",
        "The comment",
    );
    check("# T\n- x <!-- Summary: inside -->\n", "inside");
    check("<!--\nsummary: over\nlines -->\n", "over | lines");
    check("<!-- other -->\n# T\n", "T");
    check("\u{feff}# T\n", "T");
    check("# a\u{1b}[31mb\n", "a\u{fffd}[31mb");
    let long = format!("# {}\n", "x".repeat(limits::SHARED_SUMMARY_CHARS_MAX + 1));
    let clipped = index_line("a", &long).summary;
    assert_eq!(text::chars(&clipped), limits::SHARED_SUMMARY_CHARS_MAX);
    assert!(clipped.ends_with('…'));
    let most = "x".repeat(limits::SHARED_SUMMARY_CHARS_MAX);
    check(&format!("# {most}\n"), &most);
}

#[test]
fn category_of_rule_is_a_heading_below_the_title() {
    let check = |page: &str, about: Option<&str>, expect: &[&str]| {
        let found = parse_rules(page, about).entries;
        let found: Vec<_> = found.iter().map(|rule| rule.category.as_str()).collect();
        assert_eq!(found, expect, "{page}");
    };
    check("# My shop\n- use tabs\n", None, &["convention"]);
    check(
        "# My shop\n- a\n## Build\n- b\n",
        None,
        &["convention", "build"],
    );
    // Several headings of the first level are parts of the page.
    check("# Build\n- a\n# Style\n- b\n", None, &["build", "style"]);
    check("## Build\n- a\n", None, &["build"]);
    check("# Decisions\n- a\n", None, &["decision"]);
    check("# My shop\n- a\n", Some("tools"), &["tools"]);
    check("- a\n", None, &["convention"]);
}

proptest::proptest! {
    #[test]
    fn parse_any_page_gives_valid_entries(page in "([-*#`>\\[\\]():! \t\n]|---\n|<!--|-->|\\PC|\\pC|[a-c]){0,80}") {
        let found = parse(&page);
        for entry in &found.entries {
            assert!(!entry.text.trim().is_empty(), "{entry:?}");
            assert!(check_name("category", &entry.category).is_ok(), "{entry:?}");
            let key = entry.key.as_deref().unwrap_or("k");
            assert!(!key.is_empty() && key.len() <= limits::KEY_BYTES_MAX, "{entry:?}");
            assert!(entry.line >= 1 && entry.line <= page.lines().count() as u64, "{entry:?}");
        }
        let line = index_line("p", &page);
        assert!(text::is_one_line(&line.summary), "{line:?}");
    }
}
