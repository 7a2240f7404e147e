//! The command `cmd`: prompt templates with real files, programs and trust.

use crate::project::{Answer, Project, string};
use heirloom_model::limits::{
    COMMAND_BYTES_MAX, COMMAND_FILE_BYTES_MAX, COMMAND_FILES_MAX, COMMAND_FOLDER_DEPTH_MAX,
    COMMAND_NAME_BYTES_MAX, COMMAND_OUTPUT_BYTES_MAX, COMMAND_RENDERED_BYTES_MAX,
};
use heirloom_testkit::sh;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

/// Writes a project's command file with this template.
fn write_command(project: &Project, name: &str, template: &str) {
    let text = format!("template = '''{template}'''\n");
    let path = format!(".heirloom/commands/{name}.toml");
    project.folder.write(&path, text).unwrap();
}

/// Returns the rendered prompt of a command that runs with `--yes`.
#[track_caller]
fn render_prompt(project: &Project, args: &[&str]) -> String {
    let all = [&["cmd", "run"], args, &["--yes"]].concat();
    project.ok(&all).stdout
}

/// Runs a command, which must fail with this code and these words.
#[track_caller]
fn assert_run_fails(project: &Project, args: &[&str], code: i32, words: &[&str]) -> Answer {
    let all = [&["cmd", "run"], args].concat();
    let answer = project.expect(&all, code);
    assert_eq!(answer.stdout, "", "{answer:?}");
    for word in words {
        assert!(answer.stderr.contains(word), "{word}: {answer:?}");
    }
    answer
}

/// Returns the listed commands, by name.
fn listed_commands(project: &Project) -> Vec<Value> {
    let value = project.json(&["cmd", "list"]);
    value["commands"].as_array().unwrap().clone()
}

fn skipped_files(project: &Project) -> String {
    project.json(&["cmd", "list"])["left_out"].to_string()
}

fn user_folder(project: &Project) -> PathBuf {
    project.home.path().join(".config/heirloom/commands")
}

/// Writes a command file of the user.
fn write_user_command(project: &Project, name: &str, template: &str) {
    let path = format!(".config/heirloom/commands/{name}.toml");
    let text = format!("template = '''{template}'''\n");
    project.home.write(&path, text).unwrap();
}

#[test]
fn guide_example_is_rendered() {
    let project = Project::git();
    project
        .folder
        .write("docs/review.md", "Be kind.\n")
        .unwrap();
    project
        .folder
        .write(
            ".heirloom/commands/review.toml",
            "[command]\nname = \"review\"\ndescription = \"Review a change\"\n\
             template = \"\"\"Review {{arg1}}.\\n!{git log --format=%H {{arg1}} | wc -l}\\n@{docs/review.md}\"\"\"\n",
        )
        .unwrap();
    let output = project.ok(&sh("cmd run review HEAD --yes"));
    let lines: Vec<_> = output.stdout.lines().map(str::trim).collect();
    assert_eq!(lines, ["Review HEAD.", "1", "Be kind."]);
    assert!(output.stderr.contains("exit code 0"), "{output:?}");
    let value = project.json(&sh("cmd run review --yes HEAD"));
    assert_eq!(value["programs"][0]["exit_code"], 0);
    assert!(string(&value["text"]).ends_with("Be kind."));
    let shown = project.json(&["cmd", "show", "review"]);
    assert_eq!(shown["description"], "Review a change");
    assert_eq!(
        (&shown["arguments"], &shown["runs_programs"]),
        (&1.into(), &true.into())
    );
    assert_run_fails(
        &project,
        &["review", "--yes"],
        2,
        &["`{{arg1}}` is missing", "line 1, column 8"],
    );
    assert_run_fails(&project, &["revue"], 3, &["there is no command `revue`"]);
}

