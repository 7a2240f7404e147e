//! `doctor`: what is wrong, and what can be mended.

use crate::project::{Answer, Project, mode, string};
use heirloom_model::limits::{
    CLOCK_AHEAD_S_MAX, FINDINGS_SHOWN_MAX, FOLDER_ENTRIES_MAX, LEFT_OVER_S_MIN,
};
use serde_json::Value;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DATABASE: &str = ".heirloom/heirloom.db";

/// A project with facts of several pages.
fn filled() -> Project {
    let project = Project::new();
    let lines: String = (0..400)
        .map(|n| format!("{{\"text\": \"fact number {n} {}\"}}\n", "x".repeat(100)))
        .collect();
    let answer = project.input(&["remember", "--stdin"], lines.as_bytes());
    assert_eq!(answer.code, 0, "{answer:?}");
    project
}

fn overwrite(project: &Project, from: u64, bytes: &[u8]) {
    let mut file = OpenOptions::new()
        .write(true)
        .open(project.file(DATABASE))
        .unwrap();
    file.seek(SeekFrom::Start(from)).unwrap();
    file.write_all(bytes).unwrap();
}

fn check<'a>(said: &'a Value, name: &str) -> &'a Value {
    let checks = said["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {said}"))
}

fn level(said: &Value, name: &str) -> String {
    string(&check(said, name)["level"])
}

#[track_caller]
fn doctor(project: &Project, args: &[&str], code: i32) -> Value {
    let said = project
        .expect(&[&["doctor", "--json"], args].concat(), code)
        .json();
    assert_eq!(said["ok"], code == 0, "{said}");
    said
}

fn aside(project: &Project) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.file(".heirloom")).unwrap();
    let mut paths: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("heirloom.db.damaged-"))
        .collect();
    paths.sort();
    paths
}

fn count(project: &Project) -> usize {
    project.list("knowledge").len()
}

#[test]
fn a_healthy_memory_passes_every_check() {
    let project = filled();
    let said = doctor(&project, &[], 0);
    for found in said["checks"].as_array().unwrap() {
        assert_eq!(found["level"], "ok", "{found}");
        assert_eq!(found["ok"], true);
    }
    for name in [
        "database",
        "references",
        "rows",
        "version",
        "marker",
        "mirror",
        "copies",
        "permissions",
        "temporary files",
        "disk",
        "clock",
        "config",
    ] {
        check(&said, name);
    }
    let text = project.ok(&["doctor"]).stdout;
    assert!(
        text.contains("ok") && text.contains("400 records"),
        "{text}"
    );
    let again = doctor(&project, &["--repair"], 0);
    assert_eq!(again["repair"]["done"], serde_json::json!([]));
    assert_eq!(again["repair"]["recovered"], Value::Null);
}

/// Every command refuses, nothing is changed, and the hint names both ways out.
#[track_caller]
fn refused(project: &Project) {
    let before = fs::read(project.file(DATABASE)).unwrap();
    let commands: [&[&str]; 7] = [
        &["list"],
        &["status"],
        &["context"],
        &["remember", "x"],
        &["export", "--format", "jsonl"],
        &["backup", "copy.db"],
        &["task", "set", "7"],
    ];
    for command in commands {
        let answer: Answer = project.expect(&[command, &["--json"]].concat(), 1);
        let hint = string(&answer.error()["hint"]);
        assert!(
            hint.contains("heirloom doctor --repair") && hint.contains("heirloom restore FILE"),
            "{hint}"
        );
    }
    assert!(fs::read(project.file(DATABASE)).unwrap() == before);
    let said = doctor(project, &[], 1);
    assert_eq!(level(&said, "database"), "bad");
    assert!(fs::read(project.file(DATABASE)).unwrap() == before);
    assert_eq!(aside(project), Vec::<PathBuf>::new());
}

#[test]
fn a_lost_header_is_refused_by_all_and_repaired_whole() {
    for garbage in [vec![0; 100], vec![0x5a; 4_096]] {
        let project = filled();
        overwrite(&project, 0, &garbage);
        refused(&project);
        let damaged = fs::read(project.file(DATABASE)).unwrap();
        let said = doctor(&project, &["--repair"], 0);
        assert_eq!(
            said["repair"]["recovered"]["rows"]["records"], 400,
            "{said}"
        );
        assert_eq!(
            said["repair"]["recovered"]["renamed"],
            serde_json::json!([])
        );
        let kept = aside(&project);
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert!(fs::read(&kept[0]).unwrap() == damaged);
        assert_eq!(mode(&kept[0]), 0o600);
        assert_eq!(count(&project), 400);
        project.remember("and on", &[]);
        doctor(&project, &[], 0);
    }
}

