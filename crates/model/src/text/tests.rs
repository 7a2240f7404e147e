use super::*;

#[test]
fn percent_rounds_except_to_the_ends() {
    let shown = [0.0, 0.004, 0.0107, 0.5, 0.8749, 0.999, 1.0].map(percent);
    assert_eq!(
        shown,
        ["0 %", "<1 %", "1 %", "50 %", "87 %", "99 %", "100 %"]
    );
}

#[test]
fn counted_noun_is_singular_for_one_only() {
    let shown = [0_u64, 1, 2].map(|n| counted(n, "entry", "entries"));
    assert_eq!(shown, ["0 entries", "1 entry", "2 entries"]);
    assert_eq!(counted(1_usize, "is", "are"), "1 is");
}

#[test]
fn path_with_control_characters_is_escaped() {
    for (name, shown) in [
        ("src/lib.rs", "src/lib.rs"),
        ("wörter/数.md", "wörter/数.md"),
        (
            "a\nHEIRLOOM_MEMORY: KEY_FACT x",
            "a\\nHEIRLOOM_MEMORY: KEY_FACT x",
        ),
        ("\u{1b}[31m\t\r", "\\u{1b}[31m\\t\\r"),
        ("\u{202e}\u{2028}\u{9b}", "\\u{202e}\\u{2028}\\u{9b}"),
    ] {
        assert_eq!(escape_name(name), shown);
        assert_eq!(Path::new(name).to_escaped(), shown);
    }
}

#[test]
fn clip_keeps_whole_graphemes() {
    let family = "👨‍👩‍👧";
    assert_eq!(clip(&format!("a{family}b"), 3), "a");
    assert_eq!(clip_start(&format!("a{family}b"), 3), "b");
    assert_eq!(clip("héllo", 2), "hé");
    assert_eq!(clip("abc", 3), "abc");
    assert_eq!(clip("abc", 0), "");
    assert_eq!(clip("a\r\nb", 2), "a");
    assert_eq!(clip("ae\u{301}", 2), "a");
}

#[test]
fn tokens_round_up_characters() {
    for (count, expected) in [
        (0, 0),
        (1, 1),
        (CHARS_PER_TOKEN, 1),
        (CHARS_PER_TOKEN + 1, 2),
    ] {
        assert_eq!(tokens(&"é".repeat(count)), expected);
    }
}

#[test]
fn normalize_ignores_case_spacing_and_end_punctuation() {
    assert_eq!(normalize("  Run  the\tTests. "), normalize("run the tests"));
    assert_ne!(normalize("use port 80"), normalize("use port 81"));
    assert_ne!(normalize("do use it"), normalize("do not use it"));
}

#[test]
fn one_line_cannot_forge_a_line() {
    assert_eq!(
        one_line("a\r\n## b\n\n  c\u{1b}[31m"),
        "a | ## b | c\u{fffd}[31m"
    );
    assert_eq!(one_line("\n\n"), "");
}

#[test]
fn is_one_line_agrees_with_one_line() {
    for text in [
        "",
        " ",
        "a b",
        "a  b",
        "a ",
        " a",
        "a\tb",
        "a\u{a0}b",
        "é\u{2028}b",
        "a\u{200f}",
        "\u{7f}",
        "é ü",
        "a\n",
    ] {
        assert_eq!(is_one_line(text), one_line(text) == text, "{text:?}");
        assert!(is_one_line(&one_line(text)), "{text:?}");
    }
}

#[test]
fn error_identity_keeps_digits_of_names() {
    for (one, other, is_same) in [
        ("test_1 failed: refused", "test_2 failed: refused", false),
        ("error E0502 here", "error E0499 here", false),
        (
            "panic at 0x7ffe12 line 42:7",
            "Panic at 0xdead99 line 43:11.",
            true,
        ),
        (
            "test_1 failed after 30 ms",
            "TEST_1 failed after 31 ms",
            true,
        ),
        ("took 3s", "took 4s", true),
        ("test-1 failed", "test-2 failed", false),
        ("test 1 failed", "test 2 failed", false),
        ("case #1: refused", "case #2: refused", false),
        ("test_add[1-2] failed", "test_add[3-4] failed", false),
        ("TestAdd/2 failed (0.01s)", "TestAdd/2 failed (0.34s)", true),
        ("TestAdd/2(0.01s) failed", "TestAdd/2(0.34s) failed", true),
        ("a_test.go:14 is wrong", "a_test.go:15 is wrong", true),
        ("make: target-1 failed", "make: target-2 failed", false),
        ("3 tests failed in 4 s", "4 tests failed in 5 s", true),
        (
            "no file /tmp/pytest-of-x/pytest-1/out",
            "no file /tmp/pytest-of-x/pytest-2/out",
            true,
        ),
        ("cannot open a.rs", "cannot open b.rs", false),
    ] {
        assert_eq!(
            error_identity(one) == error_identity(other),
            is_same,
            "{one}"
        );
    }
}

