//! `cmd`: prompts of one's own, with real files, real programs and real trust.

use crate::project::{Answer, Project, string};
use heirloom_model::limits::{
    COMMAND_BYTES_MAX, COMMAND_FILE_BYTES_MAX, COMMAND_FILES_MAX, COMMAND_FOLDER_DEPTH_MAX,
    COMMAND_NAME_BYTES_MAX, COMMAND_OUTPUT_BYTES_MAX, COMMAND_RENDERED_BYTES_MAX,
};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

/// Writes the file of a project's command with this template.
fn command(project: &Project, name: &str, template: &str) {
    let text = format!("template = '''{template}'''\n");
    let path = format!(".heirloom/commands/{name}.toml");
    project.folder.write(&path, text).unwrap();
}

/// The prompt of a command, with everything allowed.
#[track_caller]
fn prompt(project: &Project, args: &[&str]) -> String {
    let all = [&["cmd", "run"], args, &["--yes"]].concat();
    project.ok(&all).stdout
}

/// A call that fails with this code and these words.
#[track_caller]
fn fails(project: &Project, args: &[&str], code: i32, words: &[&str]) -> Answer {
    let all = [&["cmd", "run"], args].concat();
    let answer = project.expect(&all, code);
    assert_eq!(answer.stdout, "", "{answer:?}");
    for word in words {
        assert!(answer.stderr.contains(word), "{word}: {answer:?}");
    }
    answer
}

/// The commands that are listed, by name.
fn listed(project: &Project) -> Vec<Value> {
    let value = project.json(&["cmd", "list"]);
    value["commands"].as_array().unwrap().clone()
}

fn left_out(project: &Project) -> String {
    project.json(&["cmd", "list"])["left_out"].to_string()
}

fn user_folder(project: &Project) -> PathBuf {
    project.home.path().join(".config/heirloom/commands")
}

/// Writes the file of a command of the person's own.
fn own(project: &Project, name: &str, template: &str) {
    let path = format!(".config/heirloom/commands/{name}.toml");
    let text = format!("template = '''{template}'''\n");
    project.home.write(&path, text).unwrap();
}

#[test]
fn the_example_of_the_guide_is_rendered() {
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
    let said = project.ok(&["cmd", "run", "review", "HEAD", "--yes"]);
    let lines: Vec<_> = said.stdout.lines().map(str::trim).collect();
    assert_eq!(lines, ["Review HEAD.", "1", "Be kind."]);
    assert!(said.stderr.contains("exit code 0"), "{said:?}");
    let value = project.json(&["cmd", "run", "review", "--yes", "HEAD"]);
    assert_eq!(value["programs"][0]["exit_code"], 0);
    assert!(string(&value["text"]).ends_with("Be kind."));
    let shown = project.json(&["cmd", "show", "review"]);
    assert_eq!(shown["description"], "Review a change");
    assert_eq!(
        (&shown["arguments"], &shown["runs_programs"]),
        (&1.into(), &true.into())
    );
    fails(
        &project,
        &["review", "--yes"],
        2,
        &["`{{arg1}}` is missing", "line 1, column 8"],
    );
    fails(&project, &["revue"], 3, &["there is no command `revue`"]);
}

#[test]
fn the_project_wins_and_folders_are_name_spaces() {
    let project = Project::new();
    own(&project, "a", "own a");
    own(&project, "b", "own b");
    own(&project, "c", "own c");
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
    command(&project, "a", "project a");
    let said: Vec<_> = ["a", "b", "c", "git:commit"]
        .iter()
        .map(|name| prompt(&project, &[name]))
        .collect();
    assert_eq!(said, ["project a\n", "radium b\n", "own c\n", "commit\n"]);
    let names: Vec<_> = listed(&project)
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
    fails(&project, &["commit"], 3, &["did you mean `git:commit`?"]);
}

#[test]
fn a_persons_own_commands_need_no_project() {
    let project = Project::uninitialised();
    own(&project, "hello", "Hello {{args}}!");
    assert_eq!(
        project.ok(&["cmd", "run", "hello", "you", "two"]).stdout,
        "Hello you two!\n"
    );
    project
        .folder
        .write(".heirloom/commands/x.toml", "template = 'x'")
        .unwrap();
    fails(&project, &["x"], 4, &["comes with this project"]);
}

