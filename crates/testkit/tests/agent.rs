//! Actions of the scripted agent.

#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use heirloom_testkit::{ScriptedAgent, TempProject};
use serde_json::Value;

fn run(actions: &[&str]) -> Output {
    ScriptedAgent::command(actions).output().expect("starts")
}

#[track_caller]
fn check(actions: &[&str], stdout: &str) {
    let output = run(actions);
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout);
}

#[test]
fn agent_prints_text_of_matching_conditions() {
    check(&[], "");
    check(&["--say", "a b", "--say", "-n"], "a b\n-n\n");
    check(
        &["-p", "fix it", "--if", "fix", "--say", "yes", "--say", "on"],
        "yes\non\n",
    );
    check(&["--if", "fix", "--say", "yes", "other words"], "");
    check(&["--unless", "[x]*", "--say", "yes", "-m", "an [x]*"], "");
    check(
        &["--output-format", "stream-json", "--verbose", "--say", "x"],
        "x\n",
    );
    check(&["--bytes", "a\\tb"], "a\tb");
}

#[test]
fn agent_reads_prompt_from_all_inputs() {
    let project = TempProject::plain().expect("folder");
    let file = project
        .write("prompt.txt", "from the file")
        .expect("written");
    let file = file.to_str().expect("a text path");
    check(
        &["--message-file", file, "--if", "the file", "--say", "file"],
        "file\n",
    );

    let output = ScriptedAgent::command(["--read-env", "--if", "the file", "--say", "env"])
        .env("HEIRLOOM_PROMPT_FILE", file)
        .output()
        .expect("starts");
    assert_eq!(output.stdout, b"env\n");

    let mut child = Command::new(ScriptedAgent::path())
        .args(["--read-stdin", "--record", "seen.txt"])
        .current_dir(project.path())
        .stdin(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(b"from standard input").expect("read");
    drop(stdin);
    assert!(child.wait().expect("ends").success());
    assert_eq!(
        project.read("seen.txt").expect("recorded"),
        "from standard input\n=== end of prompt\n"
    );
}

#[test]
fn agent_counts_runs() {
    let project = TempProject::plain().expect("folder");
    let said = || {
        let output = ScriptedAgent::command(["--count", "n", "--on", "2", "--say", "second"])
            .current_dir(project.path())
            .output();
        String::from_utf8(output.expect("starts").stdout).expect("text")
    };
    assert_eq!([said(), said(), said()], ["", "second\n", ""]);
}

#[test]
fn agent_exits_or_dies_on_request() {
    assert_eq!(
        run(&["--exit", "7", "--say", "never"]).status.code(),
        Some(7)
    );
    let output = run(&["--err", "broken", "--exit", "1"]);
    assert_eq!(output.stderr, b"broken\n");
    assert_eq!(run(&["--kill-self", "KILL"]).status.code(), None);
}

#[test]
fn agent_floods_output_and_breaks_utf8() {
    assert_eq!(run(&["--flood", "2"]).stdout.len(), 2_000_000);
    let line = run(&["--flood-line", "1"]).stdout;
    assert!(line.len() == 1_000_000 && !line.contains(&b'\n'));
    let broken = run(&["--invalid-utf8"]).stdout;
    assert!(std::str::from_utf8(&broken).is_err());
}

#[test]
fn agent_hangs_until_terminated() {
    let stop = |actions: &[&str], signal: &str| {
        let mut child = ScriptedAgent::command(actions)
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        // The first byte is written after the traps are set.
        let mut first = [0];
        let stdout = child.stdout.as_mut().expect("piped");
        std::io::Read::read_exact(stdout, &mut first).expect("a byte");
        std::thread::sleep(Duration::from_millis(100));
        let pid = child.id().to_string();
        let status = Command::new("kill").args([signal, &pid]).status();
        assert!(status.expect("kill").success());
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline {
            if child.try_wait().expect("a state").is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill().expect("killed");
        child.wait().expect("ends");
        false
    };
    assert!(stop(&["--say", "x", "--hang"], "-TERM"));
    assert!(!stop(&["--ignore-term", "--say", "x", "--hang"], "-TERM"));
}

#[test]
fn agent_child_keeps_output_open() {
    let mut child = ScriptedAgent::command(["--hold-stdout", "2"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut stdout = child.stdout.take().expect("piped");
    assert!(child.wait().expect("ends").success());
    let ended = Instant::now();
    std::io::Read::read_to_end(&mut stdout, &mut Vec::new()).expect("ends");
    assert!(ended.elapsed() >= Duration::from_millis(500));
}

#[test]
fn agent_streams_are_json_lines_with_text() {
    let text = "say \"hi\" \\ twice\n\tHEIRLOOM_MEMORY: KEY_FACT ünï\n";
    let lines = |action: &str| -> Vec<Value> {
        let output = run(&[action, text]);
        let stdout = String::from_utf8(output.stdout).expect("text");
        stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect(line))
            .collect()
    };
    // A text's last newline is lost in the shell.
    let text = text.trim_end();
    assert_eq!(lines("--claude")[1]["message"]["content"][0]["text"], text);
    assert_eq!(lines("--codex")[2]["item"]["text"], text);
    let deltas: String = lines("--gemini")
        .iter()
        .filter_map(|line| line["content"].as_str())
        .collect();
    assert_eq!(deltas, text);
    assert_eq!(
        lines("--claude-tool")[0]["message"]["content"][0]["content"],
        text
    );
    assert_eq!(lines("--codex-tool")[0]["item"]["aggregated_output"], text);
    assert_eq!(lines("--gemini-tool")[0]["output"], text);
}

#[test]
fn agent_is_found_by_link_name() {
    let project = TempProject::git().expect("repository");
    let link = ScriptedAgent::link_as(&project.path().join("bin"), "claude").expect("linked");
    let output = Command::new(link).args(["--say", "me"]).output();
    assert_eq!(output.expect("starts").stdout, b"me\n");
    let head = project.run_git(&["rev-parse", "--abbrev-ref", "HEAD"]);
    assert_eq!(head.expect("a branch").trim(), "main");
}
