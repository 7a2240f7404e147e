//! Pairs of a failed and a successful command, over tools and languages: which resolution is told.

#[path = "failures/causes.rs"]
mod causes;
#[path = "support/fail_edit_pass.rs"]
mod fail_edit_pass;

use fail_edit_pass::{Edit, KEPT, Pair, PairVerdict, Session, check_pairs, error_of, pairs, play};
use heirloom_agents::failures::Failure;
use heirloom_agents::transcripts::{EventBody, ToolAction, ToolOutcome, TranscriptEvent};

#[test]
fn resolutions_name_the_change_and_claim_nothing_else() {
    let (mut wrong, mut missing, mut resolved) = (Vec::new(), Vec::new(), 0);
    for pair in check_pairs() {
        resolved += usize::from(pair.is_lesson);
        let line = format!("{}:\n    {}", pair.name, pair.texts.join("\n    "));
        println!("{line}");
        match pair.verdict {
            PairVerdict::Right => {}
            PairVerdict::FalseClaim => wrong.push(line),
            PairVerdict::Unnamed => missing.push(line),
        }
    }
    assert!(resolved >= 40, "{resolved} pairs");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let share = 100 * (resolved - missing.len()) / resolved;
    println!("{share} % of {resolved} resolutions name the change");
    assert!(share >= 95, "{share} %: {missing:#?}");
}

#[test]
fn records_are_short_and_have_the_key_of_hooks() {
    for pair in pairs().iter().filter(|pair| !pair.dropped) {
        for candidate in play(pair) {
            let (key, text, resolution) = error_of(&candidate);
            let chars = text.chars().count() + 1 + resolution.chars().count();
            assert!(chars <= 400, "{}: {chars} {text} {resolution}", pair.name);
            assert!(
                !resolution.is_empty() && text.starts_with('`'),
                "{}: {text} {resolution}",
                pair.name
            );
            assert_eq!(
                key,
                Failure::new(&pair.command, &pair.output).key(),
                "{}",
                pair.name
            );
            assert!((0.0..=0.95).contains(&candidate.worth), "{}", pair.name);
            assert!(candidate.evidence.len() >= 2, "{}", pair.name);
        }
    }
}

#[test]
fn pair_is_kept_if_the_command_is_decorated() {
    for pair in pairs()
        .iter()
        .filter(|pair| !pair.dropped && !pair.failed && pair.passes.is_empty())
    {
        let decorated = Pair {
            passes: format!(
                "set -o pipefail; cd /home/u/p && timeout 120 {} 2>&1 | tail -40",
                pair.command
            ),
            ..pair.clone()
        };
        let (one, other) = (play(pair), play(&decorated));
        assert_eq!(one.len(), other.len(), "{}: {other:?}", pair.name);
    }
}

#[test]
fn failures_of_one_command_are_chained() {
    let test = "mix test test/live_test.exs";
    let failing = |message: &str| {
        format!(
            "  1) test shows (Shop.LiveTest)\n     test/live_test.exs:9\n     {message}\n\n1 test, 1 failure"
        )
    };
    let mut session = Session::default();
    session.run(
        test,
        ToolOutcome::Failed,
        &failing("** (RuntimeError) no :secret_key configuration found in Shop.Endpoint."),
    );
    session.say("The test environment has no endpoint configuration.");
    session.edit(&Edit {
        path: "config/test.exs".to_owned(),
        added: "config :shop, Shop.Endpoint, secret_key: \"x\"".to_owned(),
        ..Edit::default()
    });
    session.run(
        test,
        ToolOutcome::Failed,
        &failing("** (RuntimeError) LiveViewTest requires lazy_dom as a test dependency."),
    );
    session.edit(&Edit {
        path: "mix.exs".to_owned(),
        added: "{:lazy_dom, \"~> 1.0\", only: :test},".to_owned(),
        ..Edit::default()
    });
    session.run("mix deps.get", ToolOutcome::Succeeded, "");
    session.run(
        test,
        ToolOutcome::Failed,
        &failing("** (DBConnection.OwnershipError) cannot find ownership process"),
    );
    session.say("The live view runs in a separate process that can't see the sandbox.");
    session.edit(&Edit {
        path: "test/live_test.exs".to_owned(),
        added: "Sandbox.mode(Repo, {:shared, self()})".to_owned(),
        ..Edit::default()
    });
    session.run(test, ToolOutcome::Succeeded, "1 test, 0 failures");
    let found = session.errors();
    assert_eq!(found.len(), 3, "{found:#?}");
    for (candidate, (cause, change, other)) in found.iter().zip([
        ("secret_key", "config/test.exs: added", "lazy_dom"),
        ("lazy_dom", "mix deps.get", "config/test.exs"),
        ("ownership process", "{:shared, self()}", "mix.exs"),
    ]) {
        let (_, text, resolution) = error_of(candidate);
        assert!(
            text.contains(cause) && resolution.contains(change) && !resolution.contains(other),
            "{text} {resolution}"
        );
    }
}

