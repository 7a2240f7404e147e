use super::*;
use proptest::prelude::*;

fn near_duplicates(a: &str, b: &str) -> bool {
    let (a, b) = (ComparableText::from_text(a), ComparableText::from_text(b));
    let alike = a.is_near_duplicate(&b);
    assert_eq!(alike, b.is_near_duplicate(&a));
    alike
}

#[track_caller]
fn check_same(a: &str, b: &str) {
    assert_eq!(words(a), words(b), "{a:?} and {b:?}");
    assert!(has_same_words(a, b));
    // A text without significant words is similar to no other.
    assert_eq!(
        near_duplicates(a, b),
        !ComparableText::from_text(a).is_empty()
    );
}

#[track_caller]
fn check_differs(a: &str, b: &str) {
    assert_ne!(words(a), words(b), "{a:?} and {b:?}");
    assert!(!has_same_words(a, b));
    assert!(!near_duplicates(a, b), "{a:?} and {b:?}");
    // The difference also decides between longer texts that share most words.
    let (a, b) = (
        format!("for every release of it {a}"),
        format!("for every release of it {b}"),
    );
    assert!(!near_duplicates(&a, &b), "{a:?} and {b:?}");
}

#[test]
fn same_words_ignores_case_spacing_punctuation() {
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
        ("Note: the page is slow", "note the Page is slow"),
        ("- the page is slow", "The page is slow"),
        ("NEVER use npm", "Never use npm"),
        ("use `Path` here", "use (`Path`) here."),
        ("le café est prêt", "le cafe\u{301} est pre\u{302}t"),
        ("Use S3, always!", "use s3 always"),
        ("Don't use npm", "don’t use npm"),
        ("Don't use NPM", "dont use NPM"),
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
fn significant_difference_is_never_equal() {
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
        ("run it with -v first", "run it with -V first"),
        ("call user.save", "call user.save!"),
        ("call save! on it", "call save on it"),
        ("`save!` is called", "`save` is called"),
        ("list.empty? is called", "list.empty is called"),
        ("the variable is PATH", "the variable is Path"),
        ("the class is UserId", "the class is UserID"),
        ("the type `Path` is used", "the type `path` is used"),
        ("copy it from a to b", "copy it to a from b"),
        ("it was broken", "it is broken"),
        ("Il faut le tester", "Il ne faut pas le tester"),
        ("Den Cache immer leeren", "Den Cache nie immer leeren"),
        (
            "Bitte die Tests ausführen",
            "Bitte nicht die Tests ausführen",
        ),
        ("Ejecuta las pruebas", "No ejecutes las pruebas"),
        ("Запускай тесты", "Не запускай тесты"),
        ("テストを実行する", "テストを実行しない"),
    ] {
        check_differs(a, b);
    }
}

#[test]
fn punctuation_text_equals_only_itself() {
    for (a, b) in [("!!!", "???"), ("...", "!"), ("👍", "👎"), ("-", "+")] {
        assert!(!has_same_words(a, b), "{a} {b}");
    }
    assert!(has_same_words("!!!", " !!! "));
    assert!(!near_duplicates("!!!", "???"));
}

