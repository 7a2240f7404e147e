//! Forms of the command line: help, aliases, suggestions, texts without quotes.

use crate::project::{Project, texts};
use heirloom_testkit::sh;

#[test]
fn help_of_command_equals_its_help_option() {
    let project = Project::uninitialised();
    for command in ["recall", "task set", "init", "import"] {
        let help = project.ok(&sh(&format!("help {command}"))).stdout;
        let option = project.ok(&sh(&format!("{command} --help"))).stdout;
        assert_eq!(help, option, "{command}");
    }
    let overview = project.ok(&sh("help")).stdout;
    assert_eq!(overview, project.ok(&sh("--help")).stdout);
    assert_eq!(overview, project.ok(&sh("-h")).stdout);
    assert_eq!(
        project.ok(&sh("help search")).stdout,
        project.ok(&sh("help recall")).stdout
    );
}

#[test]
fn help_describes_groups_and_topics() {
    let project = Project::uninitialised();
    let group = project.ok(&sh("help look after")).stdout;
    assert!(
        group.starts_with("Look after:\n") && group.contains("  doctor "),
        "{group}"
    );
    assert!(!group.contains("  recall "), "{group}");
    assert_eq!(group, project.ok(&sh("help look-after")).stdout);
    for topic in [
        "aliases",
        "budget",
        "environment",
        "exit-codes",
        "ids",
        "json",
        "scopes",
    ] {
        let text = project.ok(&sh(&format!("help {topic}"))).stdout;
        assert!(text.lines().count() > 8, "{topic}: {text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{topic}: {text}"
        );
    }
    assert_eq!(
        project.ok(&sh("help env")).stdout,
        project.ok(&sh("help environment")).stdout
    );
}

#[test]
fn unknown_topics_and_commands_get_suggestions() {
    let project = Project::uninitialised();
    for (line, suggestion) in [
        ("help budgt", "did you mean `budget`?"),
        ("help recal", "did you mean `recall`"),
        ("help xyzzy", "`heirloom help` lists the commands"),
        ("lst", "did you mean `heirloom list`"),
        ("rember x", "did you mean `heirloom remember`"),
        ("store x", "did you mean `heirloom remember`?"),
        ("query x", "did you mean `heirloom recall`?"),
        ("xyzzy", "`heirloom help` shows all commands"),
    ] {
        let output = project.expect(&sh(line), 2);
        assert!(output.stderr.contains(suggestion), "{line}: {output:?}");
    }
    let error = project.expect(&sh("lst --json"), 2).error();
    assert_eq!(error["message"], "there is no command `lst`");
}

#[test]
fn aliases_do_what_their_commands_do() {
    let project = Project::new();
    project.ok(&sh("add the tests need a running Redis"));
    project.ok(&sh("note 'we deploy on fridays'"));
    assert_eq!(texts(&project.json(&sh("ls"))["records"]).len(), 2);
    let hits = project.json(&sh("search redis"));
    assert_eq!(hits["hits"][0]["text"], "the tests need a running Redis");
    let id = hits["hits"][0]["id"].as_str().unwrap();
    assert_eq!(project.json(&["get", id])["id"], id);
    assert_eq!(project.json(&["rm", id])["outcome"], "retired");
    assert_eq!(project.json(&["log", id])["records"][0]["id"], id);
    project.ok(&sh("check"));
}

#[test]
fn words_without_quotes_are_one_text() {
    let project = Project::new();
    project.ok(&sh(
        "remember we deploy on fridays --key deploy --category convention",
    ));
    let records = &project.json(&sh("list"))["records"];
    assert_eq!(records[0]["text"], "we deploy on fridays");
    assert_eq!(records[0]["key"], "deploy");
    let hits = project.json(&sh("recall how do we deploy -k 1"));
    assert_eq!(hits["hits"][0]["text"], "we deploy on fridays");
    let relevance = hits["hits"][0]["relevance"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&relevance));
    assert_eq!(hits["hits"].as_array().unwrap().len(), 1);
    project.ok(&sh("remember -- --no-verify is forbidden here"));
    let found = project.ok(&sh("recall --json -- --no-verify forbidden"));
    let found = found.json();
    assert_eq!(found["hits"][0]["text"], "--no-verify is forbidden here");
    project.input(&sh("remember -"), b"from standard input\n");
    let found = project.json(&sh("recall standard input"));
    assert_eq!(found["hits"][0]["text"], "from standard input");
    project.expect(&sh("remember"), 2);
}

#[test]
fn names_of_other_surfaces_are_accepted() {
    let project = Project::new();
    project.ok(&sh(
        "remember one --task-id 42 --agent-id coder --session-id s1 --by coder",
    ));
    let lines = b"{\"value\": \"two\", \"task_id\": \"42\", \"agent_id\": \"coder\", \"session_id\": \"s1\", \"by\": \"coder\"}\n";
    assert_eq!(project.input(&sh("remember --stdin"), lines).code, 0);
    let records = project.json(&sh(
        "list --kind knowledge --task-id 42 --agent-id coder --by coder",
    ));
    assert_eq!(texts(&records["records"]), ["two", "one"]);
    for record in records["records"].as_array().unwrap() {
        assert_eq!(
            (&record["session"], &record["source"]),
            (&"s1".into(), &"coder".into())
        );
    }
    for limit in ["-k 1", "-n 1", "--limit 1", "--k 1"] {
        let hits = project.json(&sh(&format!("recall 'task:42' {limit}")));
        assert_eq!(hits["hits"].as_array().unwrap().len(), 1, "{limit}");
        let records = project.json(&sh(&format!("list {limit}")));
        assert_eq!(records["records"].as_array().unwrap().len(), 1, "{limit}");
    }
}

#[test]
fn init_installs_only_in_named_agents_without_a_terminal() {
    let project = Project::uninitialised();
    let home = project.home.path().to_owned();
    std::fs::create_dir(home.join(".claude")).unwrap();
    let settings = home.join(".claude/settings.json");
    let offered = project.json(&sh("init --yes"));
    let agents = offered["agents"].as_array().unwrap();
    let claude = agents
        .iter()
        .find(|one| one["agent"] == "claude-code")
        .unwrap();
    assert_eq!(claude["outcome"], "offered");
    assert!(!settings.exists());
    let text = project.ok(&sh("init"));
    assert!(
        text.stderr.contains("  heirloom install claude-code\n"),
        "{text:?}"
    );
    assert!(!settings.exists());
    assert_eq!(
        project.json(&sh("init --no-install"))["agents"],
        serde_json::json!([])
    );
    let installed = project.json(&sh("init --install claude-code,codex"));
    let outcomes = installed["agents"].as_array().unwrap().iter();
    let outcomes: Vec<_> = outcomes
        .map(|one| {
            (
                one["agent"].as_str().unwrap(),
                one["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        outcomes,
        [("claude-code", "installed"), ("codex", "installed")]
    );
    assert!(
        std::fs::read_to_string(&settings)
            .unwrap()
            .contains("heirloom hook")
    );
    let again = project.json(&sh("init --install claude-code"));
    assert_eq!(again["agents"][0]["outcome"], "unchanged");
    project.expect(&sh("init --install unknown"), 2);
    project.expect(&sh("init --install codex --no-install"), 2);
}