#[test]
fn error_that_comes_back_is_resolved_by_the_later_change() {
    let run = "cargo build";
    let mut session = Session::default();
    let edit = |added: &str| Edit {
        path: "Cargo.toml".to_owned(),
        added: added.to_owned(),
        ..Edit::default()
    };
    session.run(
        run,
        ToolOutcome::Failed,
        "error: linking with `cc` failed: cannot find -lfoo",
    );
    session.say("The linker flag `-lbar` is missing.");
    session.edit(&edit("links = \"bar\""));
    session.run(
        run,
        ToolOutcome::Failed,
        "error: linking with `cc` failed: cannot find -lfoo",
    );
    session.edit(&edit("links = \"foo\""));
    session.run(run, ToolOutcome::Succeeded, "");
    let found = session.errors();
    assert_eq!(found.len(), 1);
    let (_, _, resolution) = error_of(&found[0]);
    assert!(
        resolution.contains("links = \"foo\"") && !resolution.contains("bar"),
        "{resolution}"
    );
}

#[test]
fn compile_error_hides_a_failing_test() {
    let run = "cargo test";
    let failing = "test cart::adds ... FAILED\n---- cart::adds stdout ----\nthread 'cart::adds' panicked at src/cart.rs:9:5:\nassertion `left == right` failed\n  left: 3\n right: 4\n";
    let mut session = Session::default();
    let edit = |removed: &str, added: &str| Edit {
        path: "src/cart.rs".to_owned(),
        removed: removed.to_owned(),
        added: added.to_owned(),
    };
    session.run(run, ToolOutcome::Failed, failing);
    session.edit(&edit("sum - 1", "summ"));
    session.run(
        run,
        ToolOutcome::Failed,
        "error[E0425]: cannot find value `summ` in this scope\n --> src/cart.rs:9:5",
    );
    session.edit(&edit("summ", "sum"));
    session.run(
        run,
        ToolOutcome::Succeeded,
        "test result: ok. 1 passed; 0 failed",
    );
    let found = session.errors();
    let adds = found
        .iter()
        .find(|one| error_of(one).1.contains("cart::adds"))
        .unwrap();
    assert!(error_of(adds).2.contains("sum"), "{adds:?}");
    assert!(
        found
            .iter()
            .all(|one| !error_of(one).1.contains("summ") || one.worth < KEPT),
        "{found:?}"
    );
}

#[test]
fn other_test_file_resolves_nothing() {
    let failing = "FAILED tests/test_a.py::test_x - KeyError: 'rate'\n1 failed";
    let mut session = Session::default();
    session.run("pytest tests/test_a.py", ToolOutcome::Failed, failing);
    session.edit(&Edit {
        path: "shop/rates.py".to_owned(),
        added: "RATES['rate'] = 1".to_owned(),
        ..Edit::default()
    });
    session.run("pytest tests/test_b.py", ToolOutcome::Succeeded, "3 passed");
    assert!(session.errors().is_empty());
    session.run(
        "pytest tests/test_a.py -k test_x",
        ToolOutcome::Succeeded,
        "1 passed",
    );
    assert_eq!(session.errors().len(), 1);
}

