//! Failures in the course of a session: which one a run shows, when it is resolved, and by what.

use crate::fail_edit_pass::{Edit, KEPT, Session, error_of};
use heirloom_agents::transcripts::EventBody;
use heirloom_agents::transcripts::ToolOutcome::{Failed, Succeeded};
use heirloom_lessons::Candidate;

/// Step of a session.
enum Step<'s> {
    /// The agent says something.
    Says(&'s str),
    /// A command passes.
    Passes(&'s str),
    /// A command fails with an output.
    Fails(&'s str, &'s str),
    /// A command exits with 0 and prints an output.
    Shows(&'s str, &'s str),
    /// Lines of a file are replaced.
    Edits(&'s str, &'s str, &'s str),
    /// A number of calls about something else.
    Works(usize),
    /// A person writes.
    Asks(&'s str),
}

use Step::{Asks, Edits, Fails, Passes, Says, Shows, Works};

fn play(steps: &[Step<'_>]) -> Vec<Candidate> {
    let mut session = Session::default();
    for step in steps {
        match step {
            Says(text) => session.say(text),
            Asks(prompt) => session.push(EventBody::Prompt((*prompt).to_owned())),
            Passes(command) => session.run(command, Succeeded, ""),
            Fails(command, output) => session.run(command, Failed, output),
            Shows(command, output) => session.run(command, Succeeded, output),
            Edits(path, removed, added) => session.edit(&Edit {
                path: (*path).to_owned(),
                removed: (*removed).to_owned(),
                added: (*added).to_owned(),
            }),
            Works(calls) => {
                for call in 0..*calls {
                    session.run(&format!("cat docs/page{call}.md"), Succeeded, "text");
                }
            }
        }
    }
    session.errors()
}

/// Returns the kept fixes of failures whose text contains `error`.
fn fixes(found: &[Candidate], error: &str) -> Vec<String> {
    let kept = found.iter().filter(|one| one.worth >= KEPT);
    let parts = kept
        .map(error_of)
        .filter(|(_, text, _)| text.contains(error));
    parts
        .map(|(_, _, resolution)| resolution.to_owned())
        .collect()
}

const UNITTEST: &str = "PYTHONPATH=src python3 -m unittest discover -s tests";

/// Returns the output of a run with failing tests: name and message of each.
fn unittest(tests: &[(&str, &str)]) -> String {
    let one = |(name, message): &(&str, &str)| {
        let mark = if message.starts_with("Assertion") {
            "FAIL"
        } else {
            "ERROR"
        };
        format!(
            "{mark}: {name} (test_shop.ShopTest.{name})\n{}\nTraceback (most recent call last):\n  File \"/p/tests/test_shop.py\", line 9, in {name}\n    check()\n{message}\n\n",
            "-".repeat(70)
        )
    };
    let all: String = tests.iter().map(one).collect();
    format!(
        "{all}Ran 8 tests in 0.002s\n\nFAILED (errors={})",
        tests.len()
    )
}

#[test]
fn two_failing_tests_of_one_command_have_their_own_fixes() {
    let connects = ("test_connects", "KeyError: 'SHOP_STORE_URL'");
    let rounds = ("test_fee_is_rounded", "AssertionError: 299 != 300");
    let with_url = format!("SHOP_STORE_URL=sqlite:///:memory: {UNITTEST}");
    let file = "/p/src/shop/fees.py";
    let (old, wrong, right) = (
        "    return int(cents * rate / 1000)",
        "    return int(cents * rate / 1000 + 0.49)",
        "    return (cents * rate + 500) // 1000",
    );
    let one = unittest(&[rounds]);
    let found = play(&[
        Fails(UNITTEST, &unittest(&[connects, rounds])),
        Fails(&with_url, &one),
        Edits(file, old, wrong),
        Fails(&with_url, &one),
        Says(
            "Adding 0.49 does not work because the value is cut before it is stored, I'll revert that.",
        ),
        Passes("git checkout -- src/shop/fees.py"),
        Edits(file, old, right),
        Passes(&with_url),
    ]);
    let url = fixes(&found, "SHOP_STORE_URL");
    assert_eq!(url.len(), 1, "{found:#?}");
    assert!(
        url[0].contains(&with_url) && !url[0].contains("fees"),
        "{url:?}"
    );
    let rounding = fixes(&found, "299 != 300");
    assert_eq!(rounding.len(), 1, "{found:#?}");
    assert!(rounding[0].contains("+ 500) // 1000"), "{rounding:?}");
    for part in ["0.49", "SHOP_STORE_URL", "git checkout"] {
        assert!(!rounding[0].contains(part), "{rounding:?}");
    }
}

#[test]
fn undone_edit_is_no_fix() {
    let (test, failing) = (
        "pytest -q",
        "FAILED tests/test_a.py::test_total - assert 3 == 4\n1 failed",
    );
    let file = "/p/src/total.py";
    for undo in [
        vec![Passes("git checkout -- src/total.py")],
        vec![Passes("git restore src/")],
        vec![Passes("git stash"), Passes("git stash drop")],
        vec![Passes("git reset --hard")],
        vec![
            Passes("git commit -am x"),
            Passes("git revert --no-edit HEAD"),
        ],
        vec![Edits(file, "total = first + 1", "total = first")],
    ] {
        let mut steps = vec![
            Fails(test, failing),
            Edits(file, "total = first", "total = first + 1"),
        ];
        steps.extend(undo);
        steps.push(Edits(file, "return first", "return first + last"));
        steps.push(Passes(test));
        let found = fixes(&play(&steps), "test_total");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("first + last")
                && !found[0].contains("first + 1")
                && !found[0].contains("git"),
            "{found:?}"
        );
    }
}

#[test]
fn revert_is_no_fix() {
    let (test, failing) = (
        "pytest -q",
        "FAILED tests/test_a.py::test_total - assert 3 == 4\n1 failed",
    );
    let file = "/p/src/total.py";
    for undo in [
        Passes("git checkout -- src/total.py"),
        Passes("git checkout src/total.py"),
        Passes("git restore ."),
        Passes("git stash"),
        Edits(file, "total = first + 1", "total = first"),
    ] {
        let found = play(&[
            Edits(file, "total = first", "total = first + 1"),
            Fails(test, failing),
            undo,
            Passes(test),
        ]);
        assert_eq!(fixes(&found, ""), [""; 0]);
    }
}

#[test]
fn run_that_proves_nothing_gives_no_fix() {
    let (test, failing) = (
        "pytest tests/test_a.py",
        "FAILED tests/test_a.py::test_total - KeyError: 'rate'\n1 failed",
    );
    for passes in [
        "git stash && pytest tests/test_a.py; git stash pop",
        "git checkout main && pytest tests/test_a.py",
        "cd ../other && pytest tests/test_b.py",
        "pytest tests/test_a.py -k other",
        "pytest tests/test_a.py --deselect tests/test_a.py::test_total",
        "pytest --ignore=tests/test_a.py",
        "pytest tests/test_b.py",
        "pytest tests/test_a.py --collect-only",
    ] {
        let found = play(&[
            Fails(test, failing),
            Edits("/p/src/rates.py", "", "RATES['rate'] = 1"),
            Passes(passes),
        ]);
        assert_eq!(fixes(&found, ""), [""; 0], "{passes}");
    }
    // In another folder.
    let found = play(&[
        Fails(
            "cd one && make check",
            "error: unknown key `rate` in rates.toml",
        ),
        Edits("/p/one/rates.toml", "rate = 1", "rates = 1"),
        Passes("cd two && make check"),
    ]);
    assert_eq!(fixes(&found, ""), [""; 0]);
}

#[test]
fn check_that_is_switched_off_is_not_fixed() {
    for (command, error, path, removed, added) in [
        (
            "pytest -q",
            "FAILED tests/test_a.py::test_total - assert 3 == 4",
            "/p/tests/test_a.py",
            "def test_total():",
            "@pytest.mark.skip(reason=\"later\")\ndef test_total():",
        ),
        (
            "pytest -q",
            "FAILED tests/test_a.py::test_total - assert 3 == 4",
            "/p/tests/test_a.py",
            "def test_total():\n    assert total() == 4",
            "",
        ),
        (
            "ruff check .",
            "src/app.py:3:1: F401 `os` imported but unused",
            "/p/src/app.py",
            "import os",
            "import os  # noqa: F401",
        ),
        (
            "ruff check .",
            "src/app.py:3:1: TRY300 Consider moving this statement to an `else` block",
            "/p/pyproject.toml",
            "",
            "\"TRY300\",  # too strict",
        ),
        (
            "npx tsc",
            "src/app.ts(3,1): error TS2322: Type 'string' is not assignable to type 'number'.",
            "/p/src/app.ts",
            "const size: number = name",
            "// @ts-ignore\nconst size: number = name",
        ),
    ] {
        let found = play(&[
            Fails(command, error),
            Edits(path, removed, added),
            Passes(command),
        ]);
        assert_eq!(fixes(&found, ""), [""; 0], "{added}");
    }
}

#[test]
fn success_after_other_work_gives_no_fix() {
    let command = "python3 tools/publish.py";
    let error = "Traceback (most recent call last):\nTimeoutError: no answer from registry";
    let edit = || {
        Edits(
            "/p/src/catalog.py",
            "",
            "return {name: one for name in names}",
        )
    };
    for (calls, count) in [(3, 1), (40, 0)] {
        let found = play(&[Fails(command, error), Works(calls), edit(), Passes(command)]);
        assert_eq!(fixes(&found, "").len(), count, "{calls} {found:?}");
    }
    // The edit touches what the error names.
    let found = play(&[
        Fails(command, error),
        Works(40),
        Edits(
            "/p/tools/registry.py",
            "",
            "registry.set_answer_timeout(30)",
        ),
        Passes(command),
    ]);
    assert_eq!(fixes(&found, "").len(), 1, "{found:?}");
}

#[test]
fn fix_that_cannot_be_decided_is_not_stated() {
    let command = "python3 tools/publish.py";
    let error = "Traceback (most recent call last):\nTimeoutError: no answer from registry";
    let found = play(&[
        Fails(command, error),
        Edits("/p/src/one.py", "", "first = 1"),
        Edits("/p/src/two.py", "", "second = 2"),
        Edits("/p/src/three.py", "", "third = 3"),
        Passes(command),
    ]);
    assert_eq!(fixes(&found, ""), [""; 0]);
    // Of several changes, the one in the file that the error names.
    let found = play(&[
        Fails(
            "pytest -q",
            "FAILED tests/test_a.py::test_total - KeyError: 'rate'\nsrc/rates.py:4: KeyError",
        ),
        Edits("/p/src/one.py", "", "first = 1"),
        Edits("/p/src/rates.py", "", "RATES = {'rate': 1}"),
        Edits("/p/src/three.py", "", "third = 3"),
        Passes("pytest -q"),
    ]);
    let found = fixes(&found, "rate");
    assert!(
        found.len() == 1 && found[0].contains("RATES") && !found[0].contains("first"),
        "{found:?}"
    );
}

#[test]
fn other_compared_value_is_the_same_failure() {
    let failing =
        |value: u32| format!("FAILED tests/test_a.py::test_total - assert {value} == 40\n1 failed");
    let file = "/p/src/total.py";
    let found = play(&[
        Fails("pytest -q", &failing(3)),
        Edits(file, "", "sum = sum + first"),
        Fails("pytest -q", &failing(31)),
        Edits(file, "", "sum = sum + last"),
        Passes("pytest -q"),
    ]);
    let found = fixes(&found, "test_total");
    assert!(!found.is_empty(), "{found:?}");
    assert!(
        found
            .iter()
            .all(|fix| fix.contains("last") && !fix.contains("first")),
        "{found:?}"
    );
}

#[test]
fn form_of_the_command_that_works_is_the_fix() {
    for (failed, error, passed) in [
        (
            "uv run ty src/",
            "error: unrecognized subcommand 'src/'\n\nUsage: ty <COMMAND>",
            "uv run ty check src/",
        ),
        (
            "tool sync",
            "error: the following arguments are required: --yes",
            "tool sync --yes",
        ),
    ] {
        let found = play(&[Fails(failed, error), Passes(passed)]);
        let found = fixes(&found, "");
        assert!(
            found.len() == 1 && found[0].contains(passed),
            "{failed} {found:?}"
        );
    }
}

#[test]
fn form_that_fails_to_start_too_is_no_fix() {
    let missing = "bash: line 1: quickpack: command not found";
    let found = play(&[
        Fails("quickpack install", missing),
        Fails(
            "python3 -m quickpack install",
            "/usr/bin/python3: No module named quickpack",
        ),
    ]);
    assert_eq!(fixes(&found, ""), [""; 0]);
    let found = play(&[
        Fails("quickpack check .", missing),
        Fails("uv run quickpack check .", "error: 3 files are not packed"),
    ]);
    let found = fixes(&found, "");
    assert!(
        found.len() == 1 && found[0].contains("uv run quickpack"),
        "{found:?}"
    );
}

#[test]
fn form_that_a_person_typed_is_the_fix() {
    let (failed, error) = ("lintflow --all .ci", "error: no workflows collected");
    for prompt in [
        "no, uv run lintflow .ci",
        "try `uv run lintflow .ci`, please",
        "uv run lintflow .ci",
    ] {
        let found = play(&[
            Fails(failed, error),
            Asks(prompt),
            Passes("uv run lintflow .ci 2>&1"),
        ]);
        let found = fixes(&found, "");
        assert!(
            found.len() == 1 && found[0].contains("uv run lintflow .ci"),
            "{prompt} {found:?}"
        );
    }
    let found = play(&[
        Fails(failed, error),
        Asks("what is lintflow about?"),
        Passes("uv run lintflow .ci"),
    ]);
    assert_eq!(fixes(&found, ""), [""; 0]);
}

#[test]
fn a_pattern_that_the_shell_cannot_match_is_fixed_by_quotes() {
    let output = "failed in sandbox MacosSeatbelt with execution error: sandbox denied exec error, exit code: 1, stdout: , stderr: /opt/homebrew/Library/Homebrew/brew.sh: line 60: cannot create temp file for here document: Operation not permitted\nzsh:1: no matches found: src/app/(private)/orders/page.tsx\n";
    let found = play(&[
        Fails("sed -n '1,200p' src/app/(private)/orders/page.tsx", output),
        Passes("sed -n '1,200p' 'src/app/(private)/orders/page.tsx'"),
    ]);
    let quoted = "quote the argument: `sed -n '1,200p' 'src/app/(private)/orders/page.tsx'` works.";
    assert_eq!(fixes(&found, "no matches found"), [quoted], "{found:#?}");
}

/// A report of which only the end is shown names no test that passed.
#[test]
fn test_that_the_shown_end_of_a_log_does_not_name_is_not_resolved() {
    const SUM: &str = "FAILED tests/test_cart.py::test_sum - assert 3 == 4";
    const NAME: &str = "FAILED tests/test_user.py::test_name - KeyError: 'full_name'";
    let both = format!("{SUM}\n{NAME}\n2 failed, 7 passed in 0.4s");
    for command in [
        "pytest -q > log 2>&1; tail -2 log",
        "pytest -q &> log; tail -2 log",
        "pytest -q 2>&1 | tail -2",
    ] {
        // The whole report, as its count shows. What a log shows may be of an earlier run.
        let whole = usize::from(!command.contains("log"));
        for (count, fixed) in [(2, 0), (1, whole)] {
            let shown = format!("{NAME}\n{count} failed, 7 passed in 0.4s");
            let found = play(&[
                Fails("pytest -q", &both),
                Says("The sum misses an operand in `total`."),
                Edits("src/cart.py", "total = a", "total = a + b"),
                Shows(command, &shown),
            ]);
            let resolved = fixes(&found, "test_sum");
            assert_eq!(resolved.len(), fixed, "{command}, {count}: {resolved:?}");
        }
    }
    // What was written to a file and not shown proves nothing.
    for command in [
        "pytest -q > log 2>&1; tail -2 log",
        "pytest -q &> log; ls log",
    ] {
        let found = play(&[
            Fails("pytest -q", &both),
            Edits("src/cart.py", "a", "a + b"),
            Passes(command),
        ]);
        assert_eq!(fixes(&found, "test_"), Vec::<String>::new(), "{command}");
    }
}