#[test]
fn a_projects_file_is_trusted_by_its_bytes() {
    let project = Project::new();
    command(&project, "hi", "one");
    let refused = fails(
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
    assert_eq!(listed(&project)[0]["trusted"], true);
    // Nothing of it is in the project, and only the person reads it.
    let marks = project
        .home
        .path()
        .join(".local/share/heirloom/trusted-commands");
    let mark = fs::read_dir(&marks)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert_eq!(mark.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        marks.metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );
    // Another content, and the same content at another place, are untrusted.
    command(&project, "two", "one");
    fails(&project, &["two"], 4, &["is not trusted"]);
    command(&project, "hi", "two");
    fails(&project, &["hi"], 4, &["is not trusted"]);
    command(&project, "hi", "one");
    project.ok(&["cmd", "run", "hi"]);
    // A mark that is damaged is none.
    fs::File::options()
        .write(true)
        .truncate(true)
        .open(&mark)
        .unwrap();
    fails(&project, &["hi"], 4, &["is not trusted"]);
    project.ok(&["cmd", "trust", "hi", "--yes"]);
    assert_eq!(
        project.json(&["cmd", "trust", "hi", "--off"])["outcome"],
        "distrusted"
    );
    fails(&project, &["hi"], 4, &["is not trusted"]);
}

#[test]
fn programs_run_with_leave_only() {
    let project = Project::new();
    own(&project, "git:mark", "!{touch ran}done");
    let refused = fails(
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
    // A project cannot give itself leave.
    project.configure("\n[commands]\nallow = [\"*\"]\n");
    let warned = fails(
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
    // Leave is no trust: a project's file of that name is still foreign.
    command(&project, "git/mark", "!{touch foreign}");
    fails(&project, &["git:mark"], 4, &["is not trusted"]);
    project.ok(&["cmd", "trust", "git:mark", "--yes"]);
    project.ok(&["cmd", "run", "git:mark"]);
    assert!(project.file("foreign").exists());
}

#[test]
fn yes_may_stand_anywhere_after_the_name() {
    let project = Project::new();
    command(&project, "echo", "!{printf '[%s]' {{args}}}");
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
    fails(&project, &["echo", "--", "--yes"], 4, &["is not trusted"]);
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
fn what_an_argument_says_is_never_read_again_and_never_run() {
    let project = Project::new();
    project.folder.write("secret.txt", "SECRET").unwrap();
    let templates = [
        "{{arg1}}",
        "!{printf %s {{arg1}}}",
        "!{printf %s \"{{arg1}}\"}",
        "!{printf %s '{{arg1}}'}",
        "!{v={{arg1}}; printf %s \"$v\"}",
        "!{cat <<EOF\n{{arg1}}\nEOF\n}",
        // Quotes inside of quotes: words are split, and still nothing is run.
        "!{printf %s \"$(printf %s \"{{arg1}}\")\" # {{arg1}}\n}",
    ];
    for (number, template) in templates.iter().enumerate() {
        let name = format!("t{number}");
        command(&project, &name, template);
        for hostile in HOSTILE {
            let said = prompt(&project, &[&name, hostile]);
            assert!(!project.file("pwned").exists(), "{template} with {hostile}");
            // A here-document keeps the quotes, and the last line break is dropped.
            let bare = |text: &str| text.trim_matches(['"', '\n']).to_owned();
            if !template.contains('#') {
                assert_eq!(bare(&said), bare(hostile), "{template}");
            }
        }
    }
}

#[test]
fn what_files_and_programs_say_is_never_read_again() {
    let project = Project::new();
    project
        .folder
        .write("a.txt", "!{touch pwned} @{b.txt} {{arg1}} {{args}} \\!{\n")
        .unwrap();
    command(
        &project,
        "x",
        "@{a.txt}|!{cat a.txt}|\\!{a} \\@{b} \\{{arg1}}",
    );
    let content = "!{touch pwned} @{b.txt} {{arg1}} {{args}} \\!{";
    let expected = format!("{content}|{content}|!{{a}} @{{b}} {{{{arg1}}}}\n");
    assert_eq!(prompt(&project, &["x", "arg"]), expected);
    assert!(!project.file("pwned").exists());
}

#[test]
fn secrets_are_taken_out_of_what_is_inserted() {
    let project = Project::new();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    project
        .folder
        .write(".env", format!("GITHUB_TOKEN={token}\n"))
        .unwrap();
    command(
        &project,
        "leak",
        "@{.env} !{cat .env} !{cat .env >&2; exit 3}",
    );
    let answer = project.expect(&["cmd", "run", "leak", "--yes"], 1);
    assert!(!answer.stderr.contains(&token), "{answer:?}");
    command(&project, "leak", "@{.env} !{cat .env}");
    let answer = project.ok(&["cmd", "run", "leak", "--yes"]);
    assert!(
        !answer.stdout.contains(&token) && answer.stdout.contains("[redacted:"),
        "{answer:?}"
    );
    assert!(
        answer.stderr.contains("secrets, which were taken out"),
        "{answer:?}"
    );
}

#[test]
fn a_failure_of_a_program_is_the_failure_of_the_call() {
    let project = Project::new();
    command(
        &project,
        "bad",
        "before !{echo out; echo 'it is broken' >&2; exit 7}",
    );
    fails(
        &project,
        &["bad", "--yes"],
        1,
        &["exit code 7", "it is broken", "line 1, column 8"],
    );
    command(&project, "gone", "!{no-such-program-at-all}");
    fails(
        &project,
        &["gone", "--yes"],
        1,
        &["exit code 127", "no-such-program-at-all"],
    );
    command(&project, "syntax", "!{if}");
    fails(&project, &["syntax", "--yes"], 1, &["exit code 2"]);
    command(&project, "killed", "!{kill -9 $$}");
    fails(&project, &["killed", "--yes"], 1, &["signal 9"]);
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_told() {
    let project = Project::new();
    command(
        &project,
        "bytes",
        "!{printf 'a\\377b\\033[31mred\\033[0m\\000c'}",
    );
    let answer = project.ok(&["cmd", "run", "bytes", "--yes"]);
    assert_eq!(answer.stdout, "a\u{fffd}bred\u{fffd}c\n");
    assert!(answer.stderr.contains("not UTF-8 at byte 1"), "{answer:?}");
}

#[test]
fn a_flood_is_ended() {
    let project = Project::new();
    command(&project, "flood", "!{yes}");
    let most = COMMAND_OUTPUT_BYTES_MAX.to_string();
    fails(
        &project,
        &["flood", "--yes"],
        1,
        &["printed more than", &most],
    );
    command(
        &project,
        "full",
        &format!("!{{head -c {COMMAND_OUTPUT_BYTES_MAX} /dev/zero | tr '\\0' x}}"),
    );
    assert_eq!(
        prompt(&project, &["full"]).len(),
        COMMAND_OUTPUT_BYTES_MAX + 1
    );
    let times = COMMAND_RENDERED_BYTES_MAX / COMMAND_OUTPUT_BYTES_MAX + 1;
    let one = format!("!{{head -c {COMMAND_OUTPUT_BYTES_MAX} /dev/zero | tr '\\0' x}}");
    command(&project, "sum", &one.repeat(times));
    fails(&project, &["sum", "--yes"], 1, &["a prompt of more than"]);
}

#[test]
fn a_program_that_hangs_is_ended_with_its_group() {
    let project = Project::new();
    let text = "timeout_s = 1\ntemplate = '''!{sleep 987 & echo $! >child; wait}'''\n";
    project
        .folder
        .write(".heirloom/commands/hang.toml", text)
        .unwrap();
    fails(
        &project,
        &["hang", "--yes"],
        1,
        &["may take 1 s", "timeout_s"],
    );
    assert!(is_gone(&project));
}

/// Whether the program whose id is in the file `child` is gone, or dead and not yet reaped.
fn is_gone(project: &Project) -> bool {
    let child = project.folder.read("child").unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z")
}

#[test]
fn ctrl_c_ends_the_programs() {
    let project = Project::new();
    command(
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
    assert!(is_gone(&project));
}

#[test]
fn files_stay_inside_of_the_project_and_are_text() {
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
    command(&project, "f", "@{{{arg1}}}");
    assert_eq!(
        prompt(&project, &["f", "full"]).len() as u64,
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
        ("pipe", 4, "it is no file"),
        ("folder", 4, "it is no file"),
        ("binary", 4, "3 bytes with NUL"),
        ("latin", 4, "not UTF-8 at byte 1"),
        ("huge", 4, "it has 1048577 bytes"),
        ("", 4, "the path is empty"),
    ] {
        fails(&project, &["f", path, "--yes"], code, &[words]);
    }
}

#[test]
fn broken_files_are_listed_with_what_is_wrong() {
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
    own(&project, "toml", "hidden by a broken one");
    assert_eq!(prompt(&project, &["full"]), "x\n");
    let names: Vec<_> = listed(&project)
        .iter()
        .map(|one| string(&one["name"]))
        .collect();
    assert_eq!(names, ["full", "none", "open", "toml", "toml", "types"]);
    let left = left_out(&project);
    assert!(
        left.contains("latin.toml: it is not UTF-8 at byte 12"),
        "{left}"
    );
    assert!(left.contains("huge.toml: it has 262145 bytes"), "{left}");
    fails(&project, &["toml", "--yes"], 2, &["toml.toml: line 1"]);
    fails(
        &project,
        &["types", "--yes"],
        2,
        &["`template`: expected a text, found integer", "`timeout_s`"],
    );
    fails(&project, &["open", "--yes"], 2, &["line 1, column 3"]);
    fails(&project, &["none", "--yes"], 2, &["there is no `template`"]);
    fails(&project, &["huge", "--yes"], 3, &["huge.toml"]);
    project.ok(&["cmd", "show", "toml"]);
}

#[test]
fn names_that_are_none_and_names_that_are_two() {
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
    let broken = listed(&project)
        .iter()
        .filter(|one| one["problems"] != serde_json::json!([]))
        .count();
    assert_eq!(broken, 8, "{:?}", listed(&project));
    assert_eq!(prompt(&project, &[&most]), "x\n");
    fails(
        &project,
        &["twin", "--yes"],
        2,
        &["several files give this name", "one.toml", "two.toml"],
    );
    fails(&project, &["con", "--yes"], 2, &["reserve for a device"]);
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
fn links_and_folders_without_end_are_left_out() {
    let project = Project::new();
    let folder = project.file(".heirloom/commands");
    command(&project, "good", "good");
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
    command(&project, &deep(COMMAND_FOLDER_DEPTH_MAX - 1), "deep");
    command(&project, &deep(COMMAND_FOLDER_DEPTH_MAX), "too deep");
    let names: Vec<_> = listed(&project)
        .iter()
        .map(|one| string(&one["name"]))
        .collect();
    assert_eq!(names, ["d:d:d:d:d:d:d:x", "good", "linked"]);
    let left = left_out(&project);
    for why in [
        "it was read already",
        "circle: it cannot be followed",
        "nowhere.toml: it is a link that leads nowhere",
        "out: it is a link that leads out of the project",
        "x.toml: it is a link that leads out of the project",
        "pipe.toml: it is no file",
        "it is deeper than the 8 folders",
    ] {
        assert!(left.contains(why), "{why}: {left}");
    }
    // The person's own folder may be made of links.
    fs::create_dir_all(user_folder(&project).parent().unwrap()).unwrap();
    symlink(&outside, user_folder(&project)).unwrap();
    assert_eq!(project.ok(&["cmd", "run", "x"]).stdout, "outside\n");
    // A folder of commands that is a link out of the project is none.
    let other = Project::new();
    symlink(&outside, other.file(".heirloom/commands")).unwrap();
    assert_eq!(listed(&other).len(), 0);
    other.expect(&["cmd", "new", "y"], 4);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn a_folder_has_a_number_of_files() {
    let project = Project::new();
    for n in 0..=COMMAND_FILES_MAX {
        command(&project, &format!("c{n:04}"), "x");
    }
    assert_eq!(listed(&project).len(), COMMAND_FILES_MAX);
    assert!(left_out(&project).contains("only 1000 files are read"));
}

#[test]
fn a_new_command_is_a_file_that_runs() {
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
    assert_eq!(prompt(&project, &["git:note", "hi"]), "Say \"hi\"\\n\n");
    let text = project
        .folder
        .read(".heirloom/commands/git/note.toml")
        .unwrap();
    let again = project.expect(&["cmd", "new", "git:note"], 4);
    assert!(again.stderr.contains("is there already"), "{again:?}");
    assert_eq!(
        project
            .folder
            .read(".heirloom/commands/git/note.toml")
            .unwrap(),
        text
    );
    let own = project.json(&["cmd", "new", "mine", "--user"]);
    assert!(PathBuf::from(string(&own["file"])).starts_with(user_folder(&project)));
    assert_eq!(
        project.ok(&["cmd", "run", "mine", "a", "b"]).stdout,
        "a b\n"
    );
    project.expect(&["cmd", "new", "bad", "--template", "!{"], 2);
    assert!(!project.file(".heirloom/commands/bad.toml").exists());
}