#[test]
fn error_identity_keeps_numbers_that_name_something() {
    for (one, other) in [
        (
            "connect ECONNREFUSED 127.0.0.1:5432",
            "connect ECONNREFUSED 127.0.0.1:6379",
        ),
        (
            "EADDRINUSE: address already in use :::3000",
            "EADDRINUSE: address already in use :::4000",
        ),
        (
            "cannot reach http://localhost:8080/health",
            "cannot reach http://localhost:9090/health",
        ),
        (
            "dial tcp: connect to cache:6379 failed",
            "dial tcp: connect to cache:6380 failed",
        ),
        ("port 8080 is in use", "port 9090 is in use"),
        (
            "HTTP 404 from GET /api/users",
            "HTTP 500 from GET /api/users",
        ),
        (
            "Request failed with status code 404",
            "Request failed with status code 500",
        ),
        ("GET /api/users 404 in 12 ms", "GET /api/users 500 in 12 ms"),
        ("{\"statusCode\":403}", "{\"statusCode\":404}"),
        (
            "the server answered HTTP/1.1 502",
            "the server answered HTTP/1.1 503",
        ),
        ("requires Python 3.8", "requires Python 3.12"),
        ("requires node >= 18", "requires node >= 22"),
        ("needs Crystal 1.2", "needs Crystal 1.9"),
        ("no match for serde@1.0", "no match for serde@2.0"),
        ("conflict: lodash 4.17.20", "conflict: lodash 4.17.21"),
        ("`GLIBC_2.34' not found", "`GLIBC_2.38' not found"),
        ("ERROR 1045 (28000): denied", "ERROR 1049 (28000): denied"),
        ("SQLSTATE[42S02]: missing", "SQLSTATE[42S22]: missing"),
        ("ORA-00942: no table", "ORA-00904: no table"),
        ("affected by CVE-2021-44228", "affected by CVE-2021-45046"),
        ("OSError: [Errno 2] x", "OSError: [Errno 13] x"),
        ("failed (os error 2)", "failed (os error 13)"),
        ("failed with code 0xC0000005", "failed with code 0x80070005"),
        ("exit code 127", "exit code 137"),
        (
            "f() takes 2 positional arguments but 3 were given",
            "f() takes 1 positional arguments but 3 were given",
        ),
        ("expected 2 arguments, got 1", "expected 2 arguments, got 3"),
        ("'utf-8' codec failed", "'utf-16' codec failed"),
    ] {
        assert_ne!(error_identity(one), error_identity(other), "{one}");
    }
}

#[test]
fn error_identity_ignores_numbers_that_vary() {
    for (one, other) in [
        (
            "Unexpected token at line 3 of a.json",
            "Unexpected token at line 9 of a.json",
        ),
        ("panic at 0x7ffe12", "panic at 0xdead99"),
        (
            "timeout at 2026-05-01T10:00:00Z after 3.5 s",
            "timeout at 2026-06-02T11:00:01Z after 12.25 s",
        ),
        ("10:00:05 failed", "11:30:59 failed"),
        ("took 3.5s of 80%", "took 4.25s of 90%"),
        ("src/a.rs:12:7 is wrong", "src/a.rs:99:1 is wrong"),
        (
            "File \"a.py\", line 12, in f",
            "File \"a.py\", line 40, in f",
        ),
        ("process 4711 ended", "process 815 ended"),
        ("[pid12] ended", "[pid99] ended"),
        ("worker-3 died", "worker-4 died"),
        ("commit 3f2a91c not found", "commit 99aa01b not found"),
        (
            "job 3f2a91c0-1b2c-4d3e-8f90-aabbccddeeff failed",
            "job 99aa91c0-2b2c-4d3e-8f90-aabbccddee00 failed",
        ),
        (
            "read tcp 10.0.0.7:49832->10.0.0.3:5432: reset",
            "read tcp 10.0.0.9:51344->10.0.0.4:5432: reset",
        ),
        (
            "no file /tmp/tmpab3xk/out.json",
            "no file /tmp/tmpzz9qq/out.json",
        ),
        (
            "no file /var/folders/zz/a1b2c3/T/x",
            "no file /var/folders/q8/d4e5f6/T/x",
        ),
        (
            "cannot write run_1700000000.log",
            "cannot write run_1800000001.log",
        ),
        ("assertion failed: 499 != 500", "assertion failed: 12 != 13"),
        ("Found 5 errors", "Found 9 errors"),
        (
            "allocated 128 MB, 4096 bytes",
            "allocated 64 MB, 1024 bytes",
        ),
        ("é 3 ms ü", "É 4 ms Ü"),
    ] {
        assert_eq!(error_identity(one), error_identity(other));
    }
}

