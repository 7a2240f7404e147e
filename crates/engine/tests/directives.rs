//! Tests of directives: parsing, formatting and errors.

use heirloom_model::Budget;
use heirloom_model::limits::{
    CONTEXT_BUDGET_CHARS_MAX, CONTEXT_BUDGET_TOKENS_MAX, DIRECTIVE_FILES_MAX,
    DIRECTIVE_SHOWN_CHARS, DIRECTIVE_TAIL_LINES_MAX, DIRECTIVES_MAX, INVOCATION_BYTES_MAX,
    NAME_BYTES_MAX, PATH_BYTES_MAX, RECALL_QUERY_BYTES_MAX,
};
use heirloom_prompt::directives::{
    Directive, FileInput, FileSelector, Invocation, LineRange, parse,
};
use proptest::prelude::*;

fn exact(name: &str) -> FileInput {
    FileInput {
        name: FileSelector::Exact(name.to_owned()),
        lines: None,
    }
}

fn pattern(name: &str) -> FileInput {
    FileInput {
        name: FileSelector::Pattern(name.to_owned()),
        lines: None,
    }
}

fn at(input: FileInput, from: usize, to: Option<usize>) -> FileInput {
    FileInput {
        lines: Some(LineRange { from, to }),
        ..input
    }
}

/// Checks that the text parses as these directives of `agent`, and that their formatting parses to the same.
#[track_caller]
fn check(text: &str, directives: Vec<Directive>) {
    let expected = Invocation {
        agent: "agent".to_owned(),
        directives,
    };
    let read = parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    assert_eq!(read, expected, "{text}");
    let written = expected.to_string();
    assert_eq!(parse(&written), Ok(expected), "{written}");
}