#[test]
fn project_command_hides_user_command_and_folders_are_namespaces() {
    let project = Project::new();
    write_user_command(&project, "a", "own a");
    write_user_command(&project, "b", "own b");
    write_user_command(&project, "c", "own c");
    project
        .folder
        .write(".radium/commands/git/commit.toml", "template = 'commit'")
        .unwrap();
    project
        .folder
        .write(
            ".radium/commands/b.toml",
            "[command]\ntemplate = 'radium b'",
        )
        .unwrap();
    project
        .folder
        .write(".radium/commands/a.toml", "template = 'radium a'")
        .unwrap();
    write_command(&project, "a", "project a");
    let output: Vec<_> = ["a", "b", "c", "git:commit"]
        .iter()
        .map(|name| render_prompt(&project, &[name]))
        .collect();
    assert_eq!(output, ["project a\n", "radium b\n", "own c\n", "commit\n"]);
    let names: Vec<_> = listed_commands(&project)
        .iter()
        .map(|one| {
            format!(
                "{} {} {}",
                string(&one["name"]),
                string(&one["source"]),
                one["hidden"]
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            "a project false",
            "a radium true",
            "a user true",
            "b radium false",
            "b user true",
            "c user false",
            "git:commit radium false",
        ]
    );
    assert_run_fails(&project, &["commit"], 3, &["did you mean `git:commit`?"]);
}

#[test]
fn radium_command_of_user_is_read_after_all_others() {
    let project = Project::new();
    let write = |name: &str| {
        let path = format!(".radium/commands/{name}.toml");
        let text = "[command]\ntemplate = 'radium of the user'\n";
        project.home.write(&path, text).unwrap();
    };
    for name in ["a", "b", "git/push"] {
        write(name);
    }
    write_command(&project, "a", "project a");
    write_user_command(&project, "b", "own b");
    let expected = [
        ("a", "project a\n"),
        ("b", "own b\n"),
        ("git:push", "radium of the user\n"),
    ];
    for (name, prompt) in expected {
        // It belongs to the person, so it needs no trust.
        assert_eq!(project.ok(&["cmd", "show", name]).code, 0);
        assert_eq!(render_prompt(&project, &[name]), prompt);
    }
    assert_eq!(
        project.ok(&sh("cmd run git:push")).stdout,
        "radium of the user\n"
    );
    let listed = listed_commands(&project);
    let sources: Vec<_> = listed
        .iter()
        .map(|one| format!("{} {}", string(&one["name"]), string(&one["source"])))
        .collect();
    assert_eq!(
        sources,
        [
            "a project",
            "a user-radium",
            "b user",
            "b user-radium",
            "git:push user-radium",
        ]
    );
}

#[test]
fn user_command_runs_without_a_project() {
    let project = Project::uninitialised();
    write_user_command(&project, "hello", "Hello {{args}}!");
    assert_eq!(
        project.ok(&sh("cmd run hello you two")).stdout,
        "Hello you two!\n"
    );
    project
        .folder
        .write(".heirloom/commands/x.toml", "template = 'x'")
        .unwrap();
    assert_run_fails(&project, &["x"], 4, &["comes with this project"]);
}

#[test]
fn project_command_trust_covers_one_path_and_content() {
    let project = Project::new();
    write_command(&project, "hi", "one");
    let refused = assert_run_fails(
        &project,
        &["hi"],
        4,
        &["is not trusted", "heirloom cmd trust hi"],
    );
    assert!(refused.stderr.contains("--yes"));
    project.expect(&["cmd", "trust", "hi"], 4);
    let trusted = project.json(&["cmd", "trust", "hi", "--yes"]);
    assert_eq!(trusted["outcome"], "trusted");
    assert_eq!(
        project.json(&["cmd", "trust", "hi"])["outcome"],
        "unchanged"
    );
    assert_eq!(project.ok(&["cmd", "run", "hi"]).stdout, "one\n");
    assert_eq!(listed_commands(&project)[0]["trusted"], true);
    // The trust marker is not in the project, and only the user can read it.
    let marks = project.home.path().join(".local/share/heirloom/trust");
    let is_command = |path: &PathBuf| path.to_string_lossy().contains("/command-");
    let mark = fs::read_dir(&marks)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(is_command)
        .unwrap();
    assert_eq!(mark.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        marks.metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );
    // Changed content is not trusted, nor is the same content at another path.
    write_command(&project, "two", "one");
    assert_run_fails(&project, &["two"], 4, &["is not trusted"]);
    write_command(&project, "hi", "two");
    assert_run_fails(&project, &["hi"], 4, &["is not trusted"]);
    write_command(&project, "hi", "one");
    project.ok(&["cmd", "run", "hi"]);
    // A damaged trust marker does not count.
    fs::File::options()
        .write(true)
        .truncate(true)
        .open(&mark)
        .unwrap();
    assert_run_fails(&project, &["hi"], 4, &["is not trusted"]);
    project.ok(&["cmd", "trust", "hi", "--yes"]);
    assert_eq!(
        project.json(&["cmd", "trust", "hi", "--off"])["outcome"],
        "distrusted"
    );
    assert_run_fails(&project, &["hi"], 4, &["is not trusted"]);
}

#[test]
fn programs_run_only_with_permission_of_the_user() {
    let project = Project::new();
    write_user_command(&project, "git:mark", "!{touch ran}done");
    let refused = assert_run_fails(
        &project,
        &["git:mark"],
        4,
        &["runs programs", "commands.allow"],
    );
    assert_eq!(
        refused
            .stderr
            .lines()
            .filter(|line| line.contains("touch ran"))
            .count(),
        1
    );
    assert!(!project.file("ran").exists());
    let error = project
        .expect(&["cmd", "run", "git:mark", "--json"], 4)
        .error();
    assert_eq!(error["kind"], "refused");
    // A project cannot permit its own programs.
    project.configure("\n[commands]\nallow = [\"*\"]\n");
    let warned = assert_run_fails(
        &project,
        &["git:mark"],
        4,
        &["`commands.allow` is not taken"],
    );
    assert!(warned.stderr.contains("run a program"));
    let allow = "[commands]\nallow = [\"git:*\"]\n";
    project
        .home
        .write(".config/heirloom/config.toml", allow)
        .unwrap();
    assert_eq!(project.ok(&["cmd", "run", "git:mark"]).stdout, "done\n");
    assert!(project.file("ran").exists());
    // Permission is not trust: a project's file with a permitted name is still untrusted.
    write_command(&project, "git/mark", "!{touch foreign}");
    assert_run_fails(&project, &["git:mark"], 4, &["is not trusted"]);
    project.ok(&["cmd", "trust", "git:mark", "--yes"]);
    project.ok(&["cmd", "run", "git:mark"]);
    assert!(project.file("foreign").exists());
}

#[test]
fn yes_flag_is_accepted_anywhere_after_the_name() {
    let project = Project::new();
    write_command(&project, "echo", "!{printf '[%s]' {{args}}}");
    for args in [
        ["a", "b", "--yes"],
        ["a", "--yes", "b"],
        ["--yes", "a", "b"],
    ] {
        let all = [&["cmd", "run", "echo"][..], &args].concat();
        assert_eq!(project.ok(&all).stdout, "[a][b]\n");
    }
    let all = ["cmd", "run", "echo", "--yes", "--", "--yes", "-x"];
    assert_eq!(project.ok(&all).stdout, "[--yes][-x]\n");
    assert_run_fails(&project, &["echo", "--", "--yes"], 4, &["is not trusted"]);
}

const HOSTILE: [&str; 8] = [
    "'; touch pwned; '",
    "\"; touch pwned; \"",
    "$(touch pwned)",
    "`touch pwned`",
    "!{touch pwned}",
    "@{secret.txt} {{arg1}} {{args}}",
    "a\ntouch pwned\n",
    "\\'; touch pwned #",
];

#[test]
fn hostile_argument_is_neither_expanded_nor_run() {
    let project = Project::new();
    project.folder.write("secret.txt", "SECRET").unwrap();
    let templates = [
        "{{arg1}}",
        "!{printf %s {{arg1}}}",
        "!{printf %s \"{{arg1}}\"}",
        "!{printf %s '{{arg1}}'}",
        "!{v={{arg1}}; printf %s \"$v\"}",
        "!{cat <<EOF\n{{arg1}}\nEOF\n}",
        // Nested quotes: the words are split, and still nothing is run.
        "!{printf %s \"$(printf %s \"{{arg1}}\")\" # {{arg1}}\n}",
    ];
    for (number, template) in templates.iter().enumerate() {
        let name = format!("t{number}");
        write_command(&project, &name, template);
        for hostile in HOSTILE {
            let output = render_prompt(&project, &[&name, hostile]);
            assert!(!project.file("pwned").exists(), "{template} with {hostile}");
            // A here-document keeps the quotes; the last line break is dropped.
            let bare = |text: &str| text.trim_matches(['"', '\n']).to_owned();
            if !template.contains('#') {
                assert_eq!(bare(&output), bare(hostile), "{template}");
            }
        }
    }
}

#[test]
fn inserted_content_is_not_expanded_again() {
    let project = Project::new();
    project
        .folder
        .write("a.txt", "!{touch pwned} @{b.txt} {{arg1}} {{args}} \\!{\n")
        .unwrap();
    write_command(
        &project,
        "x",
        "@{a.txt}|!{cat a.txt}|\\!{a} \\@{b} \\{{arg1}}",
    );
    let content = "!{touch pwned} @{b.txt} {{arg1}} {{args}} \\!{";
    let expected = format!("{content}|{content}|!{{a}} @{{b}} {{{{arg1}}}}\n");
    assert_eq!(render_prompt(&project, &["x", "arg"]), expected);
    assert!(!project.file("pwned").exists());
}

#[test]
fn secrets_in_inserted_content_are_redacted() {
    let project = Project::new();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    project
        .folder
        .write("settings.txt", format!("GITHUB_TOKEN={token}\n"))
        .unwrap();
    write_command(
        &project,
        "leak",
        "@{settings.txt} !{cat settings.txt} !{cat settings.txt >&2; exit 3}",
    );
    let answer = project.expect(&["cmd", "run", "leak", "--yes"], 1);
    assert!(!answer.stderr.contains(&token), "{answer:?}");
    write_command(&project, "leak", "@{settings.txt} !{cat settings.txt}");
    let answer = project.ok(&["cmd", "run", "leak", "--yes"]);
    assert!(
        !answer.stdout.contains(&token) && answer.stdout.contains("[redacted:"),
        "{answer:?}"
    );
    assert!(
        answer.stderr.contains("secrets, which were redacted"),
        "{answer:?}"
    );
    // A file whose name suggests secrets is not inserted at all.
    project.folder.write(".env", "NAME=value\n").unwrap();
    write_command(&project, "leak", "@{.env}");
    let answer = project.expect(&["cmd", "run", "leak", "--yes"], 4);
    assert!(answer.stderr.contains("keys or passwords"), "{answer:?}");
}

#[test]
fn failing_program_fails_the_command_with_its_exit_code() {
    let project = Project::new();
    write_command(
        &project,
        "bad",
        "before !{echo out; echo 'it is broken' >&2; exit 7}",
    );
    assert_run_fails(
        &project,
        &["bad", "--yes"],
        1,
        &["exit code 7", "it is broken", "line 1, column 8"],
    );
    write_command(&project, "gone", "!{no-such-program-at-all}");
    assert_run_fails(
        &project,
        &["gone", "--yes"],
        1,
        &["exit code 127", "no-such-program-at-all"],
    );
    write_command(&project, "syntax", "!{if}");
    assert_run_fails(&project, &["syntax", "--yes"], 1, &["exit code 2"]);
    write_command(&project, "killed", "!{kill -9 $$}");
    assert_run_fails(&project, &["killed", "--yes"], 1, &["signal 9"]);
}

#[test]
fn invalid_utf_8_of_a_program_is_replaced_and_reported() {
    let project = Project::new();
    write_command(
        &project,
        "bytes",
        "!{printf 'a\\377b\\033[31mred\\033[0m\\000c'}",
    );
    let answer = project.ok(&["cmd", "run", "bytes", "--yes"]);
    assert_eq!(answer.stdout, "a\u{fffd}bred\u{fffd}c\n");
    assert!(
        answer.stderr.contains("invalid UTF-8 at byte 1"),
        "{answer:?}"
    );
}

#[test]
fn program_output_over_the_limit_fails_the_command() {
    let project = Project::new();
    write_command(&project, "flood", "!{yes}");
    let most = COMMAND_OUTPUT_BYTES_MAX.to_string();
    assert_run_fails(
        &project,
        &["flood", "--yes"],
        1,
        &["printed more than", &most],
    );
    write_command(
        &project,
        "full",
        &format!("!{{head -c {COMMAND_OUTPUT_BYTES_MAX} /dev/zero | tr '\\0' x}}"),
    );
    assert_eq!(
        render_prompt(&project, &["full"]).len(),
        COMMAND_OUTPUT_BYTES_MAX + 1
    );
    let times = COMMAND_RENDERED_BYTES_MAX / COMMAND_OUTPUT_BYTES_MAX + 1;
    let one = format!("!{{head -c {COMMAND_OUTPUT_BYTES_MAX} /dev/zero | tr '\\0' x}}");
    write_command(&project, "sum", &one.repeat(times));
    assert_run_fails(&project, &["sum", "--yes"], 1, &["a prompt of more than"]);
}

#[test]
fn hanging_program_is_killed_with_its_process_group() {
    let project = Project::new();
    let text = "timeout_s = 1\ntemplate = '''!{sleep 987 & echo $! >child; wait}'''\n";
    project
        .folder
        .write(".heirloom/commands/hang.toml", text)
        .unwrap();
    assert_run_fails(
        &project,
        &["hang", "--yes"],
        1,
        &["may take 1 s", "timeout_s"],
    );
    assert_child_ends(&project);
}

/// Waits until the process whose id is in the file `child` has exited; an unreaped zombie counts as exited.
///
/// A signal is delivered asynchronously: the process can still be listed for a moment after `kill` has returned.
fn assert_child_ends(project: &Project) {
    let child = project.folder.read("child").unwrap();
    let stat = format!("/proc/{}/stat", child.trim());
    let started = std::time::Instant::now();
    loop {
        let state = fs::read_to_string(&stat).unwrap_or_default();
        if state.is_empty() || state.contains(") Z") {
            return;
        }
        assert!(started.elapsed().as_secs() < 30, "still runs: {state}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn ctrl_c_kills_running_programs_and_exits_130() {
    let project = Project::new();
    write_command(
        &project,
        "hang",
        "!{sleep 987 & echo $! >new; mv new child; wait}",
    );
    let mut call = project.command(&["cmd", "run", "hang", "--yes"]);
    let running = call.spawn().unwrap();
    let started = std::time::Instant::now();
    while !project.file("child").exists() {
        assert!(started.elapsed().as_secs() < 60, "it never began");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = running.id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status();
    assert!(sent.unwrap().success());
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("was interrupted"));
    assert!(output.stdout.is_empty());
    assert_child_ends(&project);
}

#[test]
fn inserted_file_outside_binary_or_oversized_is_refused() {
    let project = Project::new();
    let outside = project.home.write("outside.txt", "outside").unwrap();
    symlink(&outside, project.file("link")).unwrap();
    symlink(project.file("circle"), project.file("circle")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(project.file("pipe"))
        .status();
    assert!(made.unwrap().success());
    project.folder.write("binary", b"a\0b").unwrap();
    project.folder.write("latin", b"a\xe9b").unwrap();
    project
        .folder
        .write("full", "x".repeat(COMMAND_FILE_BYTES_MAX as usize))
        .unwrap();
    project
        .folder
        .write("huge", "x".repeat(COMMAND_FILE_BYTES_MAX as usize + 1))
        .unwrap();
    fs::create_dir(project.file("folder")).unwrap();
    write_command(&project, "f", "@{{{arg1}}}");
    assert_eq!(
        render_prompt(&project, &["f", "full"]).len() as u64,
        COMMAND_FILE_BYTES_MAX + 1
    );
    let outside = outside.to_str().unwrap();
    for (path, code, words) in [
        ("missing.md", 3, "there is no such file"),
        ("link", 4, "outside the project"),
        ("../x", 4, "outside the project"),
        (outside, 4, "outside the project"),
        ("/dev/zero", 4, "outside the project"),
        ("circle", 4, "too many symbolic links"),
        ("pipe", 4, "it is not a regular file"),
        ("folder", 4, "it is not a regular file"),
        ("binary", 4, "3 bytes contain NUL"),
        ("latin", 4, "not UTF-8 at byte 1"),
        ("huge", 4, "it has 1048577 bytes"),
        ("", 4, "the path is empty"),
    ] {
        assert_run_fails(&project, &["f", path, "--yes"], code, &[words]);
    }
}

#[test]
fn broken_command_files_are_listed_with_their_problems() {
    let project = Project::new();
    let write = |name: &str, bytes: &[u8]| {
        project
            .folder
            .write(&format!(".heirloom/commands/{name}"), bytes)
            .unwrap();
    };
    write("toml.toml", b"template = ");
    write("types.toml", b"template = 5\ntimeout_s = 'soon'");
    write("open.toml", b"template = 'x !{'");
    write("none.toml", b"");
    write("latin.toml", b"template = '\xe9'");
    write("readme.md", b"no command");
    write(".hidden.toml", b"template = 'x'");
    write(
        "full.toml",
        format!(
            "template = 'x' #{}",
            "x".repeat(COMMAND_BYTES_MAX as usize - 16)
        )
        .as_bytes(),
    );
    write(
        "huge.toml",
        format!(
            "template = 'x' #{}",
            "x".repeat(COMMAND_BYTES_MAX as usize - 15)
        )
        .as_bytes(),
    );
    write_user_command(&project, "toml", "hidden by a broken one");
    assert_eq!(render_prompt(&project, &["full"]), "x\n");
    let names: Vec<_> = listed_commands(&project)
        .iter()
        .map(|one| string(&one["name"]))
        .collect();
    assert_eq!(names, ["full", "none", "open", "toml", "toml", "types"]);
    let skipped = skipped_files(&project);
    assert!(
        skipped.contains("latin.toml: it is not UTF-8 at byte 12"),
        "{skipped}"
    );
    assert!(
        skipped.contains("huge.toml: it has 262145 bytes"),
        "{skipped}"
    );
    assert_run_fails(&project, &["toml", "--yes"], 2, &["toml.toml: line 1"]);
    assert_run_fails(
        &project,
        &["types", "--yes"],
        2,
        &["`template`: expected a text, found integer", "`timeout_s`"],
    );
    assert_run_fails(&project, &["open", "--yes"], 2, &["line 1, column 3"]);
    assert_run_fails(&project, &["none", "--yes"], 2, &["there is no `template`"]);
    assert_run_fails(&project, &["huge", "--yes"], 3, &["huge.toml"]);
    project.ok(&["cmd", "show", "toml"]);
}

#[test]
fn invalid_and_duplicate_command_names_are_refused() {
    let project = Project::new();
    let long = "n".repeat(COMMAND_NAME_BYTES_MAX + 1);
    let most = "n".repeat(COMMAND_NAME_BYTES_MAX);
    let named = |file: &str, name: &str| {
        let text = format!("name = {name:?}\ntemplate = 'x'");
        let file = format!(".heirloom/commands/{file}.toml");
        project.folder.write(&file, text).unwrap();
    };
    for (file, name) in [
        ("a", "../up"),
        ("b", "two\nlines"),
        ("c", "con"),
        ("d", &long),
        ("e", &most),
        ("f", ""),
    ] {
        named(file, name);
    }
    project
        .folder
        .write(".heirloom/commands/nul.txt.toml", "template = 'x'")
        .unwrap();
    named("one", "twin");
    named("two", "Twin");
    let broken = listed_commands(&project)
        .iter()
        .filter(|one| one["problems"] != serde_json::json!([]))
        .count();
    assert_eq!(broken, 8, "{:?}", listed_commands(&project));
    assert_eq!(render_prompt(&project, &[&most]), "x\n");
    assert_run_fails(
        &project,
        &["twin", "--yes"],
        2,
        &["several files define this name", "one.toml", "two.toml"],
    );
    assert_run_fails(&project, &["con", "--yes"], 2, &["reserve for a device"]);
    for name in ["../up", "two\nlines", &long, "", "a/b"] {
        let answer = project.run(&["cmd", "run", name, "--yes"]);
        assert!(
            [2, 3].contains(&answer.code) && answer.stdout.is_empty(),
            "{name}: {answer:?}"
        );
        project.expect(&["cmd", "new", name], 2);
    }
}

#[test]
fn command_list_skips_link_cycles_outside_links_and_deep_folders() {
    let project = Project::new();
    let folder = project.file(".heirloom/commands");
    write_command(&project, "good", "good");
    symlink(&folder, folder.join("again")).unwrap();
    symlink(folder.join("circle"), folder.join("circle")).unwrap();
    symlink("nowhere", folder.join("nowhere.toml")).unwrap();
    let outside = project.home.path().join("out");
    project
        .home
        .write("out/x.toml", "template = 'outside'")
        .unwrap();
    symlink(&outside, folder.join("out")).unwrap();
    symlink(outside.join("x.toml"), folder.join("x.toml")).unwrap();
    project
        .folder
        .write("shared.toml", "template = 'inside'")
        .unwrap();
    symlink(project.file("shared.toml"), folder.join("linked.toml")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(folder.join("pipe.toml"))
        .status();
    assert!(made.unwrap().success());
    let deep = |depth: usize| format!("{}x", "d/".repeat(depth));
    write_command(&project, &deep(COMMAND_FOLDER_DEPTH_MAX - 1), "deep");
    write_command(&project, &deep(COMMAND_FOLDER_DEPTH_MAX), "too deep");
    let names: Vec<_> = listed_commands(&project)
        .iter()
        .map(|one| string(&one["name"]))
        .collect();
    assert_eq!(names, ["d:d:d:d:d:d:d:x", "good", "linked"]);
    let skipped = skipped_files(&project);
    for why in [
        "it was read already",
        "circle: it cannot be followed",
        "nowhere.toml: it is a link that leads nowhere",
        "out: it is a link that leads out of the project",
        "x.toml: it is a link that leads out of the project",
        "pipe.toml: it is not a regular file",
        "it is nested more than 8 folders deep",
    ] {
        assert!(skipped.contains(why), "{why}: {skipped}");
    }
    // The user's folder may contain links.
    fs::create_dir_all(user_folder(&project).parent().unwrap()).unwrap();
    symlink(&outside, user_folder(&project)).unwrap();
    assert_eq!(project.ok(&["cmd", "run", "x"]).stdout, "outside\n");
    // A command folder that is a link out of the project is ignored.
    let other = Project::new();
    symlink(&outside, other.file(".heirloom/commands")).unwrap();
    assert_eq!(listed_commands(&other).len(), 0);
    other.expect(&["cmd", "new", "y"], 4);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn command_files_over_the_limit_are_skipped() {
    let project = Project::new();
    for n in 0..=COMMAND_FILES_MAX {
        write_command(&project, &format!("c{n:04}"), "x");
    }
    assert_eq!(listed_commands(&project).len(), COMMAND_FILES_MAX);
    assert!(skipped_files(&project).contains("only 1000 files are read"));
}

#[test]
fn cmd_new_creates_a_command_that_runs() {
    let project = Project::new();
    let made = project.json(&[
        "cmd",
        "new",
        "git:note",
        "--template",
        "Say \"{{args}}\"\\n",
        "--description",
        "A\nnote",
    ]);
    assert!(string(&made["file"]).ends_with(".heirloom/commands/git/note.toml"));
    assert_eq!(
        render_prompt(&project, &["git:note", "hi"]),
        "Say \"hi\"\\n\n"
    );
    let text = project
        .folder
        .read(".heirloom/commands/git/note.toml")
        .unwrap();
    let again = project.expect(&["cmd", "new", "git:note"], 4);
    assert!(again.stderr.contains("already exists"), "{again:?}");
    assert_eq!(
        project
            .folder
            .read(".heirloom/commands/git/note.toml")
            .unwrap(),
        text
    );
    let user_command = project.json(&["cmd", "new", "mine", "--user"]);
    assert!(PathBuf::from(string(&user_command["file"])).starts_with(user_folder(&project)));
    assert_eq!(project.ok(&sh("cmd run mine a b")).stdout, "a b\n");
    project.expect(&sh("cmd new bad --template !{"), 2);
    assert!(!project.file(".heirloom/commands/bad.toml").exists());
}
