//! The command `doctor`: checks and repairs.

use crate::project::{Answer, Project, mode, string};
use heirloom_model::limits::{
    CLOCK_AHEAD_S_MAX, FINDINGS_SHOWN_MAX, FOLDER_ENTRIES_MAX, STALE_TEMP_FILE_S_MIN,
};
use heirloom_testkit::sh;
use serde_json::Value;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DATABASE: &str = ".heirloom/heirloom.db";

/// Creates a project with 400 facts, which fill several pages.
fn filled_project() -> Project {
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

fn find_check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|find_check| find_check["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {report}"))
}

fn check_level(report: &Value, name: &str) -> String {
    string(&find_check(report, name)["level"])
}

#[track_caller]
fn doctor(project: &Project, args: &[&str], code: i32) -> Value {
    let report = project
        .expect(&[&["doctor", "--json"], args].concat(), code)
        .json();
    assert_eq!(report["ok"], code == 0, "{report}");
    report
}

fn damaged_copies(project: &Project) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.file(".heirloom")).unwrap();
    let mut paths: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("heirloom.db.damaged-"))
        .collect();
    paths.sort();
    paths
}

fn fact_count(project: &Project) -> usize {
    project.list("knowledge").len()
}

#[test]
fn doctor_on_a_healthy_store_passes_every_check() {
    let project = filled_project();
    let report = doctor(&project, &[], 0);
    for found in report["checks"].as_array().unwrap() {
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
        find_check(&report, name);
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

/// Fails unless every command refuses, nothing changes, and the hint names both remedies.
#[track_caller]
fn assert_commands_refuse(project: &Project) {
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
    let report = doctor(project, &[], 1);
    assert_eq!(check_level(&report, "database"), "bad");
    assert!(fs::read(project.file(DATABASE)).unwrap() == before);
    assert_eq!(damaged_copies(project), Vec::<PathBuf>::new());
}

#[test]
fn overwritten_header_is_repaired_without_loss() {
    for garbage in [vec![0; 100], vec![0x5a; 4_096]] {
        let project = filled_project();
        overwrite(&project, 0, &garbage);
        assert_commands_refuse(&project);
        let damaged = fs::read(project.file(DATABASE)).unwrap();
        let report = doctor(&project, &["--repair"], 0);
        assert_eq!(
            report["repair"]["recovered"]["rows"]["records"], 400,
            "{report}"
        );
        assert_eq!(
            report["repair"]["recovered"]["renamed"],
            serde_json::json!([])
        );
        let copies = damaged_copies(&project);
        assert_eq!(copies.len(), 1, "{copies:?}");
        assert!(fs::read(&copies[0]).unwrap() == damaged);
        assert_eq!(mode(&copies[0]), 0o600);
        assert_eq!(fact_count(&project), 400);
        project.remember("and on", &[]);
        doctor(&project, &[], 0);
    }
}

#[test]
fn overwritten_page_loses_only_its_own_records() {
    let project = filled_project();
    let size = fs::metadata(project.file(DATABASE)).unwrap().len();
    overwrite(&project, size / 2, &[0x77; 4_096]);
    let damaged = fs::read(project.file(DATABASE)).unwrap();
    let report = doctor(&project, &[], 1);
    assert_eq!(check_level(&report, "database"), "bad");
    let report = doctor(&project, &["--repair"], 0);
    let remaining = fact_count(&project);
    // A page has about twenty records.
    assert!((350..=400).contains(&remaining), "{remaining}: {report}");
    if let [copy] = damaged_copies(&project).as_slice() {
        assert!(fs::read(copy).unwrap() == damaged);
        assert_eq!(report["repair"]["recovered"]["rows"]["records"], remaining);
    } else {
        // The page belonged to an index.
        assert_eq!(remaining, 400);
    }
}

#[test]
fn truncated_database_is_repaired_with_the_remaining_records() {
    let project = filled_project();
    let file = OpenOptions::new()
        .write(true)
        .open(project.file(DATABASE))
        .unwrap();
    let size = file.metadata().unwrap().len();
    file.set_len(size * 2 / 3 + 100).unwrap();
    drop(file);
    assert_commands_refuse(&project);
    let text = project.ok(&["doctor", "--repair"]).stdout;
    assert!(
        text.contains("recovered") && text.contains("damaged-"),
        "{text}"
    );
    assert!(fact_count(&project) > 100);
}

#[test]
fn unreadable_database_is_left_unchanged_by_repair() {
    let project = Project::new();
    for content in [&b""[..], &[0; 40_000], b"not a database"] {
        fs::remove_file(project.file(DATABASE)).unwrap();
        project.folder.write(DATABASE, content).unwrap();
        fs::set_permissions(project.file(DATABASE), Permissions::from_mode(0o600)).unwrap();
        assert_commands_refuse(&project);
        let report = doctor(&project, &["--repair"], 1);
        assert_eq!(
            report["repair"]["failed"].as_array().unwrap().len(),
            1,
            "{report}"
        );
        assert!(fs::read(project.file(DATABASE)).unwrap() == content);
        assert_eq!(damaged_copies(&project), Vec::<PathBuf>::new());
    }
}

#[test]
fn missing_database_is_reported_and_not_recreated() {
    let project = filled_project();
    fs::remove_file(project.file(DATABASE)).unwrap();
    let report = doctor(&project, &[], 1);
    assert_eq!(
        (
            check_level(&report, "database"),
            check_level(&report, "marker")
        ),
        ("bad".to_owned(), "bad".to_owned())
    );
    let hint = string(&find_check(&report, "database")["hint"]);
    assert!(
        hint.contains("heirloom restore FILE") && hint.contains("store.json"),
        "{hint}"
    );
    doctor(&project, &["--repair"], 1);
    assert!(!project.file(DATABASE).exists());
    // Without the marker file the folder is a fresh clone.
    fs::remove_file(project.file(".heirloom/store.json")).unwrap();
    doctor(&project, &[], 0);
    assert!(!project.file(DATABASE).exists());
}

#[test]
fn newer_schema_version_is_reported_and_left_unchanged() {
    let project = filled_project();
    overwrite(&project, 60, &99_u32.to_be_bytes());
    let before = fs::read(project.file(DATABASE)).unwrap();
    let report = doctor(&project, &["--repair"], 1);
    let message = string(&find_check(&report, "version")["message"]);
    assert!(message.contains("99"), "{message}");
    assert!(fs::read(project.file(DATABASE)).unwrap() == before);
}

#[test]
fn repair_tightens_permissions() {
    let project = filled_project();
    let folder = project.file(".heirloom");
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    let report = doctor(&project, &[], 0);
    assert_eq!(check_level(&report, "permissions"), "warn");
    for name in ["heirloom.db", "store.json"] {
        fs::set_permissions(folder.join(name), Permissions::from_mode(0o644)).unwrap();
    }
    let report = doctor(&project, &[], 1);
    let message = string(&find_check(&report, "permissions")["message"]);
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
fn symbolic_link_is_reported_and_left_unchanged() {
    let project = filled_project();
    project.folder.write("outside.txt", "theirs").unwrap();
    let link = project.file(".heirloom/memory.json");
    symlink(project.file("outside.txt"), &link).unwrap();
    let report = doctor(&project, &[], 1);
    let message = string(&find_check(&report, "permissions")["message"]);
    assert!(message.contains("memory.json"), "{message}");
    doctor(&project, &["--repair"], 1);
    assert_eq!(project.folder.read("outside.txt").unwrap(), "theirs");
    assert!(link.symlink_metadata().unwrap().is_symlink());
    fs::remove_file(&link).unwrap();
    doctor(&project, &[], 0);
}

#[test]
fn repair_removes_only_old_temporary_files_of_the_store() {
    let project = filled_project();
    let left_over = project.file(".heirloom/.heirloom.db.Ab12zZ.tmp");
    let theirs = project.file(".heirloom/.notes.tmp");
    for path in [&left_over, &theirs] {
        File::create_new(path).unwrap();
    }
    assert_eq!(
        check_level(&doctor(&project, &["--repair"], 0), "permissions"),
        "ok"
    );
    assert!(left_over.exists(), "a write may be in progress");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for path in [&left_over, &theirs] {
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    }
    assert_eq!(
        check_level(&doctor(&project, &[], 0), "temporary files"),
        "warn"
    );
    doctor(&project, &["--repair"], 0);
    assert!(!left_over.exists() && theirs.exists());
}

#[test]
fn temporary_file_is_removed_only_over_the_age_limit() {
    let mut project = filled_project();
    project.set_clock("2026-05-01T00:00:00Z");
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_777_593_600);
    let left_over = project.file(".heirloom/.heirloom.db.Ab12zZ.tmp");
    let file = File::create_new(&left_over).unwrap();
    fs::set_permissions(&left_over, Permissions::from_mode(0o600)).unwrap();
    let age = Duration::from_secs(STALE_TEMP_FILE_S_MIN.unsigned_abs());
    file.set_modified(now - age).unwrap();
    let name = "temporary files";
    assert_eq!(check_level(&doctor(&project, &["--repair"], 0), name), "ok");
    assert!(left_over.exists());
    file.set_modified(now - age - Duration::from_secs(1))
        .unwrap();
    assert_eq!(check_level(&doctor(&project, &[], 0), name), "warn");
    doctor(&project, &["--repair"], 0);
    assert!(!left_over.exists());
}

#[test]
fn findings_over_the_limit_are_counted() {
    let project = filled_project();
    let message = |numbers: std::ops::Range<usize>| {
        for n in numbers {
            let path = project.file(&format!(".heirloom/memory.json.{n:02}"));
            File::create_new(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        }
        let report = doctor(&project, &[], 1);
        string(&find_check(&report, "permissions")["message"])
    };
    let all = message(0..FINDINGS_SHOWN_MAX);
    assert_eq!(all.matches("has mode 644").count(), FINDINGS_SHOWN_MAX);
    assert!(!all.contains("more"), "{all}");
    let cut = message(FINDINGS_SHOWN_MAX..FINDINGS_SHOWN_MAX + 2);
    assert_eq!(cut, format!("{all}; and 2 more"));
}

#[test]
fn folder_over_the_entry_limit_warns() {
    let project = filled_project();
    let folder = project.file(".heirloom");
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    fs::create_dir(folder.join("many")).unwrap();
    // The folders that `init` creates, and their entries.
    let inside = |folder: &Path| fs::read_dir(folder).unwrap().count();
    let made = ["", "workspace", "workspace/.learnings"];
    let here: usize = made.iter().map(|made| inside(&folder.join(made))).sum();
    let mut first = PathBuf::new();
    for n in here..FOLDER_ENTRIES_MAX {
        let path = folder.join(format!("many/{n}"));
        // A hard link is created much faster than a file; the number of links to one file is limited.
        if (n - here).is_multiple_of(10_000) {
            File::create_new(&path).unwrap();
            first = path;
        } else {
            fs::hard_link(&first, path).unwrap();
        }
    }
    assert_eq!(check_level(&doctor(&project, &[], 0), "permissions"), "ok");
    File::create_new(folder.join("many/one-more")).unwrap();
    let report = doctor(&project, &[], 0);
    assert_eq!(check_level(&report, "permissions"), "warn");
    let message = string(&find_check(&report, "permissions")["message"]);
    assert!(
        message.contains(&FOLDER_ENTRIES_MAX.to_string()),
        "{message}"
    );
}

#[test]
fn repair_renames_a_broken_mirror_and_rewrites_it() {
    let project = Project::new();
    project.ok(&sh(
        r#"run --iterations 1 -- sh -c "echo 'HEIRLOOM_MEMORY: KEY_FACT one'""#,
    ));
    assert_eq!(check_level(&doctor(&project, &[], 0), "mirror"), "ok");
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
    assert_eq!(check_level(&doctor(&project, &[], 1), "mirror"), "bad");
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
    // A mirror with other content is outdated, not damaged.
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
    assert_eq!(check_level(&doctor(&project, &[], 0), "mirror"), "warn");
    doctor(&project, &["--repair"], 0);
    assert_eq!(check_level(&doctor(&project, &[], 0), "mirror"), "ok");
}

#[test]
fn repair_removes_retained_backups_after_thirty_days() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T00:00:00Z");
    project.remember("one", &[]);
    project.ok(&["backup", "copy.db"]);
    project.ok(&["restore", "copy.db"]);
    let copy = project.file(".heirloom/heirloom.db.before-restore-20260501T000000Z");
    let message = string(&find_check(&doctor(&project, &[], 0), "copies")["message"]);
    assert!(message.contains(copy.to_str().unwrap()), "{message}");
    project.set_clock("2026-05-31T00:00:00Z");
    assert_eq!(
        check_level(&doctor(&project, &["--repair"], 0), "copies"),
        "ok"
    );
    assert!(copy.exists());
    project.set_clock("2026-05-31T00:00:01Z");
    assert_eq!(check_level(&doctor(&project, &[], 0), "copies"), "warn");
    doctor(&project, &["--repair"], 0);
    assert!(!copy.exists());
}

#[test]
fn clock_far_behind_the_last_write_warns() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T00:00:00Z");
    project.remember("one", &[]);
    project.set_clock("2026-04-30T23:56:00Z");
    assert_eq!(check_level(&doctor(&project, &[], 0), "clock"), "ok");
    project.set_clock("2026-04-30T00:00:00Z");
    assert_eq!(check_level(&doctor(&project, &[], 0), "clock"), "warn");
    project.set_clock("1970-01-02T00:00:00Z");
    assert_eq!(check_level(&doctor(&project, &[], 0), "clock"), "warn");
}

#[test]
fn clock_behind_within_tolerance_passes_and_beyond_warns() {
    let mut project = Project::new();
    let at = |second: i64| {
        let time = heirloom_model::Timestamp::from_second(second);
        time.unwrap().to_string()
    };
    let written_s = 1_777_593_600;
    project.set_clock(&at(written_s));
    project.remember("one", &[]);
    project.set_clock(&at(written_s - CLOCK_AHEAD_S_MAX));
    assert_eq!(check_level(&doctor(&project, &[], 0), "clock"), "ok");
    project.set_clock(&at(written_s - CLOCK_AHEAD_S_MAX - 1));
    let report = doctor(&project, &[], 0);
    assert_eq!(check_level(&report, "clock"), "warn");
    let message = string(&find_check(&report, "clock")["message"]);
    let ahead_s = (CLOCK_AHEAD_S_MAX + 1).to_string();
    assert!(message.contains(&ahead_s), "{message}");
}

#[test]
fn unknown_config_key_warns_and_invalid_config_fails() {
    let project = filled_project();
    project.configure("\n[memroy]\nx = 1\n");
    let report = doctor(&project, &[], 0);
    assert_eq!(check_level(&report, "config"), "warn");
    project
        .folder
        .write(".heirloom/config.toml", "[memory\n")
        .unwrap();
    project.expect(&["list"], 2);
    let report = doctor(&project, &[], 1);
    assert_eq!(check_level(&report, "config"), "bad");
    assert_eq!(check_level(&report, "database"), "ok");
}

#[test]
fn repair_rewrites_a_missing_marker_file() {
    let project = filled_project();
    let marker = project.file(".heirloom/store.json");
    fs::remove_file(&marker).unwrap();
    assert_eq!(check_level(&doctor(&project, &[], 0), "marker"), "warn");
    doctor(&project, &["--repair"], 0);
    assert!(marker.exists());
}
