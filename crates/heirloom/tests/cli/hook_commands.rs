//! Command lines that `install` writes, run by the shells of agent programs. Without a working `heirloom` they exit 0
//! and print nothing.
#![expect(
    clippy::disallowed_methods,
    reason = "substitutes for `heirloom`, and settings as an older version wrote them"
)]

use crate::hooks::event;
use crate::project::{Project, string};
use heirloom_agents::AgentProgram;
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const AGENTS: [&str; 3] = ["claude-code", "codex", "gemini"];

/// Installs the hooks in a project's settings of an agent program; returns each event with its command line.
fn install_hooks(project: &Project, agent: &str) -> Vec<(String, String)> {
    let report = project.json(&["install", agent, "--scope", "project", "--yes"]);
    let text = std::fs::read_to_string(string(&report["file"])).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let mut commands = Vec::new();
    for (event, groups) in value["hooks"].as_object().unwrap() {
        for group in groups.as_array().unwrap() {
            for hook in group["hooks"].as_array().unwrap() {
                commands.push((event.clone(), string(&hook["command"])));
            }
        }
    }
    assert!(commands.len() >= 6, "{commands:?}");
    commands
}

/// Returns the shells of this machine that an agent program may use.
fn shells() -> Vec<&'static str> {
    let known = [
        "/bin/sh",
        "/bin/bash",
        "/bin/dash",
        "/usr/bin/zsh",
        "/bin/zsh",
        "/usr/bin/fish",
    ];
    let found: Vec<_> = (known.into_iter())
        .filter(|shell| Path::new(shell).is_file())
        .collect();
    assert!(found.contains(&"/bin/sh"), "{found:?}");
    found
}

/// Runs a command line; returns its exit code, both outputs, and true if it read the event to its end.
fn run_line(
    project: &Project,
    (shell, line): (&str, &str),
    path: &str,
    input: Vec<u8>,
) -> (i32, String, String, bool) {
    let mut child = Command::new(shell)
        .args(["-c", line])
        .current_dir(project.path())
        .env_clear()
        .env("PATH", path)
        .env("HOME", project.home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
        writer.join().unwrap(),
    )
}

/// Creates a folder with a substitute for `heirloom`.
fn folder_with(project: &Project, name: &str, script: &str, mode: u32) -> PathBuf {
    let folder = project.home.path().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("heirloom");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(mode)).unwrap();
    folder
}

#[test]
fn installed_commands_without_a_working_program_exit_0_and_print_nothing() {
    let project = Project::new();
    let system = "/usr/bin:/bin";
    for folder in system.split(':') {
        assert!(!Path::new(folder).join("heirloom").exists());
    }
    let with = |name: &str, script: &str, mode: u32| {
        let folder = folder_with(&project, name, script, mode);
        format!("{}:{system}", folder.display())
    };
    let paths = [
        ("missing", system.to_owned()),
        ("no PATH at all", "/nonexistent".to_owned()),
        (
            "denying",
            with("two", "#!/bin/sh\necho no >&2\nexit 2\n", 0o700),
        ),
        (
            "panicking",
            with(
                "panic",
                "#!/bin/sh\necho 'thread panicked' >&2\nexit 101\n",
                0o700,
            ),
        ),
        ("killed", with("killed", "#!/bin/sh\nkill -9 $$\n", 0o700)),
        (
            "aborting",
            with(
                "abort",
                "#!/bin/sh\nhead -c 10 >/dev/null\nkill -ABRT $$\n",
                0o700,
            ),
        ),
        (
            "not executable",
            with("plain", "#!/bin/sh\necho called\n", 0o600),
        ),
        ("not a program", with("broken", "\u{7f}ELF nonsense", 0o700)),
        (
            "without its interpreter",
            with("gone", "#!/nonexistent/sh\n", 0o700),
        ),
    ];
    // The event is larger than a pipe's buffer: its writer must not meet a closed pipe.
    let input = event(&project, "s", json!({"prompt": "x".repeat(200 << 10)}));
    for agent in AGENTS {
        for (name, line) in install_hooks(&project, agent) {
            // Every event has the same form, so only the first one is run in each shell.
            let shells = if name == "SessionStart" {
                shells()
            } else {
                vec!["/bin/sh"]
            };
            for shell in shells {
                for (why, path) in &paths {
                    let case = format!("{agent} {name} {shell} {why}");
                    let (code, out, err, is_read) =
                        run_line(&project, (shell, &line), path, input.clone());
                    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""), "{case}");
                    assert!(is_read || *why == "no PATH at all", "{case}");
                }
            }
        }
    }
}