#[test]
fn garbage_in_the_middle_costs_what_it_covers() {
    let project = filled();
    let size = fs::metadata(project.file(DATABASE)).unwrap().len();
    overwrite(&project, size / 2, &[0x77; 4_096]);
    let damaged = fs::read(project.file(DATABASE)).unwrap();
    let said = doctor(&project, &[], 1);
    assert_eq!(level(&said, "database"), "bad");
    let said = doctor(&project, &["--repair"], 0);
    let left = count(&project);
    // A page holds about twenty of them.
    assert!((350..=400).contains(&left), "{left}: {said}");
    if let [kept] = aside(&project).as_slice() {
        assert!(fs::read(kept).unwrap() == damaged);
        assert_eq!(said["repair"]["recovered"]["rows"]["records"], left);
    } else {
        // The page was an index's.
        assert_eq!(left, 400);
    }
}

#[test]
fn a_file_that_was_cut_gives_what_is_left() {
    let project = filled();
    let file = OpenOptions::new()
        .write(true)
        .open(project.file(DATABASE))
        .unwrap();
    let size = file.metadata().unwrap().len();
    file.set_len(size * 2 / 3 + 100).unwrap();
    drop(file);
    refused(&project);
    let text = project.ok(&["doctor", "--repair"]).stdout;
    assert!(
        text.contains("recovered") && text.contains("damaged-"),
        "{text}"
    );
    assert!(count(&project) > 100);
}

#[test]
fn what_cannot_be_read_at_all_stays_as_it_is() {
    let project = Project::new();
    for content in [&b""[..], &[0; 40_000], b"not a database"] {
        fs::remove_file(project.file(DATABASE)).unwrap();
        project.folder.write(DATABASE, content).unwrap();
        fs::set_permissions(project.file(DATABASE), Permissions::from_mode(0o600)).unwrap();
        refused(&project);
        let said = doctor(&project, &["--repair"], 1);
        assert_eq!(
            said["repair"]["failed"].as_array().unwrap().len(),
            1,
            "{said}"
        );
        assert!(fs::read(project.file(DATABASE)).unwrap() == content);
        assert_eq!(aside(&project), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_missing_store_is_bad_and_never_made_anew() {
    let project = filled();
    fs::remove_file(project.file(DATABASE)).unwrap();
    let said = doctor(&project, &[], 1);
    assert_eq!(
        (level(&said, "database"), level(&said, "marker")),
        ("bad".to_owned(), "bad".to_owned())
    );
    let hint = string(&check(&said, "database")["hint"]);
    assert!(
        hint.contains("heirloom restore FILE") && hint.contains("store.json"),
        "{hint}"
    );
    doctor(&project, &["--repair"], 1);
    assert!(!project.file(DATABASE).exists());
    // Without the marker it is a fresh clone.
    fs::remove_file(project.file(".heirloom/store.json")).unwrap();
    doctor(&project, &[], 0);
    assert!(!project.file(DATABASE).exists());
}

#[test]
fn a_newer_store_is_named_and_left() {
    let project = filled();
    overwrite(&project, 60, &99_u32.to_be_bytes());
    let before = fs::read(project.file(DATABASE)).unwrap();
    let said = doctor(&project, &["--repair"], 1);
    let message = string(&check(&said, "version")["message"]);
    assert!(message.contains("99"), "{message}");
    assert!(fs::read(project.file(DATABASE)).unwrap() == before);
}

#[test]
fn permissions_are_tightened() {
    let project = filled();
    let folder = project.file(".heirloom");
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    let said = doctor(&project, &[], 0);
    assert_eq!(level(&said, "permissions"), "warn");
    for name in ["heirloom.db", "store.json"] {
        fs::set_permissions(folder.join(name), Permissions::from_mode(0o644)).unwrap();
    }
    let said = doctor(&project, &[], 1);
    let message = string(&check(&said, "permissions")["message"]);
    assert!(
        message.contains("heirloom.db") && message.contains("store.json"),
        "{message}"
    );
    doctor(&project, &["--repair"], 0);
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("heirloom.db")), 0o600);
    assert_eq!(mode(&folder.join("store.json")), 0o600);
}

#[test]
fn links_that_lead_out_are_told_and_left() {
    let project = filled();
    project.folder.write("outside.txt", "theirs").unwrap();
    let link = project.file(".heirloom/memory.json");
    symlink(project.file("outside.txt"), &link).unwrap();
    let said = doctor(&project, &[], 1);
    let message = string(&check(&said, "permissions")["message"]);
    assert!(message.contains("memory.json"), "{message}");
    doctor(&project, &["--repair"], 1);
    assert_eq!(project.folder.read("outside.txt").unwrap(), "theirs");
    assert!(link.symlink_metadata().unwrap().is_symlink());
    fs::remove_file(&link).unwrap();
    doctor(&project, &[], 0);
}

#[test]
fn what_a_killed_write_left_is_removed_when_it_is_old() {
    let project = filled();
    let left = project.file(".heirloom/.heirloom.db.Ab12zZ.tmp");
    let theirs = project.file(".heirloom/.notes.tmp");
    for path in [&left, &theirs] {
        File::create_new(path).unwrap();
    }
    assert_eq!(
        level(&doctor(&project, &["--repair"], 0), "permissions"),
        "ok"
    );
    assert!(left.exists(), "a write may be at it");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for path in [&left, &theirs] {
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    }
    assert_eq!(level(&doctor(&project, &[], 0), "temporary files"), "warn");
    doctor(&project, &["--repair"], 0);
    assert!(!left.exists() && theirs.exists());
}

#[test]
fn a_temporary_file_is_left_over_after_so_many_seconds() {
    let mut project = filled();
    project.at("2026-05-01T00:00:00Z");
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_777_593_600);
    let left = project.file(".heirloom/.heirloom.db.Ab12zZ.tmp");
    let file = File::create_new(&left).unwrap();
    fs::set_permissions(&left, Permissions::from_mode(0o600)).unwrap();
    let age = Duration::from_secs(LEFT_OVER_S_MIN.unsigned_abs());
    file.set_modified(now - age).unwrap();
    let name = "temporary files";
    assert_eq!(level(&doctor(&project, &["--repair"], 0), name), "ok");
    assert!(left.exists());
    file.set_modified(now - age - Duration::from_secs(1))
        .unwrap();
    assert_eq!(level(&doctor(&project, &[], 0), name), "warn");
    doctor(&project, &["--repair"], 0);
    assert!(!left.exists());
}

