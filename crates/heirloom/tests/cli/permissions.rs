//! Who may read what Heirloom writes, and where it does not write: private from the first byte, whatever the
//! mask of the process, and never through a link that leads out.

use crate::project::{Answer, Project, answer, mode, string};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program as a process whose mask takes nothing away.
fn unmasked(project: &Project, args: &[&str]) -> Command {
    wrapped(
        project,
        &["sh", "-c", "umask 000; exec \"$0\" \"$@\""],
        args,
    )
}

/// The program with these arguments, started by another program.
fn wrapped(project: &Project, wrapper: &[&str], args: &[&str]) -> Command {
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
fn ok(command: &mut Command) -> Answer {
    let said = answer(command);
    assert_eq!(said.code, 0, "{said:?}");
    said
}

/// Everything below a folder, and the folder.
fn tree(folder: &Path) -> Vec<PathBuf> {
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
fn all_private(folder: &Path) -> Vec<String> {
    let tree = tree(folder);
    for path in &tree {
        let most = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(path), most, "{}", path.display());
    }
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    tree.iter().map(name).collect()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Every call that writes: what it leaves is checked by who calls this.
fn use_everything(project: &Project, call: &dyn Fn(&[&str]) -> Command) {
    ok(&mut call(&["init"]));
    ok(&mut call(&["remember", "a"]));
    ok(&mut call(&["step", "pending", "b", "--task", "1"]));
    ok(&mut call(&[
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
    ok(&mut call(&["run", "--task", "1", "--", "sh", "-c", agent]));
    let seen = project.folder.read("seen").unwrap();
    let modes: Vec<_> = seen.lines().filter_map(|l| l.split(' ').next()).collect();
    assert_eq!(modes, ["700", "600", "600"], "{seen}");
    // One that is no mirror is set aside.
    project.folder.write(".heirloom/memory.json", "no").unwrap();
    set_mode(&project.file(".heirloom/memory.json"), 0o600);
    ok(&mut call(&[
        "outcome", "--task", "1", "--status", "COMPLETE",
    ]));
    ok(&mut call(&["prune", "--apply"]));
}

#[test]
fn everything_is_private_whatever_the_mask() {
    let project = Project::uninitialised();
    use_everything(&project, &|args| unmasked(&project, args));
    let names = all_private(&project.file(".heirloom"));
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
    let aside = names
        .iter()
        .any(|name| name.starts_with("memory.json.corrupt-"));
    assert!(aside, "{names:?}");
    // The user's data folder is another way to the same promise.
    let other = Project::uninitialised();
    ok(&mut unmasked(&other, &["init", "--user"]));
    ok(&mut unmasked(&other, &["remember", "x"]));
    let names = all_private(&other.home.path().join(".local/share/heirloom"));
    assert!(names.iter().any(|name| name == "heirloom.db"), "{names:?}");
}

#[test]
fn the_journal_is_private_while_it_is_in_use() {
    let project = Project::uninitialised();
    ok(&mut unmasked(&project, &["init"]));
    let mut writer = unmasked(&project, &["remember", "--stdin"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = writer.stdin.take().unwrap();
    let mut output = BufReader::new(writer.stdout.take().unwrap());
    input.write_all(b"{\"text\": \"x\"}\n").unwrap();
    let mut acknowledged = String::new();
    output.read_line(&mut acknowledged).unwrap();
    let names = all_private(&project.file(".heirloom"));
    for name in ["heirloom.db-wal", "heirloom.db-shm"] {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    drop(input);
    assert!(writer.wait().unwrap().success());
}

/// What was asked of the system, not only what came of it: no file is open to others for a moment, and every
/// temporary file is made beside its target.
#[test]
fn no_call_asks_for_more_than_a_private_file() {
    let traced = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .status();
    if !traced.is_ok_and(|status| status.success()) {
        // Without strace, or where tracing is forbidden, the other tests look at what is left.
        return;
    }
    let project = Project::uninitialised();
    let log = project.home.path().join("calls");
    let log = log.to_str().unwrap();
    let calls = "trace=openat,mkdirat,fchmod,fchmodat,?open,?creat,?mkdir,?chmod,?rename,?renameat,?renameat2,?link,?linkat";
    let trace = [
        "strace", "-f", "-qq", "-A", "-s", "4096", "-o", log, "-e", calls,
    ];
    let unmask = ["sh", "-c", "umask 000; exec \"$0\" \"$@\""];
    use_everything(&project, &|args| {
        wrapped(&project, &[&trace[..], &unmask].concat(), args)
    });
    let own = project.file(".heirloom");
    let own = own.to_str().unwrap();
    let said = fs::read_to_string(log).unwrap();
    let of_ours = said
        .lines()
        .filter(|line| line.contains(own) || line.contains("/heirloom-run-"));
    let (mut files, mut folders) = (0, 0);
    for line in of_ours {
        let (call, asked) = line.split_once('(').unwrap_or((line, ""));
        let asked = asked.rsplit_once(") = ").map_or(asked, |(asked, _)| asked);
        let last = asked.rsplit(", ").next().unwrap_or_default();
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
            let names: Vec<_> = asked.split('"').skip(1).step_by(2).collect();
            let folder = |name: &str| Path::new(name).parent().map(Path::to_owned);
            assert_eq!(folder(names[0]), folder(names[1]), "{line}");
        }
    }
    assert!(
        files > 20 && folders > 3,
        "{files} files, {folders} folders:\n{said}"
    );
}

#[test]
fn init_takes_away_what_others_may_do_and_says_so() {
    let project = Project::uninitialised();
    // As a checkout of a tracked config leaves it.
    project
        .folder
        .write(".heirloom/config.toml", "[memory]\nenabled = true\n")
        .unwrap();
    let folder = project.file(".heirloom");
    set_mode(&folder, 0o755);
    ok(&mut unmasked(&project, &["remember", "x"]));
    ok(&mut unmasked(
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
    let said = project.json(&["init"]);
    let named: Vec<_> = said["tightened"]
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
    let said = project.ok(&["init"]).stdout;
    assert!(
        said.contains("made private, it was open to others:"),
        "{said}"
    );
    assert_eq!(project.json(&["init"])["tightened"], serde_json::json!([]));
}

/// A project, and a folder of somebody else's with one file in it.
struct Planted {
    project: Project,
    theirs: PathBuf,
}

impl Planted {
    fn new(project: Project) -> Self {
        project.home.write("theirs/kept", "kept").unwrap();
        let theirs = project.home.path().join("theirs");
        Self { project, theirs }
    }

    /// Nothing was written where the links lead.
    #[track_caller]
    fn untouched(&self) {
        let names: Vec<_> = tree(&self.theirs)
            .iter()
            .skip(1)
            .map(|path| path.strip_prefix(&self.theirs).unwrap().to_owned())
            .collect();
        assert_eq!(names, [Path::new("kept")]);
        assert_eq!(fs::read(self.theirs.join("kept")).unwrap(), b"kept");
    }

    /// Puts a link in place of a file of the project's memory.
    fn link(&self, name: &str, target: &str) {
        let path = self.project.file(".heirloom").join(name);
        fs::remove_file(&path).ok();
        symlink(self.theirs.join(target), path).unwrap();
    }

    /// The command is refused, says why and what to do, and nothing is written elsewhere.
    #[track_caller]
    fn refused(&self, args: &[&str], why: &str) {
        let said = self.project.run(&[args, &["--json"]].concat());
        assert_eq!(said.code, 4, "{args:?}: {said:?}");
        let error = said.error();
        let message = string(&error["message"]);
        assert!(message.contains(why), "{message}");
        assert!(string(&error["hint"]).contains("link"), "{error}");
        self.untouched();
    }
}

const REMEMBER: [&str; 2] = ["remember", "x"];
const OUTCOME: [&str; 5] = ["outcome", "--task", "1", "--status", "PARTIAL"];

#[test]
fn no_file_of_the_store_may_be_a_link() {
    for name in [
        "heirloom.db",
        "heirloom.db-wal",
        "heirloom.db-shm",
        "heirloom.db-journal",
        "store.json",
    ] {
        for target in ["kept", "nothing"] {
            let planted = Planted::new(Project::new());
            planted.link(name, target);
            for args in [&REMEMBER[..], &OUTCOME, &["status"], &["list"], &["init"]] {
                planted.refused(args, name);
            }
        }
    }
}

#[test]
fn a_clone_with_links_gets_no_store_through_them() {
    for (name, args) in [
        ("heirloom.db", &REMEMBER[..]),
        ("store.json", &REMEMBER),
        (".gitignore", &["init"]),
        ("memory.json", &OUTCOME),
    ] {
        let planted = Planted::new(Project::uninitialised());
        let project = &planted.project;
        project
            .folder
            .write(".heirloom/config.toml", "[memory]\nenabled = true\n")
            .unwrap();
        planted.link(name, "nothing");
        planted.refused(args, name);
    }
}

#[test]
fn the_mirror_goes_through_no_link_that_leads_out() {
    for (link, configured) in [
        (".heirloom/memory.json", ".heirloom/memory.json"),
        (".heirloom/x", ".heirloom/x/memory.json"),
        (".heirloom/x", ".heirloom/x/y/../memory.json"),
        (".heirloom/a", ".heirloom/a/b/c/memory.json"),
    ] {
        let planted = Planted::new(Project::new());
        symlink(&planted.theirs, planted.project.file(link)).unwrap();
        let set = format!("memory.file_path={configured}");
        let args = [&OUTCOME[..], &["--set", &set]].concat();
        let said = planted.project.run(&args);
        assert!([2, 4].contains(&said.code), "{configured}: {said:?}");
        assert!(said.stderr.contains("memory.file_path"), "{said:?}");
        planted.untouched();
    }
    // Elsewhere in the project the root is the border.
    let planted = Planted::new(Project::new());
    symlink(&planted.theirs, planted.project.file("state")).unwrap();
    let args = [
        &OUTCOME[..],
        &["--set", "memory.file_path=state/memory.json"],
    ]
    .concat();
    let said = planted.project.expect(&args, 2);
    assert!(said.stderr.contains("outside the project"), "{said:?}");
    planted.untouched();
    // One that stays inside is followed.
    fs::create_dir(planted.project.file(".heirloom/real")).unwrap();
    symlink("real", planted.project.file(".heirloom/alias")).unwrap();
    let inside = "memory.file_path=.heirloom/alias/memory.json";
    planted
        .project
        .ok(&[&OUTCOME[..], &["--set", inside]].concat());
    assert!(planted.project.file(".heirloom/real/memory.json").is_file());
}

#[test]
fn the_mirror_never_takes_the_place_of_another_file_of_ours_or_git_s() {
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
        let said = project.expect(&[&OUTCOME[..], &["--set", &set]].concat(), 4);
        assert!(said.stderr.contains("memory.file_path"), "{said:?}");
    }
    assert_eq!(project.list("knowledge").len(), 1);
    assert_eq!(project.list("task").len(), 0);
}

#[test]
fn a_memory_folder_that_leads_out_is_refused() {
    let planted = Planted::new(Project::uninitialised());
    let project = &planted.project;
    symlink(&planted.theirs, project.file(".heirloom")).unwrap();
    planted.refused(&["init"], "leads out");
    // Not even one in which memory is switched on already: it is another project's.
    let elsewhere = Project::new();
    fs::remove_file(project.file(".heirloom")).unwrap();
    symlink(elsewhere.file(".heirloom"), project.file(".heirloom")).unwrap();
    let before = tree(&elsewhere.file(".heirloom"));
    for args in [&REMEMBER[..], &OUTCOME, &["status"], &["init"]] {
        planted.refused(args, "leads out");
    }
    assert_eq!(tree(&elsewhere.file(".heirloom")), before);
    // What only reads the settings may go on.
    project.ok(&["config"]);
}

#[test]
fn a_memory_folder_may_be_a_link_inside_the_project() {
    let project = Project::uninitialised();
    symlink("state/memory", project.file(".heirloom")).unwrap();
    project.ok(&["init"]);
    project.remember("x", &[]);
    project.ok(&OUTCOME);
    let names = all_private(&project.file("state/memory"));
    for name in ["heirloom.db", "memory.json"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
    assert_eq!(project.list("knowledge").len(), 1);
}

#[test]
fn a_config_may_be_a_link() {
    let project = Project::new();
    let config = project.file(".heirloom/config.toml");
    let kept = project.home.path().join("config.toml");
    fs::rename(&config, &kept).unwrap();
    symlink(&kept, &config).unwrap();
    project.remember("x", &[]);
    project.ok(&["init"]);
    assert!(config.is_symlink());
}