#[test]
fn parse_valid_directives() {
    use Directive::{Input as In, Recall, Tail};
    let recall = |words: &str| Recall(words.to_owned());
    check("agent", vec![]);
    check("  agent  ", vec![]);
    check("\"agent\"", vec![]);
    check("agent[tail:50]", vec![Tail(50)]);
    check(
        "agent[input:file1.md,file2.md]",
        vec![In(vec![exact("file1.md"), exact("file2.md")])],
    );
    check(
        "agent[input:a][tail:5]",
        vec![In(vec![exact("a")]), Tail(5)],
    );
    check("agent[input:a;tail:5]", vec![In(vec![exact("a")]), Tail(5)]);
    check(
        "agent[input:a];[tail:5]",
        vec![In(vec![exact("a")]), Tail(5)],
    );
    check(
        " agent [ input : a , b ] ; [ tail : 5 ] ",
        vec![In(vec![exact("a"), exact("b")]), Tail(5)],
    );
    check(
        "agent[input:a][input:b]",
        vec![In(vec![exact("a")]), In(vec![exact("b")])],
    );
    check(
        "agent[recall:why does it fail?;budget:4000]",
        vec![
            recall("why does it fail?"),
            Directive::Budget(Budget::Chars(4_000)),
        ],
    );
    check(
        "agent[recall:kind:error, or note]",
        vec![recall("kind:error, or note")],
    );
    check(r#"agent[recall:"a]; \"b\""]"#, vec![recall(r#"a]; "b""#)]);
    check(r#"agent[recall:say "b"]"#, vec![recall(r#"say "b""#)]);
    check(
        "agent[budget:1000 tokens]",
        vec![Directive::Budget(Budget::Tokens(1_000))],
    );
    check(
        "agent[budget:7chars]",
        vec![Directive::Budget(Budget::Chars(7))],
    );
}

#[test]
fn parse_file_names() {
    let input = |output: &str, expected: FileInput| {
        check(
            &format!("agent[input:{output}]"),
            vec![Directive::Input(vec![expected])],
        );
    };
    input("spec.md:10-40", at(exact("spec.md"), 10, Some(40)));
    input("spec.md:10", at(exact("spec.md"), 10, Some(10)));
    input("spec.md:10-", at(exact("spec.md"), 10, None));
    input("spec.md : 10 ", at(exact("spec.md"), 10, Some(10)));
    input("docs/*.md", pattern("docs/*.md"));
    input("docs/**:1-20", at(pattern("docs/**"), 1, Some(20)));
    input("a?.md", pattern("a?.md"));
    input("\"a?.md\"", exact("a?.md"));
    input("my file.md", exact("my file.md"));
    input("\"a, b.md\"", exact("a, b.md"));
    input("\"a, b.md\" : 3", at(exact("a, b.md"), 3, Some(3)));
    input(r#""[x];.md":2-3"#, at(exact("[x];.md"), 2, Some(3)));
    input(
        r#""a\"b\\c\n\t\r\u{1b}\u{0}.md""#,
        exact("a\"b\\c\n\t\r\u{1b}\0.md"),
    );
    input("\" a \"", exact(" a "));
    input("\"a:10\"", exact("a:10"));
    input("a:b.md", exact("a:b.md"));
    input("a:b:7", at(exact("a:b"), 7, Some(7)));
    input("a\"b.md", exact("a\"b.md"));
    input(r"a\b.md", exact(r"a\b.md"));
    input("größe.md", exact("größe.md"));
}

/// Checks that the error is at the caret below the text, with this message.
#[track_caller]
fn assert_error(text: &str, caret: &str, words: &str) {
    let Err(error) = parse(text) else {
        panic!("{text} has no mistake");
    };
    let column = caret.chars().count();
    assert_eq!(error.column, column, "{text}\n{error}");
    assert!(error.problem.contains(words), "{text}\n{error}");
    let picture = format!("  {}\n  {}^", text, " ".repeat(column - 1));
    if text.chars().count() <= DIRECTIVE_SHOWN_CHARS {
        assert_eq!(error.caret_excerpt, picture);
    }
    assert!(!error.hint.is_empty());
}

#[test]
fn parse_error_has_position() {
    assert_error("agent[input:a", "     ^", "not closed");
    assert_error("agent[input:a][tail:5", "              ^", "not closed");
    assert_error("agent[input:a,]", "              ^", "without a name");
    assert_error("agent[input:a,,b]", "              ^", "without a name");
    assert_error("agent[input:]", "            ^", "without a name");
    assert_error("agent[input]", "      ^", "no value");
    assert_error("agent[input a]", "            ^", "`:` is missing");
    assert_error("agent[tail:]", "      ^", "no value");
    assert_error("agent[]", "      ^", "empty directive");
    assert_error("agent[;]", "      ^", "empty directive");
    assert_error("agent[tail:5;]", "             ^", "empty directive");
    assert_error("agent[:a]", "      ^", "without a name");
    assert_error("agent[*:a]", "      ^", "no directive begins like this");
    assert_error("agent[inptu:a]", "      ^", "unknown directive `inptu`");
    assert_error("agent[Tail:5]", "      ^", "unknown directive `Tail`");
    assert_error(
        "agent[input:a[tail:5]]",
        "             ^",
        "inside of brackets",
    );
    assert_error("agent[tail:[5]]", "           ^", "inside of brackets");
    assert_error("agent[[tail:5]]", "      ^", "inside of brackets");
    assert_error("agent]", "     ^", "closes nothing");
    assert_error("agent[tail:5]]", "             ^", "closes nothing");
    assert_error("agent[tail:5] x", "              ^", "only directives");
    assert_error("agent[tail:5];", "             ^", "nothing follows");
    assert_error("agent[tail:x]", "           ^", "number of lines");
    assert_error("agent[tail:0]", "           ^", "number of lines");
    assert_error("agent[tail:-5]", "           ^", "number of lines");
    assert_error("agent[tail:5][tail:6]", "              ^", "given twice");
    assert_error(
        "agent[budget:5;budget:6]",
        "               ^",
        "given twice",
    );
    assert_error("agent[budget:0]", "             ^", "not a budget");
    assert_error("agent[budget:5 words]", "             ^", "not a budget");
    assert_error("agent[input:a.md:0]", "                ^", "no line 0");
    assert_error(
        "agent[input:a.md:9-3]",
        "                ^",
        "before the first",
    );
    assert_error(
        "agent[input:a.md:-3]",
        "                ^",
        "not a line range",
    );
    assert_error(
        "agent[input:a.md:1-2-3]",
        "                ^",
        "not a line range",
    );
    assert_error(
        "agent[input:a.md:99999999999999999999]",
        "                ^",
        "not a line range",
    );
    assert_error(
        "agent[input:\"a\":x]",
        "               ^",
        "not a line range",
    );
    assert_error("agent[input::5]", "            ^", "without a name");
    assert_error("agent[input:\"a\"b]", "               ^", "closing quote");
    assert_error(
        "agent[recall:\"a\" b]",
        "                 ^",
        "closing quote",
    );
    assert_error("agent[input:\"a]", "            ^", "not closed");
    assert_error("agent[input:\"a\\x\"]", "              ^", "escape");
    assert_error("agent[input:\"\\u{d800}\"]", "             ^", "escape");
    assert_error("agent[input:\"\\u{+41}\"]", "             ^", "escape");
    assert_error("agent[input:\"a\\", "              ^", "escape");
    assert_error("[tail:5]", "^", "no name");
    assert_error("\"\"[tail:5]", "^", "no name");
    assert_error("\"a\\nb\"[tail:5]", "^", "control character");
    assert_error("größe[x:1]", "      ^", "unknown directive");
    let empty = parse("").unwrap_err();
    assert_eq!(empty.column, 1);
    let near = parse("agent[inptu:a]").unwrap_err();
    assert_eq!(near.hint, "did you mean `input`?");
}

#[test]
fn parse_error_in_long_invocation_shows_excerpt() {
    let text = format!(
        "agent[recall:{}][oops:1]{}",
        "x".repeat(500),
        " ".repeat(500)
    );
    let error = parse(&text).unwrap_err();
    let lines: Vec<&str> = error.caret_excerpt.lines().collect();
    let caret = lines[1].chars().count() - 1;
    assert_eq!(lines[0].chars().nth(caret), Some('o'));
    assert!(lines[0].chars().count() <= DIRECTIVE_SHOWN_CHARS + 4);
    let forged = parse("a\nb\u{1b}[31m[x:1]").unwrap_err();
    assert!(forged.caret_excerpt.lines().count() <= 2, "{forged}");
    assert!(!forged.to_string().contains('\u{1b}'));
}

#[test]
fn parse_limits_are_enforced() {
    let fits = |text: &str| parse(text).is_ok();
    let file = |bytes: usize| format!("a[input:{}]", "x".repeat(bytes));
    assert!(fits(&file(PATH_BYTES_MAX)));
    assert!(!fits(&file(PATH_BYTES_MAX + 1)));
    let files = |count: usize| format!("a[input:{}]", vec!["x"; count].join(","));
    assert!(fits(&files(DIRECTIVE_FILES_MAX)));
    assert!(!fits(&files(DIRECTIVE_FILES_MAX + 1)));
    let many = |count: usize| format!("a{}", "[recall:x]".repeat(count));
    assert!(fits(&many(DIRECTIVES_MAX)));
    assert!(!fits(&many(DIRECTIVES_MAX + 1)));
    let agent = |bytes: usize| "x".repeat(bytes);
    assert!(fits(&agent(NAME_BYTES_MAX)));
    assert!(!fits(&agent(NAME_BYTES_MAX + 1)));
    let tail = |lines: usize| format!("a[tail:{lines}]");
    assert!(fits(&tail(DIRECTIVE_TAIL_LINES_MAX)));
    assert!(!fits(&tail(DIRECTIVE_TAIL_LINES_MAX + 1)));
    let budget = |n: usize, unit: &str| format!("a[budget:{n}{unit}]");
    assert!(fits(&budget(CONTEXT_BUDGET_CHARS_MAX, "")));
    assert!(!fits(&budget(CONTEXT_BUDGET_CHARS_MAX + 1, "")));
    assert!(fits(&budget(CONTEXT_BUDGET_TOKENS_MAX, " tokens")));
    assert!(!fits(&budget(CONTEXT_BUDGET_TOKENS_MAX + 1, " tokens")));
    let whole = |bytes: usize| format!("a[recall:{}]", "x".repeat(bytes - 10));
    assert!(fits(&whole(INVOCATION_BYTES_MAX)));
    assert!(!fits(&whole(INVOCATION_BYTES_MAX + 1)));
    const { assert!(INVOCATION_BYTES_MAX <= RECALL_QUERY_BYTES_MAX) };
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c*?:,;\\[\\]\"\\\\ .0-9\n-]{1,8}",
        "\\PC{1,6}",
        any::<String>(),
    ]
    .prop_filter("a name", |name| !name.trim().is_empty() && name.len() < 200)
}

fn any_input() -> impl Strategy<Value = FileInput> {
    let lines = (1..500_usize, proptest::option::of(0..50_usize));
    let lines = lines.prop_map(|(from, more)| LineRange {
        from,
        to: more.map(|more| from + more),
    });
    let name = prop_oneof![
        3 => any_name().prop_map(FileSelector::Exact),
        1 => "[a-c./]{0,3}[*?]{1,2}[a-c./]{0,3}".prop_map(FileSelector::Pattern),
    ];
    (name, proptest::option::of(lines)).prop_map(|(name, lines)| FileInput { name, lines })
}

fn any_invocation() -> impl Strategy<Value = Invocation> {
    let agent = any_name().prop_filter("one line", |name| !name.contains(char::is_control));
    let directive = prop_oneof![
        prop::collection::vec(any_input(), 1..4).prop_map(Directive::Input),
        any_name().prop_map(Directive::Recall),
    ];
    let tail = proptest::option::of((1..=DIRECTIVE_TAIL_LINES_MAX).prop_map(Directive::Tail));
    let budget = proptest::option::of(prop_oneof![
        (1..=CONTEXT_BUDGET_CHARS_MAX).prop_map(|n| Directive::Budget(Budget::Chars(n))),
        (1..=CONTEXT_BUDGET_TOKENS_MAX).prop_map(|n| Directive::Budget(Budget::Tokens(n))),
    ]);
    let all = (prop::collection::vec(directive, 0..4), tail, budget);
    (agent, all).prop_map(|(agent, (mut directives, tail, budget))| {
        directives.extend(tail.into_iter().chain(budget));
        Invocation { agent, directives }
    })
}

proptest! {
    #[test]
    fn format_then_parse_round_trips(invocation in any_invocation()) {
        let text = invocation.to_string();
        let raw = text.contains(['\n', '\u{1b}']);
        prop_assert!(!raw);
        prop_assert_eq!(parse(&text), Ok(invocation), "{}", text);
    }

    #[test]
    fn parse_any_text_succeeds_or_has_position(
        text in prop_oneof![
            "[a\\[\\];:,\"\\\\ 0-9*-]{0,24}",
            "a(\\[(input|tail|recall|budget|x)?:?[a\\[\\];:,\"\\\\ 0-9é-]{0,6}\\]?;?){0,4}",
            any::<String>(),
        ]
    ) {
        match parse(&text) {
            Ok(read) => prop_assert_eq!(parse(&read.to_string()), Ok(read)),
            Err(error) => {
                let inside = 1..=text.chars().count().max(1);
                prop_assert!(inside.contains(&error.column), "{}", error);
                prop_assert_eq!(error.caret_excerpt.lines().count(), 2);
            }
        }
    }
}