#[test]
fn installed_commands_with_the_program_give_its_answer() {
    let project = Project::new();
    project.ok(&[
        "remember",
        "start redis before the tests",
        "--category",
        "convention",
    ]);
    let program = Path::new(env!("CARGO_BIN_EXE_heirloom"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    for agent in AGENTS {
        let commands = install_hooks(&project, agent);
        let (_, line) = commands.iter().find(|one| one.0 == "SessionStart").unwrap();
        for shell in shells() {
            let session = format!("{agent}{shell}");
            let input = event(&project, &session, json!({"source": "startup"}));
            let (code, out, err, _) = run_line(&project, (shell, line), &path, input);
            assert_eq!((code, err.as_str()), (0, ""));
            let answer: Value = serde_json::from_str(&out).unwrap();
            let context = string(&answer["hookSpecificOutput"]["additionalContext"]);
            assert!(context.contains("redis"), "{agent} {shell}: {context}");
        }
    }
}

/// Returns the text of settings as an older version wrote them.
fn older_settings(agent: &str, text: &str) -> String {
    let host = AgentProgram::hook_program(agent).unwrap();
    let mut older = text.to_owned();
    for hook_spec in host.hook_specs() {
        let quoted = Value::from(host.hook_command(hook_spec.event)).to_string();
        let bare = format!("\"heirloom hook {agent} {}\"", hook_spec.event);
        assert!(older.contains(&quoted), "{older}");
        older = older.replace(&quoted, &bare);
    }
    older
}

#[test]
fn install_over_an_older_version_updates_the_commands() {
    let project = Project::new();
    for (agent, name) in [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("codex", ".codex/config.toml"),
    ] {
        let file = project.home.path().join(name);
        let mine = match name.ends_with("toml") {
            true => {
                "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n"
            }
            false => "{\"mine\": 1}\n",
        };
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, mine).unwrap();
        project.ok(&["install", agent, "--yes"]);
        let new = std::fs::read_to_string(&file).unwrap();
        let older = older_settings(agent, &new);
        std::fs::write(&file, &older).unwrap();
        let entry = project.json(&["status"])["hooks"]["installed"].clone();
        let entry = entry.as_array().unwrap();
        let entry = entry
            .iter()
            .find(|one| one["file"] == file.to_str().unwrap());
        assert_eq!(
            entry.unwrap()["whole"],
            false,
            "it is known, and not up to date"
        );
        let doctor = project.run(&["doctor"]);
        assert!(doctor.stdout.contains("in part"), "{doctor:?}");
        assert_eq!(
            project.json(&["install", agent, "--yes"])["outcome"],
            "installed"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), new, "{name}");
        project.ok(&["uninstall", agent, "--yes"]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), mine, "{name}");
        std::fs::write(&file, &older).unwrap();
        project.ok(&["uninstall", agent, "--yes"]);
        let remaining = std::fs::read_to_string(&file).unwrap();
        assert_eq!(remaining, mine, "the older form goes too: {name}");
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn plugin_hooks_answer_only_while_settings_have_none() {
    let known = "the parser tests need the fixture server";
    for (agent, name, scope) in [
        ("claude-code", "SessionStart", "user"),
        ("claude-code", "SessionStart", "project"),
        ("gemini", "SessionStart", "user"),
    ] {
        let project = Project::new();
        project.ok(&["remember", known, "--category", "convention"]);
        let call = |session: &str| {
            let input = event(&project, session, json!({"source": "startup"}));
            project
                .input(&["hook", agent, name, "plugin"], &input)
                .stdout
        };
        assert!(call("first").contains(known), "{agent}");
        project.ok(&["install", agent, "--scope", scope, "--yes"]);
        assert_eq!(call("second"), "", "{agent} {scope}");
        project.ok(&["uninstall", agent, "--scope", scope, "--yes"]);
        assert!(call("third").contains(known), "{agent}");
    }
}
