//! Failures of one command with several causes: which one a run resolves, by what, and what is not recorded.

use super::HookedProject;
use super::resolutions::COMMAND;
use heirloom_model::kinds::ErrorRecord;

const UNITTEST: &str = "PYTHONPATH=src python3 -m unittest discover -s tests";

/// Returns the output of a run with failing tests: name and message of each.
fn unittest(tests: &[(&str, &str)]) -> String {
    let one = |(name, message): &(&str, &str)| {
        format!("ERROR: {name} (test_shop.ShopTest.{name})\n{message}\n\n")
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
    let one = unittest(&[rounds]);
    let project = HookedProject::new();
    project.command("s", UNITTEST, Some(&unittest(&[connects, rounds])));
    project.command("s", &with_url, Some(&one));
    project.edit("s", "src/shop/fees.py");
    project.command("s", &with_url, Some(&one));
    project.command("s", "git checkout -- src/shop/fees.py", None);
    project.edit("s", "src/shop/fees.py");
    project.command("s", &with_url, None);
    assert_eq!(project.open(), [""; 0]);
    let errors = project.errors();
    assert_eq!(errors.len(), 2, "{errors:#?}");
    let fix = |words: &str| {
        let error = errors.iter().find(|error| error.text.contains(words));
        error.unwrap().attr_str("resolution").map(str::to_owned)
    };
    assert_eq!(
        fix("KeyError").as_deref(),
        Some("set `SHOP_STORE_URL=sqlite:///:memory:`, then it passed")
    );
    // Hooks do not know the lines of the edit; the lessons of the transcript name them.
    assert_eq!(fix("299 != 300"), None);
    for told in [project.start("startup"), project.before("later", UNITTEST)] {
        assert!(
            !told.contains("git checkout") && !told.contains("edited"),
            "{told}"
        );
    }
}

#[test]
fn failure_that_comes_back_keeps_its_fix() {
    let project = HookedProject::new();
    let error = "connection refused";
    project.command("one", COMMAND, Some(error));
    project.command("one", "docker compose up -d db", None);
    project.command("one", COMMAND, None);
    project.command("two", COMMAND, Some(error));
    project.command("two", COMMAND, Some(error));
    let back = project.error();
    assert_eq!(back.state(), Some(ErrorRecord::OPEN));
    assert_eq!(
        back.attr_str(ErrorRecord::HELPED),
        Some("ran `docker compose up -d db`, then it passed")
    );
    let start = project.start("startup");
    assert!(start.contains("→ ran `docker compose up -d db`"), "{start}");
    // It passes again, and nothing else is known to have helped.
    project.command("three", COMMAND, None);
    let closed = project.error();
    assert_eq!(
        closed.attr_str("resolution"),
        Some("ran `docker compose up -d db`, then it passed")
    );
}

#[test]
fn other_failure_of_the_same_command_has_another_fix() {
    let project = HookedProject::new();
    project.command("one", COMMAND, Some("connection refused"));
    project.command("one", "docker compose up -d db", None);
    project.command("one", COMMAND, None);
    let told = project.command("two", COMMAND, Some("KeyError: 'price'"));
    assert!(!told.contains("docker"), "{told}");
}

#[test]
fn run_without_the_edits_closes_nothing() {
    for steps in [
        vec!["git stash && python3 tool.py; git stash pop"],
        vec!["git stash", COMMAND, "git stash pop"],
        vec!["git checkout main", COMMAND],
    ] {
        let project = HookedProject::new();
        project.command("s", COMMAND, Some("KeyError: 'price'"));
        for step in &steps {
            project.command("s", step, None);
        }
        assert_eq!(project.open().len(), 1, "{steps:?}");
    }
}

#[test]
fn failure_on_purpose_and_of_a_guessed_path_is_not_recorded() {
    for (command, error) in [
        (
            "python3 -c \"raise RuntimeError('report')\"",
            "RuntimeError: report",
        ),
        ("make check; exit 1", "stopped"),
        (
            "python3 tools/send.py",
            "python3: can't open file '/p/tools/send.py': [Errno 2] No such file or directory",
        ),
        ("git stash && make check", "error: unknown target"),
    ] {
        let project = HookedProject::new();
        project.command("s", command, Some(error));
        assert_eq!(project.errors().len(), 0, "{command}");
    }
}
