//! Tests of command lines.

use super::*;

fn texts(line: &str) -> Vec<&str> {
    split_commands(line).iter().map(|one| one.text).collect()
}

#[test]
fn split_commands_respects_quotes_and_documents() {
    for (line, commands) in [
        ("", vec![]),
        ("make", vec!["make"]),
        (
            "cd a && make -j2 2>&1 | tail -5",
            vec!["cd a", "make -j2 2>&1", "tail -5"],
        ),
        ("a; b & c || d", vec!["a", "b", "c", "d"]),
        (
            "a 'x && y' \"z | w\" \\; b",
            vec!["a 'x && y' \"z | w\" \\; b"],
        ),
        (
            "git commit -m \"$(cat <<'E'\na; b\nE\n)\" && git push",
            vec!["git commit -m \"$(cat <<'E'\na; b\nE\n)\"", "git push"],
        ),
        (
            "cat > f <<'E'\nx; y\nE\nmake",
            vec!["cat > f <<'E'", "make"],
        ),
        ("cat <<E && make\nx\nE", vec!["cat <<E", "make"]),
        ("cat <<-E\nx\nnever closed; y", vec!["cat <<-E"]),
        ("grep x <<< \"a; b\"; y", vec!["grep x <<< \"a; b\"", "y"]),
        ("a &&\nb", vec!["a", "b"]),
        ("x &> f; y >| g", vec!["x &> f", "y >| g"]),
        ("(cd a && make) && b", vec!["(cd a && make)", "b"]),
        (
            "git commit -m \"$(cat <<E\nsay \"x; it's\nE\n)\" && y",
            vec!["git commit -m \"$(cat <<E\nsay \"x; it's\nE\n)\"", "y"],
        ),
        ("make # don't; x\ny", vec!["make", "y"]),
        ("é 'ü", vec!["é 'ü"]),
    ] {
        assert_eq!(texts(line), commands, "{line}");
    }
    let operators: Vec<Operator> = split_commands("a && b | c || d; e")
        .iter()
        .map(|one| one.operator)
        .collect();
    use Operator::{And, Or, Pipe, Sequence, Start};
    assert_eq!(operators, [Start, And, Pipe, Or, Sequence]);
    assert_eq!(split_commands("a &&\n b").last().unwrap().operator, And);
}

#[test]
fn split_words_and_unquote() {
    assert_eq!(
        split_words("sed -n '1,5p' \"a b\" c\\ d  e"),
        ["sed", "-n", "'1,5p'", "\"a b\"", "c\\ d", "e"]
    );
    for (word, plain) in [
        ("'a (b)'", "a (b)"),
        ("a\\ b", "a b"),
        ("\"x'y\"", "x'y"),
        ("--a=\"b c\"", "--a=b c"),
    ] {
        assert_eq!(unquote(word), plain);
    }
}

#[test]
fn split_commands_finds_documents_and_background_commands() {
    let commands =
        split_commands("cat <<A <<'B C' | x & y\n1\nA\n2\nB C\nz \"$(cat <<E\nit's\nE\n)\"");
    let found: Vec<_> = commands
        .iter()
        .map(|one| (one.here_document, one.is_background))
        .collect();
    assert_eq!(
        found,
        [
            (Some("2\n"), false),
            (None, true),
            (None, false),
            (Some("it's\n"), false)
        ]
    );
    let subshells: Vec<_> = split_commands("(a; b) > c; (d && $(e)); (f; g; (h")
        .iter()
        .map(CommandSlice::subshell)
        .collect();
    assert_eq!(
        subshells,
        [Some("a; b"), Some("d && $(e)"), Some("f; g; (h")]
    );
    assert_eq!(split_commands("a; b")[0].subshell(), None);
}

#[test]
fn split_words_and_unquote_respect_continuations_and_documents() {
    assert_eq!(split_words("make \\\n  all\\\n x"), ["make", "all", "x"]);
    assert_eq!(
        split_words("git commit -m \"$(cat <<E\nsay \"x; it's\nE\n)\" y").len(),
        5
    );
    for (word, plain) in [
        ("a\\\nb", "ab"),
        ("\"\\d \\$x\"", "\\d $x"),
        ("'\\d'", "\\d"),
        ("\"$(cat <<E\nit's\nE\n)\"", "$(cat <<E\nit's\nE\n)"),
    ] {
        assert_eq!(unquote(word), plain, "{word}");
    }
    assert_eq!(plain_word("\"$(cat <<E\nit's\nE\n)\"", false), "$(cat )");
}