#[test]
fn words_returns_normal_form() {
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
fn near_duplicates_differ_in_harmless_words_only() {
    for (a, b) in [
        ("Run the tests.", "run tests"),
        (
            "the tests need Redis to be there",
            "The tests really need Redis to be there!",
        ),
        ("Bitte die Tests ausführen", "Die Tests ausführen, bitte!"),
        ("Ejecuta las pruebas, por favor", "Ejecuta pruebas"),
    ] {
        assert!(near_duplicates(a, b), "{a} / {b}");
    }
    for (a, b) in [
        ("we run all tests locally", "we run all tests daily"),
        (
            "the tests need a running Redis",
            "The tests need Redis running",
        ),
        (
            "the port of the server is",
            "the port of the server is 8080",
        ),
        ("it runs on the server", "it runs on the Debian server"),
        (
            "use tabs not spaces here please",
            "use spaces not tabs here please",
        ),
        (
            "it works well on Linux today",
            "it doesn't work well on Linux today",
        ),
        (
            "deploy works with the new key",
            "deploy works only with the new key",
        ),
        ("alpha beta", "alpha"),
        (
            "run every test before you commit",
            "run every single test before you commit",
        ),
        ("ask it por defecto", "ask it defecto"),
        ("", ""),
        ("…", "…"),
    ] {
        assert!(!near_duplicates(a, b), "{a} / {b}");
    }
}

#[test]
fn overlap_and_share_count_words() {
    let of = ComparableText::from_text;
    let (one, other) = (of("alpha beta gamma"), of("beta alpha delta epsilon"));
    assert_eq!(one.overlap(&other), 0.4);
    assert_eq!(one.share_in(&other), 2.0 / 3.0);
    assert_eq!(of("").overlap(&of("")), 0.0);
    assert_eq!(of("").share_in(&of("alpha")), 0.0);
    let quoted = of("Don't open (the) `src/a.rs`!");
    assert!(quoted.words().eq(["dont", "open", "src/a.rs"]));
}

/// The same words with other case, spacing and punctuation.
fn reformatted(words: &[String], upper: bool, gap: &str, mark: &str) -> String {
    let text = words.join(&format!("{mark}{gap}")) + mark;
    if upper { text.to_uppercase() } else { text }
}

fn identifier() -> impl Strategy<Value = String> {
    "[a-z]{1,4}[_./:-][a-z]{1,4}|[a-z]{1,3}[0-9]{1,3}|[a-z]{2}[A-Z][a-z]|-?[0-9]{1,4}(\\.[0-9])?"
}

proptest! {
    #[test]
    fn plain_words_are_equal_in_any_formatting(
        plain in proptest::collection::vec("[a-z]{1,8}", 2..8),
        upper: bool,
        gap in "[ \t\n]{1,3}",
        mark in "[.,;:]{0,2}",
    ) {
        let (a, b) = (plain.join(" "), reformatted(&plain, upper, &gap, &mark));
        prop_assert!(has_same_words(&a, &b), "{a:?} {b:?}");
    }

    #[test]
    fn different_identifier_makes_texts_differ(
        a in identifier(),
        b in identifier(),
        before in proptest::collection::vec("[a-z]{1,8}", 0..4),
        after in proptest::collection::vec("[a-z]{1,8}", 0..4),
    ) {
        let text = |id: &String| [&before[..], std::slice::from_ref(id), &after[..]].concat().join(" ");
        let (one, other) = (text(&a), text(&b));
        prop_assert_eq!(has_same_words(&one, &other), a == b);
        prop_assert_eq!(near_duplicates(&one, &other), a == b);
    }

    #[test]
    fn forms_of_characters_are_equal(text in "[a-z àéîõüÅñçộ]{1,20}") {
        use unicode_normalization::UnicodeNormalization;
        let apart: String = text.nfd().collect();
        prop_assert!(has_same_words(&text, &apart));
        prop_assert_eq!(words(&text), words(&apart));
        prop_assert_eq!(ComparableText::from_text(&text), ComparableText::from_text(&apart));
    }

    #[test]
    fn additional_word_makes_a_difference(
        plain in proptest::collection::vec("[a-zäéñ]{1,8}", 1..8),
        more in "[a-zäéñ]{2,8}|ne|nicht|нет|jamais|не",
        place in 0_usize..8,
    ) {
        prop_assume!(WordClass::of(&more) != WordClass::Harmless && !["te", "per", "por", "favor", "thank"].contains(&&*more));
        let mut longer = plain.clone();
        longer.insert(place.min(plain.len()), more);
        prop_assert!(!near_duplicates(&plain.join(" "), &longer.join(" ")));
    }

    #[test]
    fn code_differs_in_case(code in "-[a-z]|[a-z]{1,4}[_./:][a-z]{1,4}|[a-z]{2}[A-Z][a-z]|--[a-z]{2,4}", before in "[a-z]{1,8}") {
        let (one, other) = (format!("{before} {code}"), format!("{before} {}", code.to_uppercase()));
        prop_assert!(!has_same_words(&one, &other), "{one} {other}");
        prop_assert!(!near_duplicates(&one, &other));
    }

    #[test]
    fn similarity_is_symmetric(a in "\\PC{0,20}|[a-z'.,!(-) ]{0,20}", b in "\\PC{0,20}") {
        let (one, other) = (ComparableText::from_text(&a), ComparableText::from_text(&b));
        prop_assert_eq!(one.is_near_duplicate(&other), other.is_near_duplicate(&one));
        prop_assert_eq!(one.overlap(&other), other.overlap(&one));
        prop_assert!((0.0..=1.0).contains(&one.overlap(&other)));
        prop_assert!((0.0..=1.0).contains(&one.share_in(&other)));
        prop_assert!(has_same_words(&a, &a));
        prop_assert_eq!(one.is_near_duplicate(&one), !one.is_empty());
        prop_assert!(!has_same_words(&a, &b) || one.words().eq(other.words()));
    }
}