#[test]
fn failures_of_other_agents_are_apart() {
    let mut session = Session::default();
    session.run(
        "make all",
        ToolOutcome::Failed,
        "error: unknown key \"a\" in b.toml",
    );
    session.edit(&Edit {
        path: "b.toml".to_owned(),
        removed: "a = 1".to_owned(),
        ..Edit::default()
    });
    let call = EventBody::Call {
        call: "sub".to_owned(),
        tool: "Bash".to_owned(),
        action: ToolAction::Command("make all".to_owned()),
    };
    let result = EventBody::Result {
        call: "sub".to_owned(),
        outcome: ToolOutcome::Succeeded,
        text: String::new(),
    };
    for body in [call, result] {
        session.extractor.push(&TranscriptEvent {
            id: "s".to_owned(),
            at: None,
            agent: Some("sub".to_owned()),
            author: heirloom_agents::transcripts::TurnAuthor::Person,
            body,
        });
    }
    assert!(session.errors().is_empty());
}

/// Plays a failure, an edit, and a later run; returns the texts with their resolutions.
fn told(failed: (&str, &str), passed: (&str, &str)) -> Vec<String> {
    let mut session = Session::default();
    session.run(failed.0, ToolOutcome::Failed, failed.1);
    session.edit(&Edit {
        path: "src/prices.py".to_owned(),
        removed: "total = round(net)".to_owned(),
        added: "total = round(net, 2)".to_owned(),
    });
    session.run(passed.0, ToolOutcome::Succeeded, passed.1);
    let errors = session.errors();
    errors.iter().map(|one| one.full_text()).collect()
}

#[test]
fn masked_success_resolves_nothing() {
    let failed = (
        "uv run ruff check src",
        "Exit code 1\nsrc/prices.py:3:1: E701 Multiple statements on one line\nFound 9 errors.",
    );
    for passed in [
        (
            "uv run ruff check src | head -40",
            "src/prices.py:3:1: E701 Multiple statements on one line\nFound 4 errors.",
        ),
        (
            "git stash && uv run ruff check src | grep -c E7 || echo none",
            "Saved working directory\n7",
        ),
        ("uv run ruff check src || true", ""),
        ("uv run ruff check src; echo done", "done"),
        (
            "cd nowhere; ls",
            "bash: cd: nowhere: No such file or directory\nsrc",
        ),
    ] {
        let texts = told(failed, passed);
        assert!(texts.is_empty(), "{}: {texts:?}", passed.0);
    }
    for passed in [
        ("uv run ruff check src", ""),
        ("uv run ruff check src | tail -1", "All checks passed!"),
        ("uv run ruff check src; echo \"status $?\"", "status 0"),
    ] {
        assert_eq!(told(failed, passed).len(), 1, "{}", passed.0);
    }
}

#[test]
fn blamed_part_is_the_one_that_the_error_names() {
    for (line, output, command) in [
        (
            "python tools/gen.py && pytest tests",
            "Exit code 1\nTraceback (most recent call last):\n  File \"tools/gen.py\", line 3\nKeyError: 'rates' in src/prices.py",
            "python tools/gen.py",
        ),
        (
            "python tools/gen.py && pytest tests",
            "Exit code 1\nFAILED tests/test_prices.py::test_total - assert 3 == 4\n1 failed, 2 passed in 0.10s",
            "pytest tests",
        ),
    ] {
        let texts = told((line, output), (line, ""));
        let expected = format!("`{command}` failed");
        assert!(
            texts.iter().any(|text| text.starts_with(&expected)),
            "{line}: {texts:?}"
        );
    }
    let texts = told(
        (
            "cd web && pytest tests",
            "Exit code 1\nbash: line 1: cd: web: No such file or directory",
        ),
        ("pytest tests", ""),
    );
    assert!(texts.is_empty(), "{texts:?}");
}