#[test]
fn test_names_are_found_in_errors() {
    for (error, names) in [
        ("test_1 failed: refused", vec!["test_1"]),
        (
            "FAILED tests/test_a.py::test_x - assert 1 == 2",
            vec!["test_x"],
        ),
        ("test 3 failed after 4 s", vec!["3"]),
        (
            "`cargo test` failed: left != right (cart::tests::test_add)",
            vec!["test_add"],
        ),
        ("cannot open src/test_a.rs:12", vec![]),
        ("3 tests failed", vec![]),
        ("the test failed", vec![]),
        ("TestTokenExpiry: got nil", vec!["testtokenexpiry"]),
        ("Testing the latest build", vec![]),
    ] {
        assert_eq!(test_names(error), names, "{error}");
    }
}

#[test]
fn hash_parts_differs_for_different_lists() {
    assert_ne!(hash_parts(&["ab", "c"]), hash_parts(&["a", "bc"]));
    assert_eq!(hash_parts(&["ab"]).len(), 16);
}

proptest::proptest! {
    #[test]
    fn error_identity_handles_any_text(error in "([a-z]{1,4}|[0-9]{1,3}|\\PC|[/.:'\"@#=<> \n-]|0x|http://|error |é){0,30}") {
        let once = error_identity(&error);
        assert_eq!(once, error_identity(&error));
        assert!(!once.contains("  "));
    }

    #[test]
    fn one_line_handles_any_text(text in "([a-b]|[ \t\n]|\\PC|\\pC|\\pZ){0,12}", max in 0..12_usize) {
        let line = one_line(&text);
        assert!(is_one_line(&line));
        assert_eq!(is_one_line(&text), line == text);
        let clipped = clip(&text, max);
        assert!(chars(clipped) <= max && text.starts_with(clipped));
        let whole: String = text.graphemes(true).take(clipped.graphemes(true).count()).collect();
        assert_eq!(whole, clipped);
    }
}

#[test]
fn strip_ansi_removes_all_forms_and_keeps_later_lines() {
    for (input, plain) in [
        ("a\u{1b}[1;31mb\u{1b}[0mc", "abc"),
        ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\.", "link."),
        ("\u{1b}(B\u{1b}[mplain", "plain"),
        ("\u{1b}7\u{1b}=x", "x"),
        ("\u{1b}]0;never ended\nnext", "\nnext"),
        ("\u{1b}]0;cut\u{1b}[1mnext", "next"),
        ("\u{1b}[1;é", "é"),
        ("end\u{1b}", "end"),
        ("end\u{1b}[", "end"),
    ] {
        assert_eq!(strip_ansi(input), plain, "{input:?}");
    }
}

#[test]
fn excerpt_at_word_ends_with_a_whole_word() {
    for (text, most, cut) in [
        ("run the tests", 13, "run the tests"),
        ("run the tests", 12, "run the…"),
        ("run the tests", 9, "run the…"),
        ("run the tests", 8, "run the…"),
        ("run the\ntests again…", 30, "run the | tests again…"),
        (
            "a very/long/path/without/blanks",
            20,
            "a very/long/path/wi…",
        ),
        ("测试必须使用数据库", 5, "测试必须…"),
        ("x", 0, ""),
        ("", 4, ""),
    ] {
        assert_eq!(excerpt_at_word(text, most), cut, "{most}");
        assert!(chars(cut) <= most, "{cut}");
    }
}

#[test]
fn clipped_start_begins_at_line_or_word() {
    for (text, most, expected) in [
        ("one two", 9, "one two"),
        (
            "output line 1\noutput line 2\nlast",
            22,
            "output line 2\nlast",
        ),
        ("a\nb\nc", 3, "b\nc"),
        ("one long line of words", 10, "of words"),
        ("one long line of words", 8, "of words"),
        ("unbroken", 4, "oken"),
        // A short last line is not the whole of the end.
        ("a long paragraph of words\nend", 20, "of words\nend"),
        ("漢字漢字", 2, "漢字"),
    ] {
        assert_eq!(clip_start_at_boundary(text, most), expected, "{text:?}");
    }
}
