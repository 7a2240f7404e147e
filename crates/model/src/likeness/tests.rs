use super::*;
use proptest::prelude::*;

#[track_caller]
fn check_same(a: &str, b: &str) {
    assert_eq!(words(a), words(b), "{a:?} and {b:?}");
    assert!(same_words(a, b) && !differs_in_substance(a, b));
    assert_eq!(similarity(a, b), 1.0);
    assert!(near_duplicates(a, b));
}

#[track_caller]
fn check_differs(a: &str, b: &str) {
    assert_ne!(words(a), words(b), "{a:?} and {b:?}");
    assert!(!same_words(a, b));
    assert!(differs_in_substance(a, b), "{a:?} and {b:?}");
    assert!(differs_in_substance(b, a));
    assert!(!near_duplicates(a, b));
}

#[test]
fn case_spacing_and_punctuation_say_nothing() {
    for (a, b) in [
        ("Run  the tests.", "run the tests"),
        ("Run the tests!", "RUN\tTHE\nTESTS…"),
        ("Use pnpm, not npm.", "use pnpm not npm"),
        ("Use pnpm - not npm", "use pnpm; not npm"),
        ("Use pnpm — not npm", "Use pnpm—not npm"),
        ("Use tabs,not blanks", "use tabs, not blanks"),
        ("Use `cargo nextest`", "use cargo nextest"),
        (
            "Use “cargo nextest” (always)",
            "use \"cargo nextest\", always",
        ),
        ("Note: the API is slow", "note the api is slow"),
        ("- the API is slow", "The API is slow"),
        ("Use PostgreSQL on GitHub", "use postgresql on github"),
        ("Don't use npm", "don’t use npm"),
        ("Don't use npm", "dont use NPM"),
        ("It's the user's token", "its the users token"),
        ("Port 8080, always", "port 8080 always."),
        ("the port (8080)", "The port: 8080."),
        ("call `foo()`.", "Call foo()"),
        ("Use a.b, then c", "use a.b then c"),
        ("see src/Main.rs.", "See src/Main.rs"),
        ("Well... maybe", "well, maybe"),
        ("テストを実行、必ず。", "テストを実行、必ず"),
        ("", "  "),
        ("x", "X."),
    ] {
        check_same(a, b);
    }
}

#[test]
fn what_differs_in_substance_is_never_the_same() {
    for (a, b) in [
        ("v1.2", "v1-2"),
        ("use v1.2 here", "use v12 here"),
        ("a.b", "ab"),
        ("-1", "1"),
        ("set it to (-1)", "set it to (1)"),
        ("set it to –1", "set it to 1"),
        (".5 of it", "5 of it"),
        ("foo_bar", "foo bar"),
        ("foo_bar", "foobar"),
        ("use foo_bar", "use foo-bar"),
        ("MAX_SIZE", "max_size"),
        ("call getId first", "call getID first"),
        ("C++", "C"),
        ("use C++ here", "use C# here"),
        ("50% of it", "50 of it"),
        ("#12 is open", "12 is open"),
        (".env is private", "env is private"),
        ("../a is it", "a is it"),
        ("cd ..", "cd"),
        ("src/Main.rs", "src/main.rs"),
        ("src/a.rs is it", "src/b.rs is it"),
        ("src/ is it", "src is it"),
        ("pass --force", "pass force"),
        ("pass -f", "pass f"),
        ("pass -- -x", "pass -x"),
        ("use port 80", "use port 81"),
        ("use port 80", "use port 80 81"),
        ("1,000", "1.000"),
        ("5 - 1", "5 1"),
        ("a != b", "a == b"),
        ("the default is []", "the default is {}"),
        ("the default is []", "the default is"),
        ("take x[1:]", "take x[1]"),
        ("do use it", "do not use it"),
        ("do use it", "never use it"),
        ("you can use it", "you can't use it"),
        ("it works with it", "it works without it"),
        ("use a not b", "use b not a"),
        ("use Redis, not Postgres", "use Postgres, not Redis"),
        ("Cache it in Redis", "Cache it in Postgres"),
        ("retry three times", "retry four times"),
        ("enable the cache", "disable the cache"),
        ("copy a.rs to b.rs", "copy b.rs to a.rs"),
        ("pre-commit runs it", "pre commit runs it"),
        ("!important", "important"),
        ("JWT is used", "SAML is used"),
    ] {
        check_differs(a, b);
    }
}

