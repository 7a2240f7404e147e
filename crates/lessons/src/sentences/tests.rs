use super::*;

fn split(text: &str) -> Vec<&str> {
    sentences(text).collect()
}

#[test]
fn sentences_end_at_marks_but_not_in_names_and_abbreviations() {
    for (text, expected) in [
        ("use pnpm. never npm.", vec!["use pnpm.", "never npm."]),
        (
            "Edit config.toml, e.g. the port. Done!",
            vec!["Edit config.toml, e.g. the port.", "Done!"],
        ),
        (
            "See https://x.dev/a.b?c=1. Then go",
            vec!["See https://x.dev/a.b?c=1.", "Then go"],
        ),
        (
            "Run `a. b? c` first. Then d",
            vec!["Run `a. b? c` first.", "Then d"],
        ),
        (
            "Open `abc. Then b\nnext",
            vec!["Open `abc.", "Then b", "next"],
        ),
        (
            "z. B. Tests, Linter usw. Dann weiter.",
            vec!["z. B. Tests, Linter usw.", "Dann weiter."],
        ),
        (
            "用 pnpm。不要用 npm！好",
            vec!["用 pnpm。", "不要用 npm！", "好"],
        ),
        ("「はい。」次へ", vec!["「はい。」", "次へ"]),
        (
            "1. First thing\n2. Second",
            vec!["1. First thing", "2. Second"],
        ),
        (
            "wait... use x (it is new.) Next",
            vec!["wait... use x (it is new.)", "Next"],
        ),
        ("v1.2.3 works. v2 not", vec!["v1.2.3 works.", "v2 not"]),
        ("What?! No.", vec!["What?!", "No."]),
        ("...\n---\n", vec![]),
    ] {
        assert_eq!(split(text), expected, "{text}");
    }
}

#[test]
fn shorten_to_sentences_returns_whole_sentences() {
    assert_eq!(shorten_to_sentences("One. Two. Three.", 9), "One. Two.");
    assert_eq!(shorten_to_sentences("One two three.", 5), "");
    assert_eq!(shorten_to_sentences("一二。三四。", 3), "一二。");
}

#[test]
fn is_question_reads_marks_and_particles() {
    for text in [
        "why?",
        "\"why?\"",
        "¿por qué",
        "可以吗",
        "使えますか。",
        "なぜ？",
    ] {
        assert!(is_question(text), "{text}");
    }
    for text in ["use a?b:c", "say why.", "使ってください"] {
        assert!(!is_question(text), "{text}");
    }
}

#[test]
fn plain_text_removes_markdown() {
    for (text, expected) in [
        (
            "# Title\n\n**Use** [pnpm](https://x.dev) *now*.",
            "Title\nUse pnpm now.\n",
        ),
        ("- a\n- [ ] b\n1. c\n", "a\nb\nc\n"),
        ("a\n```rust\nfn x() {}\n```\nb", "a\nb\n"),
        (
            "match **/*.rs and `**x**` and 2 * 3",
            "match **/*.rs and `**x**` and 2 * 3\n",
        ),
        (
            "This line was wrapped by an editor at some width\nand goes on here.",
            "This line was wrapped by an editor at some width and goes on here.\n",
        ),
        ("short\nlines", "short\nlines\n"),
        ("| a | b |\n|---|---|\n| c | d |", "a | b\nc | d\n"),
    ] {
        assert_eq!(plain_text(text), expected, "{text}");
    }
}

#[test]
fn mask_quoted_and_code_keeps_offsets() {
    let text = "don't «né» `a` \"b c\" it's 'd'";
    let masked = mask_quoted_and_code(text);
    assert_eq!(masked.len(), text.len());
    assert!(masked.starts_with("don't «"));
    assert!(masked.contains("it's '"));
    assert!(!masked.contains(['a', 'b', 'é']));
}

#[test]
fn hostile_texts_take_linear_time() {
    for unit in [
        "`", "[", "\"", "'a ", "*", "a. ", "e.g. ", ".", "…", "「", "\0", "[a](", "z.b.", ")", "> ",
    ] {
        let text = unit.repeat((1 << 17) / unit.len());
        let start = std::time::Instant::now();
        let plain = plain_text(&text);
        let found = sentences(&plain).count();
        let masked = mask_quoted_and_code(&text).len();
        shorten_to_sentences(&text, 400);
        assert!(start.elapsed().as_secs() < 30, "{unit} {found} {masked}");
    }
}
