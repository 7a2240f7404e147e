//! Permissions and links of written files: private from the first byte under any umask, and never written through a
//! link that leads outside.

use crate::project::{Answer, Project, answer, mode, string};
use heirloom_testkit::{Prerequisite, require};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Builds a run of the program with umask 000.
fn with_open_umask(project: &Project, args: &[&str]) -> Command {
    wrapped_by(
        project,
        &["sh", "-c", "umask 000; exec \"$0\" \"$@\""],
        args,
    )
}

/// Builds a run of the program that another program starts.
fn wrapped_by(project: &Project, wrapper: &[&str], args: &[&str]) -> Command {
    let inner = project.command(args);
    let mut command = Command::new(wrapper[0]);
    command
        .args(&wrapper[1..])
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(project.path())
        .env_clear();
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap());
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[track_caller]
fn run_ok(command: &mut Command) -> Answer {
    let output = answer(command);
    assert_eq!(output.code, 0, "{output:?}");
    output
}

/// Returns a folder and everything below it.
fn paths_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut at = 0;
    while let Some(path) = found.get(at).cloned() {
        at += 1;
        if path.symlink_metadata().unwrap().is_dir() {
            found.extend(
                fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
    }
    found
}

#[track_caller]
fn assert_all_private(folder: &Path) -> Vec<String> {
    let paths_below = paths_below(folder);
    for path in &paths_below {
        let most = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(path), most, "{}", path.display());
    }
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    paths_below.iter().map(name).collect()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs every kind of write; the caller checks the files.
fn write_everything(project: &Project, call: &dyn Fn(&[&str]) -> Command) {
    run_ok(&mut call(&["init"]));
    run_ok(&mut call(&["remember", "a"]));
    run_ok(&mut call(&["step", "pending", "b", "--task", "1"]));
    run_ok(&mut call(&[
        "outcome",
        "--task",
        "1",
        "--status",
        "PARTIAL",
        "--set",
        "memory.file_path=.heirloom/deep/er/memory.json",
    ]));
    let agent = "echo 'HEIRLOOM_MEMORY: KEY_FACT c'; stat -c '%a %n' \
                 \"$(dirname \"$HEIRLOOM_CONTEXT_FILE\")\" \"$HEIRLOOM_CONTEXT_FILE\" \
                 \"$HEIRLOOM_PROMPT_FILE\" > seen; test -e .heirloom/heirloom.db-wal";
    run_ok(&mut call(&["run", "--task", "1", "--", "sh", "-c", agent]));
    let seen = project.folder.read("seen").unwrap();
    let modes: Vec<_> = seen.lines().filter_map(|l| l.split(' ').next()).collect();
    assert_eq!(modes, ["700", "600", "600"], "{seen}");
    // An invalid mirror is renamed.
    project.folder.write(".heirloom/memory.json", "no").unwrap();
    set_mode(&project.file(".heirloom/memory.json"), 0o600);
    run_ok(&mut call(&[
        "outcome", "--task", "1", "--status", "COMPLETE",
    ]));
    run_ok(&mut call(&["prune", "--apply"]));
}

#[test]
fn written_files_are_private_under_any_umask() {
    let project = Project::uninitialised();
    write_everything(&project, &|args| with_open_umask(&project, args));
    let names = assert_all_private(&project.file(".heirloom"));
    for name in [
        "heirloom.db",
        "store.json",
        "memory.json",
        "config.toml",
        "deep",
        "er",
    ] {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    let is_renamed = names
        .iter()
        .any(|name| name.starts_with("memory.json.corrupt-"));
    assert!(is_renamed, "{names:?}");
    // The same holds for the user's data folder.
    let other = Project::uninitialised();
    run_ok(&mut with_open_umask(&other, &["init", "--user"]));
    run_ok(&mut with_open_umask(&other, &["remember", "x"]));
    let names = assert_all_private(&other.home.path().join(".local/share/heirloom"));
    assert!(names.iter().any(|name| name == "heirloom.db"), "{names:?}");
}

#[test]
fn wal_files_are_private_while_in_use() {
    let project = Project::uninitialised();
    run_ok(&mut with_open_umask(&project, &["init"]));
    let mut writer = with_open_umask(&project, &["remember", "--stdin"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = writer.stdin.take().unwrap();
    let mut output = BufReader::new(writer.stdout.take().unwrap());
    input.write_all(b"{\"text\": \"x\"}\n").unwrap();
    let mut acknowledged = String::new();
    output.read_line(&mut acknowledged).unwrap();
    let names = assert_all_private(&project.file(".heirloom"));
    for name in ["heirloom.db-wal", "heirloom.db-shm"] {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    drop(input);
    assert!(writer.wait().unwrap().success());
}

/// Checks system calls and not only their results: no file is open to others for a moment, and each temporary file is
/// created next to its target.
#[test]
fn system_calls_create_only_private_files() {
    let traced = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .status();
    let can_trace = traced.is_ok_and(|status| status.success());
    require!(Prerequisite::Tracing, can_trace.then_some(()));
    let project = Project::uninitialised();
    let log = project.home.path().join("calls");
    let log = log.to_str().unwrap();
    let calls = "trace=openat,mkdirat,fchmod,fchmodat,?open,?creat,?mkdir,?chmod,?rename,?renameat,?renameat2,?link,?linkat";
    let trace = [
        "strace", "-f", "-qq", "-A", "-s", "4096", "-o", log, "-e", calls,
    ];
    let unmask = ["sh", "-c", "umask 000; exec \"$0\" \"$@\""];
    write_everything(&project, &|args| {
        wrapped_by(&project, &[&trace[..], &unmask].concat(), args)
    });
    let memory_folder = project.file(".heirloom");
    let memory_folder = memory_folder.to_str().unwrap();
    let traced_calls = fs::read_to_string(log).unwrap();
    let own_calls = traced_calls
        .lines()
        .filter(|line| line.contains(memory_folder) || line.contains("/heirloom-run-"));
    let (mut files, mut folders) = (0, 0);
    for line in own_calls {
        let (call, arguments) = line.split_once('(').unwrap_or((line, ""));
        let arguments = arguments
            .rsplit_once(") = ")
            .map_or(arguments, |(arguments, _)| arguments);
        let last = arguments.rsplit(", ").next().unwrap_or_default();
        let mode = u32::from_str_radix(last, 8).unwrap_or(0o7777);
        if line.contains("O_CREAT") || call.ends_with("creat") {
            assert_eq!(mode & !0o600, 0, "{line}");
            files += 1;
        } else if call.contains("mkdir") {
            assert_eq!(mode & !0o700, 0, "{line}");
            folders += 1;
        } else if call.contains("chmod") {
            assert_eq!(mode & !0o700, 0, "{line}");
        } else if call.contains("rename") {
            let names: Vec<_> = arguments.split('"').skip(1).step_by(2).collect();
            let folder = |name: &str| Path::new(name).parent().map(Path::to_owned);
            assert_eq!(folder(names[0]), folder(names[1]), "{line}");
        }
    }
    assert!(
        files > 20 && folders > 3,
        "{files} files, {folders} folders:\n{traced_calls}"
    );
}

#[test]
fn init_tightens_open_permissions_and_lists_them() {
    let project = Project::uninitialised();
    // A checkout of a tracked config leaves the folder like this.
    project
        .folder
        .write(".heirloom/config.toml", "[memory]\nenabled = true\n")
        .unwrap();
    let folder = project.file(".heirloom");
    set_mode(&folder, 0o755);
    run_ok(&mut with_open_umask(&project, &["remember", "x"]));
    run_ok(&mut with_open_umask(
        &project,
        &["outcome", "--task", "1", "--status", "PARTIAL"],
    ));
    assert_eq!(
        mode(&folder),
        0o755,
        "only init changes a folder that is there"
    );
    for name in ["heirloom.db", "store.json", "memory.json"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
        set_mode(&folder.join(name), 0o644);
    }
    let output = project.json(&["init"]);
    let named: Vec<_> = output["tightened"]
        .as_array()
        .unwrap()
        .iter()
        .map(string)
        .collect();
    let expected = ["", "heirloom.db", "store.json", "memory.json"].map(|name| {
        folder
            .join(name)
            .display()
            .to_string()
            .trim_end_matches('/')
            .to_owned()
    });
    assert_eq!(named, expected);
    assert_eq!(mode(&folder), 0o700);
    for name in ["heirloom.db", "store.json", "memory.json"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
    set_mode(&folder, 0o770);
    let output = project.ok(&["init"]).stdout;
    assert!(
        output.contains("made private, it was open to others:"),
        "{output}"
    );
    assert_eq!(project.json(&["init"])["tightened"], serde_json::json!([]));
}

/// Project, and a foreign folder with one file.
struct LinkedProject {
    project: Project,
    foreign: PathBuf,
}

impl LinkedProject {
    fn new(project: Project) -> Self {
        project.home.write("theirs/kept", "kept").unwrap();
        let foreign = project.home.path().join("theirs");
        Self { project, foreign }
    }

    /// Fails if anything was written to the foreign folder.
    #[track_caller]
    fn assert_untouched(&self) {
        let names: Vec<_> = paths_below(&self.foreign)
            .iter()
            .skip(1)
            .map(|path| path.strip_prefix(&self.foreign).unwrap().to_owned())
            .collect();
        assert_eq!(names, [Path::new("kept")]);
        assert_eq!(fs::read(self.foreign.join("kept")).unwrap(), b"kept");
    }

    /// Replaces a file of the project's memory by a link to the foreign folder.
    fn plant_link(&self, name: &str, target: &str) {
        let path = self.project.file(".heirloom").join(name);
        fs::remove_file(&path).ok();
        symlink(self.foreign.join(target), path).unwrap();
    }

    /// Runs a command, which must be refused with this reason and a hint, and write nothing to the foreign folder.
    #[track_caller]
    fn assert_refused(&self, args: &[&str], why: &str) {
        let output = self.project.run(&[args, &["--json"]].concat());
        assert_eq!(output.code, 4, "{args:?}: {output:?}");
        let error = output.error();
        let message = string(&error["message"]);
        assert!(message.contains(why), "{message}");
        assert!(string(&error["hint"]).contains("link"), "{error}");
        self.assert_untouched();
    }
}

const REMEMBER: [&str; 2] = ["remember", "x"];
const OUTCOME: [&str; 5] = ["outcome", "--task", "1", "--status", "PARTIAL"];

#[test]
fn store_file_that_is_a_link_is_refused() {
    for name in [
        "heirloom.db",
        "heirloom.db-wal",
        "heirloom.db-shm",
        "heirloom.db-journal",
        "store.json",
    ] {
        for target in ["kept", "nothing"] {
            let linked = LinkedProject::new(Project::new());
            linked.plant_link(name, target);
            for args in [&REMEMBER[..], &OUTCOME, &["status"], &["list"], &["init"]] {
                linked.assert_refused(args, name);
            }
        }
    }
}

#[test]
fn linked_memory_file_of_a_clone_is_refused() {
    for (name, args) in [(".gitignore", &["init"][..]), ("memory.json", &OUTCOME)] {
        let linked = LinkedProject::new(Project::uninitialised());
        let project = &linked.project;
        project
            .folder
            .write(".heirloom/config.toml", "[memory]\nenabled = true\n")
            .unwrap();
        linked.plant_link(name, "nothing");
        linked.assert_refused(args, name);
    }
}

#[test]
fn mirror_path_through_a_link_to_outside_is_refused() {
    for (link, configured) in [
        (".heirloom/memory.json", ".heirloom/memory.json"),
        (".heirloom/x", ".heirloom/x/memory.json"),
        (".heirloom/x", ".heirloom/x/y/../memory.json"),
        (".heirloom/a", ".heirloom/a/b/c/memory.json"),
    ] {
        let linked = LinkedProject::new(Project::new());
        symlink(&linked.foreign, linked.project.file(link)).unwrap();
        let set = format!("memory.file_path={configured}");
        let args = [&OUTCOME[..], &["--set", &set]].concat();
        let output = linked.project.run(&args);
        assert!([2, 4].contains(&output.code), "{configured}: {output:?}");
        assert!(output.stderr.contains("memory.file_path"), "{output:?}");
        linked.assert_untouched();
    }
    // Outside the memory folder, a link must stay in the project.
    let linked = LinkedProject::new(Project::new());
    symlink(&linked.foreign, linked.project.file("state")).unwrap();
    let args = [
        &OUTCOME[..],
        &["--set", "memory.file_path=state/memory.json"],
    ]
    .concat();
    let output = linked.project.expect(&args, 2);
    assert!(output.stderr.contains("outside the project"), "{output:?}");
    linked.assert_untouched();
    // A link that stays in the memory folder is followed.
    fs::create_dir(linked.project.file(".heirloom/real")).unwrap();
    symlink("real", linked.project.file(".heirloom/alias")).unwrap();
    let inside = "memory.file_path=.heirloom/alias/memory.json";
    linked
        .project
        .ok(&[&OUTCOME[..], &["--set", inside]].concat());
    assert!(linked.project.file(".heirloom/real/memory.json").is_file());
}

#[test]
fn mirror_path_of_a_heirloom_or_git_file_is_refused() {
    let project = Project::git();
    project.remember("x", &[]);
    for configured in [
        ".heirloom/heirloom.db",
        ".heirloom/HEIRLOOM.DB-wal",
        ".heirloom/config.toml",
        ".heirloom/store.json",
        ".heirloom/.gitignore",
        "./.heirloom/heirloom.db",
        ".git/config",
        "sub/.GIT/hooks/memory.json",
    ] {
        let set = format!("memory.file_path={configured}");
        let output = project.expect(&[&OUTCOME[..], &["--set", &set]].concat(), 4);
        assert!(output.stderr.contains("memory.file_path"), "{output:?}");
    }
    assert_eq!(project.list("knowledge").len(), 1);
    assert_eq!(project.list("task").len(), 0);
}

#[test]
fn memory_folder_linked_outside_is_refused() {
    let linked = LinkedProject::new(Project::uninitialised());
    let project = &linked.project;
    symlink(&linked.foreign, project.file(".heirloom")).unwrap();
    linked.assert_refused(&["init"], "leads out");
    // A folder in which memory is switched on is refused too: it belongs to another project.
    let elsewhere = Project::new();
    fs::remove_file(project.file(".heirloom")).unwrap();
    symlink(elsewhere.file(".heirloom"), project.file(".heirloom")).unwrap();
    let before = paths_below(&elsewhere.file(".heirloom"));
    for args in [&REMEMBER[..], &OUTCOME, &["status"], &["init"]] {
        linked.assert_refused(args, "leads out");
    }
    assert_eq!(paths_below(&elsewhere.file(".heirloom")), before);
    // Commands that only read the settings still work.
    project.ok(&["config"]);
}

#[test]
fn memory_folder_linked_inside_the_project_works() {
    let project = Project::uninitialised();
    symlink("state/memory", project.file(".heirloom")).unwrap();
    project.ok(&["init"]);
    project.remember("x", &[]);
    project.ok(&OUTCOME);
    let names = assert_all_private(&project.file("state/memory"));
    for name in ["heirloom.db", "memory.json"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
    assert_eq!(project.list("knowledge").len(), 1);
}

#[test]
fn config_that_is_a_link_works() {
    let project = Project::new();
    let config = project.file(".heirloom/config.toml");
    let real = project.home.path().join("config.toml");
    fs::rename(&config, &real).unwrap();
    symlink(&real, &config).unwrap();
    project.remember("x", &[]);
    project.ok(&["init"]);
    assert!(config.is_symlink());
}