#[test]
fn of_many_findings_the_first_are_shown_and_the_rest_counted() {
    let project = filled();
    let message = |numbers: std::ops::Range<usize>| {
        for n in numbers {
            let path = project.file(&format!(".heirloom/memory.json.{n:02}"));
            File::create_new(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        }
        let said = doctor(&project, &[], 1);
        string(&check(&said, "permissions")["message"])
    };
    let all = message(0..FINDINGS_SHOWN_MAX);
    assert_eq!(all.matches("has mode 644").count(), FINDINGS_SHOWN_MAX);
    assert!(!all.contains("more"), "{all}");
    let cut = message(FINDINGS_SHOWN_MAX..FINDINGS_SHOWN_MAX + 2);
    assert_eq!(cut, format!("{all}; and 2 more"));
}

#[test]
fn a_folder_with_too_much_in_it_is_told() {
    let project = filled();
    let folder = project.file(".heirloom");
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    fs::create_dir(folder.join("many")).unwrap();
    // What `init` makes: the folders, and what is in them.
    let inside = |folder: &Path| fs::read_dir(folder).unwrap().count();
    let made = ["", "workspace", "workspace/.learnings"];
    let here: usize = made.iter().map(|made| inside(&folder.join(made))).sum();
    let mut first = PathBuf::new();
    for n in here..FOLDER_ENTRIES_MAX {
        let path = folder.join(format!("many/{n}"));
        // Another name of a file is made much faster than a file; one file takes only so many names.
        if (n - here).is_multiple_of(10_000) {
            File::create_new(&path).unwrap();
            first = path;
        } else {
            fs::hard_link(&first, path).unwrap();
        }
    }
    assert_eq!(level(&doctor(&project, &[], 0), "permissions"), "ok");
    File::create_new(folder.join("many/one-more")).unwrap();
    let said = doctor(&project, &[], 0);
    assert_eq!(level(&said, "permissions"), "warn");
    let message = string(&check(&said, "permissions")["message"]);
    assert!(
        message.contains(&FOLDER_ENTRIES_MAX.to_string()),
        "{message}"
    );
}

#[test]
fn a_broken_mirror_is_set_aside_and_written_again() {
    let project = Project::new();
    project.ok(&[
        "run",
        "--iterations",
        "1",
        "--",
        "sh",
        "-c",
        "echo 'HEIRLOOM_MEMORY: KEY_FACT one'",
    ]);
    assert_eq!(level(&doctor(&project, &[], 0), "mirror"), "ok");
    let whole = project.folder.read(".heirloom/memory.json").unwrap();
    project
        .folder
        .write(".heirloom/memory.json", "{\"cut")
        .unwrap();
    fs::set_permissions(
        project.file(".heirloom/memory.json"),
        Permissions::from_mode(0o600),
    )
    .unwrap();
    assert_eq!(level(&doctor(&project, &[], 1), "mirror"), "bad");
    doctor(&project, &["--repair"], 0);
    assert!(
        project
            .folder
            .read(".heirloom/memory.json")
            .unwrap()
            .contains("\"one\"")
    );
    let entries = fs::read_dir(project.file(".heirloom")).unwrap();
    let corrupt = entries
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("memory.json.corrupt-"));
    assert_eq!(fs::read_to_string(corrupt.unwrap()).unwrap(), "{\"cut");
    // One that says something else is no damage.
    let other = whole.replace("\"one\"", "\"two\"");
    assert_ne!(other, whole);
    project
        .folder
        .write(".heirloom/memory.json", &other)
        .unwrap();
    fs::set_permissions(
        project.file(".heirloom/memory.json"),
        Permissions::from_mode(0o600),
    )
    .unwrap();
    assert_eq!(level(&doctor(&project, &[], 0), "mirror"), "warn");
    doctor(&project, &["--repair"], 0);
    assert_eq!(level(&doctor(&project, &[], 0), "mirror"), "ok");
}

