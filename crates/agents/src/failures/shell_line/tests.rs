//! Tests of shell lines.

use super::*;

fn words(line: &str) -> Vec<Vec<String>> {
    read_shell_line(line)
        .into_iter()
        .map(|command| command.words)
        .collect()
}

#[test]
fn read_shell_line_splits_at_operators() {
    for (line, expected) in [
        ("a b && c", vec![vec!["a", "b"], vec!["c"]]),
        (
            "cd x && make test 2>&1 | tail -5",
            vec![vec!["cd", "x"], vec!["make", "test"], vec!["tail", "-5"]],
        ),
        (
            "a; b || c & d",
            vec![vec!["a"], vec!["b"], vec!["c"], vec!["d"]],
        ),
        ("a 'b && c' \"d | e\"", vec![vec!["a", "b && c", "d | e"]]),
        ("a > out.txt 2>/dev/null b", vec![vec!["a", "b"]]),
        ("a &> out && b", vec![vec!["a"], vec!["b"]]),
        ("(cd a && b)", vec![vec!["cd", "a"], vec!["b"]]),
        ("a # note && b\nc", vec![vec!["a"], vec!["c"]]),
        ("a \\\n  b", vec![vec!["a", "b"]]),
        ("if a; then b; fi", vec![vec!["a"], vec!["b"]]),
        ("a\\ b 'c'\\''d'", vec![vec!["a b", "c'd"]]),
        ("X=1 a --flag=\"b c\"", vec![vec!["X=1", "a", "--flag=b c"]]),
        (
            "(cd a && b > c) > d || e",
            vec![vec!["cd", "a"], vec!["b"], vec!["e"]],
        ),
        ("((a; (b", vec![vec!["a"], vec!["b"]]),
        ("if ! a; then { b; }; fi", vec![vec!["a"], vec!["b"]]),
        ("a x>b 2>>c >| d < e f", vec![vec!["a", "x", "f"]]),
        (
            "diff <(ls a) <(ls b)",
            vec![vec!["diff", "<(ls a)", "<(ls b)"]],
        ),
        ("a <<< 'b c' d", vec![vec!["a", "d"]]),
        ("\"a\\nb\" \"c\\\"d\"", vec![vec!["a\\nb", "c\"d"]]),
        ("", vec![]),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
}

#[test]
fn read_shell_line_reads_here_documents() {
    let line = "git add a && git commit -m \"$(cat <<'EOF'\nfeat: one\n\nIt's \"quoted\" && more.\nEOF\n)\" 2>&1 && git push";
    let commands = read_shell_line(line);
    assert_eq!(commands.len(), 3);
    assert_eq!(
        commands[1].here_document.as_deref(),
        Some("feat: one\n\nIt's \"quoted\" && more.\n")
    );
    assert_eq!(commands[1].words[..3], ["git", "commit", "-m"]);
    assert_eq!(commands[2].words, ["git", "push"]);

    let plain = read_shell_line("git commit -F - <<EOF\nfix: two\nEOF\ngit push");
    assert_eq!(plain[0].words, ["git", "commit", "-F", "-"]);
    assert_eq!(plain[0].here_document.as_deref(), Some("fix: two\n"));
    assert_eq!(plain[1].words, ["git", "push"]);

    let open = read_shell_line("cat > f <<X\nno end");
    assert_eq!(open[0].here_document.as_deref(), Some("no end"));
}

#[test]
fn read_shell_line_keeps_operators_after_commands() {
    use Operator::{And, Or, Pipe, Sequence};
    for (line, expected) in [
        (
            "a && b || c | d; e",
            vec![Some(And), Some(Or), Some(Pipe), Some(Sequence), None],
        ),
        ("(a; b) && c", vec![Some(Sequence), Some(And), None]),
        ("a &&\nb\n", vec![Some(And), Some(Sequence)]),
        ("a & b", vec![Some(Sequence), None]),
    ] {
        let operators: Vec<_> = read_shell_line(line)
            .into_iter()
            .map(|command| command.next_operator)
            .collect();
        assert_eq!(operators, expected, "{line}");
    }
}

#[test]
fn read_shell_line_gives_documents_to_their_commands() {
    let commands = read_shell_line("git commit -F - <<E && git push\none\nE\nmake");
    let documents: Vec<_> = commands
        .iter()
        .map(|command| command.here_document.as_deref())
        .collect();
    assert_eq!(documents, [Some("one\n"), None, None]);
    let shift = read_shell_line("git commit -m \"a << b; c\"\nmake $((1 << 2))\nls");
    assert_eq!(shift.len(), 3);
}

#[test]
fn option_values_returns_every_value() {
    let commands = read_shell_line("git commit -m one -m 'two three' --message=four");
    let values: Vec<&str> = commands[0].option_values(&["-m", "--message"]).collect();
    assert_eq!(values, ["one", "two three", "four"]);
}

#[test]
fn read_shell_line_accepts_any_text() {
    for odd in [
        "'",
        "\"",
        "`",
        "\\",
        "<<",
        "<<<",
        "<<'",
        "a <<",
        "a >",
        "&&",
        "|&",
        "\0",
        "$(",
        "((((",
        "\"<<X\n",
        "\u{feff}é'ü",
    ] {
        read_shell_line(odd);
    }
    let long = "a && ".repeat(100_000);
    assert!(read_shell_line(&long).len() <= COMMANDS_MAX);
    read_shell_line(&"'".repeat(100_001));
    read_shell_line(&"<<A\n".repeat(50_000));
    read_shell_line(&"(".repeat(100_001));
    read_shell_line(&"a <<'b \"".repeat(20_000));
}

#[test]
fn subshells_limit() {
    let nested = |levels: usize| {
        let line = format!("{}make a{}", "(".repeat(levels), ")".repeat(levels));
        words(&line)
    };
    assert_eq!(nested(limits::SUBSHELLS_MAX), [["make", "a"]]);
    assert_ne!(nested(limits::SUBSHELLS_MAX + 1), [["make", "a"]]);
}