#[test]
fn a_text_of_punctuation_is_itself() {
    for (a, b) in [("!!!", "???"), ("...", "!"), ("👍", "👎"), ("-", "+")] {
        assert!(!same_words(a, b), "{a} {b}");
    }
    assert!(same_words("!!!", " !!! "));
    assert!(!near_duplicates("!!!", "???"));
}

#[test]
fn words_are_as_they_are_compared() {
    for (text, expected) in [
        ("  The (first) one, \"here\".", "the first one here"),
        ("Don’t — ever! — stop.", "dont ever stop"),
        ("it'll do", "it'll do"),
        ("f(a)(b), [x], {y}", "f(a)(b) x y"),
        ("a[0] and b[1:]!", "a[0] and b[1:]"),
        ("https://x.y/Z?q=1.", "https://x.y/Z?q=1"),
        ("* a\n* b", "a * b"),
        ("-", "-"),
        ("?!", "?!"),
    ] {
        assert_eq!(words(text), expected, "{text:?}");
    }
}

#[test]
fn near_duplicates_are_alike_enough_and_no_more() {
    // Four words of five are shared, and three pairs of five: 7 of 11.
    let (a, b) = ("we run all tests locally", "we run all tests daily");
    let alike = similarity(a, b);
    assert_eq!(alike, 7.0 / 11.0);
    assert!(alike >= NEAR_DUPLICATE_MIN && near_duplicates(a, b));
    // Three of five, and two pairs of six.
    let (a, b) = ("we run all tests", "we run all checks");
    let alike = similarity(a, b);
    assert_eq!(alike, 5.0 / 9.0);
    assert!(alike < NEAR_DUPLICATE_MIN && !near_duplicates(a, b));
    assert!(!differs_in_substance(a, b), "only not alike enough");
    let (a, b) = (
        "The tests need a running Redis",
        "the tests need a running Redis server",
    );
    assert!(near_duplicates(a, b));
    assert_eq!(similarity("one two", "three four"), 0.0);
    assert_eq!(similarity("", "three four"), 0.0);
}

/// A text in other clothes: its case, its spacing, the punctuation between and behind its words.
fn disguised(words: &[String], upper: bool, gap: &str, mark: &str) -> String {
    let text = words.join(&format!("{mark}{gap}")) + mark;
    if upper { text.to_uppercase() } else { text }
}

fn identifier() -> impl Strategy<Value = String> {
    "[a-z]{1,4}[_./:-][a-z]{1,4}|[a-z]{1,3}[0-9]{1,3}|[a-z]{2}[A-Z][a-z]|-?[0-9]{1,4}(\\.[0-9])?"
}

proptest! {
    #[test]
    fn plain_words_are_the_same_in_any_clothes(
        plain in proptest::collection::vec("[a-z]{1,8}", 1..8),
        upper: bool,
        gap in "[ \t\n]{1,3}",
        mark in "[.,;:!?]{0,2}",
    ) {
        let (a, b) = (plain.join(" "), disguised(&plain, upper, &gap, &mark));
        prop_assert!(same_words(&a, &b), "{a:?} {b:?}");
    }

    #[test]
    fn another_identifier_is_another_text(
        a in identifier(),
        b in identifier(),
        before in proptest::collection::vec("[a-z]{1,8}", 0..4),
        after in proptest::collection::vec("[a-z]{1,8}", 0..4),
    ) {
        let text = |id: &String| [&before[..], std::slice::from_ref(id), &after[..]].concat().join(" ");
        let (one, other) = (text(&a), text(&b));
        prop_assert_eq!(same_words(&one, &other), a == b);
        prop_assert_eq!(differs_in_substance(&one, &other), a != b);
        prop_assert_eq!(near_duplicates(&one, &other), a == b);
    }

    #[test]
    fn any_two_texts_are_compared_alike_from_both_sides(a in "\\PC{0,20}|[a-z'.,!(-) ]{0,20}", b in "\\PC{0,20}") {
        prop_assert_eq!(differs_in_substance(&a, &b), differs_in_substance(&b, &a));
        prop_assert_eq!(similarity(&a, &b), similarity(&b, &a));
        prop_assert!((0.0..=1.0).contains(&similarity(&a, &b)));
        prop_assert!(same_words(&a, &a) && !differs_in_substance(&a, &a));
        prop_assert!(!(same_words(&a, &b) && differs_in_substance(&a, &b)));
    }
}