#[test]
fn old_copies_go_after_thirty_days() {
    let mut project = Project::new();
    project.at("2026-05-01T00:00:00Z");
    project.remember("one", &[]);
    project.ok(&["backup", "copy.db"]);
    project.ok(&["restore", "copy.db"]);
    let copy = project.file(".heirloom/heirloom.db.before-restore-20260501T000000Z");
    let message = string(&check(&doctor(&project, &[], 0), "copies")["message"]);
    assert!(message.contains(copy.to_str().unwrap()), "{message}");
    project.at("2026-05-31T00:00:00Z");
    assert_eq!(level(&doctor(&project, &["--repair"], 0), "copies"), "ok");
    assert!(copy.exists());
    project.at("2026-05-31T00:00:01Z");
    assert_eq!(level(&doctor(&project, &[], 0), "copies"), "warn");
    doctor(&project, &["--repair"], 0);
    assert!(!copy.exists());
}

#[test]
fn a_clock_that_is_wrong_is_told() {
    let mut project = Project::new();
    project.at("2026-05-01T00:00:00Z");
    project.remember("one", &[]);
    project.at("2026-04-30T23:56:00Z");
    assert_eq!(level(&doctor(&project, &[], 0), "clock"), "ok");
    project.at("2026-04-30T00:00:00Z");
    assert_eq!(level(&doctor(&project, &[], 0), "clock"), "warn");
    project.at("1970-01-02T00:00:00Z");
    assert_eq!(level(&doctor(&project, &[], 0), "clock"), "warn");
}

#[test]
fn a_clock_may_be_behind_by_so_many_seconds() {
    let mut project = Project::new();
    let at = |second: i64| {
        let time = heirloom_model::Timestamp::from_second(second);
        time.unwrap().to_string()
    };
    let written_s = 1_777_593_600;
    project.at(&at(written_s));
    project.remember("one", &[]);
    project.at(&at(written_s - CLOCK_AHEAD_S_MAX));
    assert_eq!(level(&doctor(&project, &[], 0), "clock"), "ok");
    project.at(&at(written_s - CLOCK_AHEAD_S_MAX - 1));
    let said = doctor(&project, &[], 0);
    assert_eq!(level(&said, "clock"), "warn");
    let message = string(&check(&said, "clock")["message"]);
    let ahead_s = (CLOCK_AHEAD_S_MAX + 1).to_string();
    assert!(message.contains(&ahead_s), "{message}");
}

#[test]
fn settings_that_cannot_be_read_are_told() {
    let project = filled();
    project.configure("\n[memroy]\nx = 1\n");
    let said = doctor(&project, &[], 0);
    assert_eq!(level(&said, "config"), "warn");
    project
        .folder
        .write(".heirloom/config.toml", "[memory\n")
        .unwrap();
    project.expect(&["list"], 2);
    let said = doctor(&project, &[], 1);
    assert_eq!(level(&said, "config"), "bad");
    assert_eq!(level(&said, "database"), "ok");
}

#[test]
fn a_marker_that_is_gone_is_written_again() {
    let project = filled();
    let marker = project.file(".heirloom/store.json");
    fs::remove_file(&marker).unwrap();
    assert_eq!(level(&doctor(&project, &[], 0), "marker"), "warn");
    doctor(&project, &["--repair"], 0);
    assert!(marker.exists());
}
