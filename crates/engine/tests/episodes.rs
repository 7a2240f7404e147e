//! Episodes, artifacts, shared context and working memory over a real store and real files.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]
#![expect(
    clippy::disallowed_methods,
    reason = "the files are a test's own, and need not survive a crash"
)]

use heirloom_engine::places::{FileDigest, Place};
use heirloom_engine::working::WorkingMemory;
use heirloom_engine::{
    ArtifactFilter, ArtifactStatus, ContextRequest, Doctor, Engine, EpisodeFilter, Filter,
    NewArtifact, NewEpisode, Remover, Selection, SharedFile,
};
use heirloom_model::kinds::{ArtifactType, EpisodeAction};
use heirloom_model::limits::{
    ARTIFACT_BYTES_MAX, CONTEXT_ARTIFACTS_MAX, CONTEXT_EPISODES_MAX, DESCRIPTION_BYTES_MAX,
    DIAGNOSTICS_MAX, EPISODE_TEXT_BYTES_MAX, EPISODES_KEPT_DAYS_DEFAULT, PAGE_RECORDS,
};
use heirloom_model::settings::RetentionSettings;
use heirloom_model::{
    AgentStatus, Budget, Clock, ErrorKind, Fault, Kind, Outcome, ProjectName, Record, Scope,
    Settings, Timestamp, clock,
};
use heirloom_store::SqliteStore;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// 2026-05-01T10:00:00Z, in seconds.
const BEGINNING: i64 = 1_777_629_600;
const DAY_S: i64 = 86_400;

#[derive(Debug)]
struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        clock::from_micros(self.0.load(Ordering::SeqCst) * 1_000_000)
    }
}

struct Desk {
    engine: Engine,
    hand: Arc<HandClock>,
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self::with(Settings::default())
    }

    fn with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hand = Arc::new(HandClock(AtomicI64::new(BEGINNING)));
        let place = Place {
            root: folder.path().to_owned(),
            folder: folder.path().join(".heirloom"),
            config: folder.path().join(".heirloom/config.toml"),
        };
        fs::create_dir(&place.folder).unwrap();
        let store = Arc::new(SqliteStore::memory().unwrap());
        let name = ProjectName::new("p").unwrap();
        let engine = Engine::new(store, name, place, settings, hand.clone()).unwrap();
        Self {
            engine,
            hand,
            folder,
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn pass(&self, seconds: i64) {
        self.hand.0.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Logs a try a second after the one before.
    fn log(&self, task: &str, action: EpisodeAction, approach: &str) {
        self.pass(1);
        let mut new = NewEpisode::of(task, action);
        new.approach = Some(approach.to_owned());
        self.engine.log_episode(new).unwrap();
    }

    fn episodes(&self) -> Vec<Record> {
        self.engine.episodes(&EpisodeFilter::default()).unwrap()
    }

    fn artifact(&self, path: &str) -> Result<(), Fault> {
        self.engine.add_artifact(&artifact(path)).map(drop)
    }

    fn statuses(&self) -> Vec<(String, ArtifactStatus)> {
        let verified = self.engine.verify_artifacts(&ArtifactFilter::default());
        let said = verified.unwrap().into_iter();
        let mut said: Vec<_> = said.map(|one| (one.record.text, one.status)).collect();
        said.sort_by(|a, b| a.0.cmp(&b.0));
        said
    }

    fn context(&self, task: &str) -> String {
        let request = ContextRequest {
            task: Some(task.to_owned()),
            budget: Some(Budget::Chars(1_000_000)),
            ..ContextRequest::default()
        };
        self.engine.context(&request).unwrap().text
    }
}

fn artifact(path: &str) -> NewArtifact {
    NewArtifact {
        path: path.to_owned(),
        scope: Scope {
            agent: Some("codex".to_owned()),
            ..Scope::of_task("1")
        },
        artifact_type: ArtifactType::Test,
        description: None,
        digest: None,
    }
}

fn texts(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.text.as_str()).collect()
}

#[track_caller]
fn refused<T: std::fmt::Debug>(done: Result<T, Fault>, kind: ErrorKind, said: &str) {
    let fault = done.unwrap_err();
    assert_eq!(fault.kind, kind, "{fault}");
    assert!(fault.message.contains(said), "{fault}");
}

#[test]
fn an_iteration_leaves_one_episode() {
    let desk = Desk::new();
    let scope = Scope {
        iteration: Some(2),
        agent: Some("codex".to_owned()),
        ..Scope::of_task("1")
    };
    let tell = |outcome: &Outcome| {
        desk.pass(1);
        desk.engine
            .record_outcome(&scope, outcome, "codex")
            .unwrap();
    };
    let mut failed = Outcome::of(AgentStatus::Failed);
    failed.error = Some("no access".to_owned());
    failed.duration_ms = Some(5);
    tell(&failed);
    tell(&failed);
    let found = desk.episodes();
    assert_eq!(texts(&found), ["iteration 2 of 1 failed: no access"]);
    assert_eq!(found[0].attr_str("action"), Some("failed"));
    assert_eq!(found[0].attr_str("outcome"), Some("no access"));
    assert_eq!(found[0].attrs["duration_ms"], 5);
    tell(&Outcome::of(AgentStatus::Complete));
    assert_eq!(texts(&desk.episodes()), ["iteration 2 of 1 completed"]);
    for (status, success, action) in [
        (AgentStatus::Blocked, false, "failed"),
        (AgentStatus::Partial, true, "attempted"),
        (AgentStatus::Partial, false, "attempted"),
        (AgentStatus::Complete, false, "failed"),
    ] {
        let mut outcome = Outcome::of(status);
        outcome.success = success;
        tell(&outcome);
        assert_eq!(desk.episodes()[0].attr_str("action"), Some(action));
        assert_eq!(desk.episodes().len(), 1);
    }
    // Without an iteration nobody can tell whether it is the same one.
    let no_number = Scope::of_task("1");
    for _ in 0..2 {
        let outcome = Outcome::of(AgentStatus::Complete);
        desk.engine
            .record_outcome(&no_number, &outcome, "codex")
            .unwrap();
    }
    assert_eq!(desk.episodes().len(), 3);
}

#[test]
fn an_iteration_is_remembered_by_its_approach() {
    let desk = Desk::new();
    let scope = Scope {
        iteration: Some(2),
        ..Scope::of_task("1")
    };
    let mut failed = Outcome::of(AgentStatus::Failed);
    failed.approach = Some(" patch the parser by hand ".to_owned());
    failed.error = Some("tests broke".to_owned());
    let tell = |outcome: &Outcome| desk.engine.record_outcome(&scope, outcome, "codex");
    tell(&failed).unwrap();
    let found = desk.episodes();
    let words = "patch the parser by hand: iteration 2 of 1 failed: tests broke";
    assert_eq!(texts(&found), [words]);
    let approach = Some("patch the parser by hand");
    assert_eq!(found[0].attr_str("approach"), approach);
    assert!(desk.engine.tried("patch parser", None).unwrap().failed);
    failed.approach = Some("x".repeat(EPISODE_TEXT_BYTES_MAX + 1));
    refused(tell(&failed), ErrorKind::Usage, "the approach has");
    assert_eq!(desk.episodes().len(), 1);
}

#[test]
fn texts_of_an_episode_have_a_cap() {
    let desk = Desk::new();
    let most = "x".repeat(EPISODE_TEXT_BYTES_MAX);
    let mut new = NewEpisode::of("1", EpisodeAction::Failed);
    new.approach = Some(most.clone());
    new.outcome = Some(most.clone());
    desk.engine.log_episode(new.clone()).unwrap();
    let over = EPISODE_TEXT_BYTES_MAX + 1;
    new.outcome = Some(format!("{most}x"));
    let said = format!("the outcome has {over} bytes");
    refused(desk.engine.log_episode(new), ErrorKind::Usage, &said);
    assert_eq!(desk.episodes().len(), 1);
    let nowhere = NewEpisode {
        scope: Scope::default(),
        ..NewEpisode::of("1", EpisodeAction::Failed)
    };
    refused(
        desk.engine.log_episode(nowhere),
        ErrorKind::Usage,
        "no task",
    );
}

#[test]
fn a_list_of_episodes_may_be_longer_than_a_page() {
    let desk = Desk::new();
    for n in 0..=PAGE_RECORDS {
        let action = if n == 0 {
            EpisodeAction::Retried
        } else {
            EpisodeAction::Attempted
        };
        desk.log("1", action, &n.to_string());
    }
    assert_eq!(desk.episodes().len(), PAGE_RECORDS + 1);
    let oldest = desk.engine.episodes(&EpisodeFilter {
        action: Some(EpisodeAction::Retried),
        ..EpisodeFilter::default()
    });
    assert_eq!(texts(&oldest.unwrap()), ["0"]);
    let none = desk.engine.episodes(&EpisodeFilter {
        limit: Some(0),
        ..EpisodeFilter::default()
    });
    assert_eq!(none.unwrap(), []);
    assert_eq!(
        desk.engine.analytics(None).unwrap().by_week[0].attempts,
        PAGE_RECORDS + 1
    );
}

#[test]
fn old_episodes_go_but_for_lessons() {
    let desk = Desk::new();
    desk.log("1", EpisodeAction::Failed, "a lesson");
    desk.log("2", EpisodeAction::Failed, "made up for");
    desk.log("2", EpisodeAction::Completed, "worked");
    desk.log("2", EpisodeAction::Failed, "later lesson");
    desk.log("1", EpisodeAction::Attempted, "who knows");
    let kept_s = i64::from(EPISODES_KEPT_DAYS_DEFAULT) * DAY_S;
    // The oldest one that goes is three seconds older than the newest.
    desk.pass(kept_s - 3);
    assert_eq!(desk.engine.prunable(None).unwrap().episodes, []);
    desk.pass(4);
    let report = desk.engine.prune(None).unwrap();
    assert_eq!(report.episodes.len(), 3);
    assert_eq!(texts(&desk.episodes()), ["later lesson", "a lesson"]);
    desk.engine.undo(report.episodes[0]).unwrap();
    assert_eq!(desk.episodes().len(), 3);
    // What a run does after each iteration is about entries only.
    desk.engine.save_mirror(None).unwrap();
    assert_eq!(desk.episodes().len(), 3);
}

#[test]
fn what_is_kept_for_good_stays() {
    let retention = RetentionSettings {
        episodes_days: 0,
        artifacts_days: 1,
    };
    let desk = Desk::with(Settings {
        retention,
        ..Settings::default()
    });
    desk.log("1", EpisodeAction::Completed, "x");
    desk.write("a.rs", "x");
    desk.artifact("a.rs").unwrap();
    desk.pass(DAY_S);
    assert_eq!(desk.engine.prunable(None).unwrap().artifacts, []);
    desk.pass(1);
    assert_eq!(desk.engine.prune(None).unwrap().artifacts.len(), 1);
    assert_eq!(desk.statuses(), []);
    assert!(desk.file("a.rs").exists());
    desk.pass(100 * 365 * DAY_S);
    assert_eq!(desk.engine.prunable(None).unwrap().episodes, []);
}

#[test]
fn a_file_is_unchanged_changed_or_missing() {
    use ArtifactStatus::{Changed, Missing, Unchanged, Unknown};
    let desk = Desk::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        desk.write(name, "one");
        desk.artifact(name).unwrap();
    }
    let mut modified = Outcome::of(AgentStatus::Partial);
    modified.files = vec!["a".to_owned(), "modified".to_owned()];
    let scope = Scope::of_task("1");
    desk.engine
        .record_outcome(&scope, &modified, "codex")
        .unwrap();
    desk.write("b", "two");
    desk.write("c", "longer");
    fs::remove_file(desk.file("d")).unwrap();
    fs::remove_file(desk.file("e")).unwrap();
    fs::create_dir(desk.file("e")).unwrap();
    fs::remove_file(desk.file("f")).unwrap();
    symlink("/etc/passwd", desk.file("f")).unwrap();
    let expect = [
        ("a", Unchanged),
        ("b", Changed),
        ("c", Changed),
        ("d", Missing),
        ("e", Changed),
        ("f", Changed),
        ("modified", Unknown),
    ];
    assert_eq!(
        desk.statuses(),
        expect.map(|(name, status)| (name.to_owned(), status))
    );
}

#[test]
fn a_file_that_cannot_be_registered_is_refused() {
    let desk = Desk::new();
    desk.write("a.rs", "x");
    fs::create_dir(desk.file("folder")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x"), "x").unwrap();
    symlink(outside.path(), desk.file("out")).unwrap();
    let absolute = outside.path().join("x").display().to_string();
    for path in ["../x", "a/../../x", &absolute, "out/x", "", ".", "~/x"] {
        refused(desk.artifact(path), ErrorKind::Refused, "artifact `");
    }
    refused(desk.artifact("folder"), ErrorKind::Usage, "no file");
    refused(desk.artifact("b.rs"), ErrorKind::NotFound, "no such file");
    let huge = fs::File::create(desk.file("huge")).unwrap();
    huge.set_len(ARTIFACT_BYTES_MAX + 1).unwrap();
    let said = format!("{} bytes", ARTIFACT_BYTES_MAX + 1);
    refused(desk.artifact("huge"), ErrorKind::Usage, &said);
    let no_task = NewArtifact {
        scope: Scope::default(),
        ..artifact("a.rs")
    };
    refused(
        desk.engine.add_artifact(&no_task),
        ErrorKind::Usage,
        "no task",
    );
    let words = |bytes: usize| NewArtifact {
        description: Some("x".repeat(bytes)),
        ..artifact("a.rs")
    };
    refused(
        desk.engine.add_artifact(&words(DESCRIPTION_BYTES_MAX + 1)),
        ErrorKind::Usage,
        "the description has",
    );
    assert_eq!(desk.statuses(), []);
    let inside = desk.file("a.rs").display().to_string();
    desk.artifact(&inside).unwrap();
    let most = words(DESCRIPTION_BYTES_MAX);
    desk.engine.add_artifact(&most).unwrap();
    assert_eq!(desk.statuses().len(), 1, "one for a path in a task");
}

#[test]
fn a_producer_may_say_what_its_file_is() {
    let desk = Desk::new();
    let digest = |checksum: &str| NewArtifact {
        digest: Some(FileDigest {
            size_bytes: 3,
            checksum: checksum.to_owned(),
        }),
        ..artifact("made/elsewhere.rs")
    };
    for bad in ["", "abc", &"g".repeat(64), &"a".repeat(65)] {
        refused(
            desk.engine.add_artifact(&digest(bad)),
            ErrorKind::Usage,
            "no SHA-256",
        );
    }
    let abc = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
    desk.engine.add_artifact(&digest(abc)).unwrap();
    assert_eq!(desk.statuses()[0].1, ArtifactStatus::Missing);
    desk.write("made/elsewhere.rs", "abc");
    assert_eq!(desk.statuses()[0].1, ArtifactStatus::Unchanged);
    desk.write("made/elsewhere.rs", "abd");
    assert_eq!(desk.statuses()[0].1, ArtifactStatus::Changed);
}

#[test]
fn only_the_producer_and_people_remove_an_artifact() {
    let desk = Desk::new();
    desk.write("a.rs", "x");
    let add = || {
        desk.engine.add_artifact(&artifact("a.rs")).unwrap();
        let found = desk.engine.artifacts(&ArtifactFilter::default()).unwrap();
        found[0].id
    };
    let agent = |name: &str| Remover::Agent(name.to_owned());
    for by in [agent("claude"), agent("user"), agent("")] {
        let removed = desk.engine.remove_artifact(add(), &by);
        refused(removed, ErrorKind::Refused, "was registered by codex");
    }
    for by in [agent("codex"), Remover::User, Remover::Orchestrator] {
        let id = add();
        desk.engine.remove_artifact(id, &by).unwrap();
        assert_eq!(desk.statuses(), []);
        assert!(desk.file("a.rs").exists());
        let again = desk.engine.remove_artifact(id, &by);
        refused(again, ErrorKind::Failed, "");
    }
    desk.log("1", EpisodeAction::Failed, "x");
    let episode = desk.episodes()[0].id;
    refused(
        desk.engine.remove_artifact(episode, &Remover::User),
        ErrorKind::NotFound,
        "not an artifact",
    );
}

#[test]
fn a_context_considers_so_many_episodes_and_artifacts() {
    let desk = Desk::new();
    let digest = Some(FileDigest {
        size_bytes: 1,
        checksum: "ab".repeat(32),
    });
    for n in 0..=CONTEXT_EPISODES_MAX {
        desk.log("1", EpisodeAction::Failed, &format!("approach {n}"));
    }
    for n in 0..=CONTEXT_ARTIFACTS_MAX {
        desk.pass(1);
        let new = NewArtifact {
            digest: digest.clone(),
            ..artifact(&format!("f{n}"))
        };
        desk.engine.add_artifact(&new).unwrap();
    }
    let text = desk.context("1");
    assert!(text.contains("\n- Failed: approach 1\n") && !text.contains("approach 0\n"));
    assert!(text.contains("\n- f1 (test)\n") && !text.contains("- f0 (test)\n"));
    assert!(!desk.context("2").contains("approach"));
}

#[test]
fn shared_context_is_one_import() {
    let desk = Desk::new();
    let file = |path: &str, text: &str| SharedFile {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let files = [
        file(
            "a.md",
            "# Conventions\n## Indent\n- tabs\n# Facts\n- API_TOKEN=8f14e45fceea167a5a36dedd4bea2543\n",
        ),
        file("b.md", "words\n# Conventions\n## Indent\n- blanks\n"),
    ];
    let report = desk.engine.import_shared(&files, "shared docs").unwrap();
    assert_eq!((report.created, report.known), (2, 1));
    let told: Vec<_> = report.diagnostics.iter().map(|d| &d.message).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("b.md:1: 1 paragraphs"), "{told:?}");
    assert!(
        told[1].starts_with("b.md:4: `convention/indent` stays"),
        "{told:?}"
    );
    let knowledge = || {
        let filter = Filter::current(&[Kind::Knowledge], desk.engine.now());
        desk.engine.find(&filter).unwrap()
    };
    let found = knowledge();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|record| !record.text.contains("8f14e4")));
    assert!(found.iter().all(|record| record.source == "import"));
    let again = desk.engine.import_shared(&files, "shared docs").unwrap();
    assert_eq!((again.created, again.known, again.batch), (0, 3, None));
    assert_eq!(knowledge(), found);
    desk.engine.undo(report.batch.unwrap()).unwrap();
    assert_eq!(knowledge(), []);
    let clash = "# a\n## b\n- x\n# A\n";
    let many: Vec<_> = (0..=DIAGNOSTICS_MAX)
        .map(|n| file("c.md", &format!("{clash}## b\n- {n}\n\nwords\n")))
        .collect();
    let report = desk.engine.import_shared(&many, "shared c").unwrap();
    assert_eq!(report.diagnostics.len(), DIAGNOSTICS_MAX + 1);
}

fn working(desk: &Desk, agent: &str, session: &str, note: &str) -> WorkingMemory {
    let now = desk.engine.now();
    let mut memory = WorkingMemory::new(agent, session, now).unwrap();
    memory.note(note, now).unwrap();
    memory
}

fn kept(desk: &Desk) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(desk.file(".heirloom/working")) else {
        return Vec::new();
    };
    found.map(|entry| entry.unwrap().path()).collect()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_working_memory_comes_back_once_and_to_its_agent_only() {
    let desk = Desk::new();
    let memory = working(&desk, "codex", "s1", "line 3");
    desk.engine.keep_working(&memory).unwrap();
    let files = kept(&desk);
    assert_eq!(files.len(), 1);
    assert_eq!(mode(&files[0]), 0o600);
    assert_eq!(mode(&desk.file(".heirloom/working")), 0o700);
    for (agent, session) in [("claude", "s1"), ("codex", "s2"), ("s1", "codex")] {
        assert_eq!(desk.engine.take_working(agent, session).unwrap(), None);
    }
    let taken = desk.engine.take_working("codex", "s1").unwrap();
    assert_eq!(taken, Some(memory));
    assert_eq!(desk.engine.take_working("codex", "s1").unwrap(), None);
    assert_eq!(kept(&desk), Vec::<PathBuf>::new());
}

#[test]
fn a_kept_working_memory_has_no_secrets() {
    let desk = Desk::new();
    let secret = "ghp_R7xK2mQ9vT4bW8nZ3cY6pL1sD5fG0hJ8kA2e";
    let memory = working(&desk, secret, "s1", &format!("use {secret}"));
    desk.engine.keep_working(&memory).unwrap();
    let text = fs::read_to_string(&kept(&desk)[0]).unwrap();
    assert!(!text.contains("ghp_R7"), "{text}");
    let taken = desk.engine.take_working(secret, "s1").unwrap().unwrap();
    assert!(taken.scratchpad()[0].starts_with("use [redacted:"));
}

#[test]
fn what_is_no_snapshot_is_told_and_stays() {
    let desk = Desk::new();
    let memory = working(&desk, "codex", "s1", "x");
    desk.engine.keep_working(&memory).unwrap();
    let path = kept(&desk).remove(0);
    let other = working(&desk, "claude", "s1", "y").snapshot().unwrap();
    for bytes in [b"garbage".as_slice(), b"", &other] {
        fs::write(&path, bytes).unwrap();
        let taken = desk.engine.take_working("codex", "s1");
        refused(taken, ErrorKind::Failed, &path.display().to_string());
        assert!(path.exists());
    }
    fs::remove_file(&path).unwrap();
    symlink("/etc/passwd", &path).unwrap();
    assert!(desk.engine.take_working("codex", "s1").is_err());
    assert!(desk.engine.keep_working(&memory).is_err());
    let folder = desk.file(".heirloom/working");
    fs::remove_dir_all(&folder).unwrap();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), &folder).unwrap();
    assert!(desk.engine.keep_working(&memory).is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_purge_takes_working_memories_along() {
    let desk = Desk::new();
    let keep_all = || {
        for (agent, session, note) in [
            ("a", "s1", "the Blue \"note\""),
            ("b", "s1", "x"),
            ("a", "s2", "y"),
        ] {
            let memory = working(&desk, agent, session, note);
            desk.engine.keep_working(&memory).unwrap();
        }
    };
    for (selection, goes) in [
        (Selection::Session("s1".to_owned()), 2),
        (Selection::Containing("blue \"NOTE".to_owned()), 1),
        (Selection::Records(Vec::new()), 0),
        (Selection::Project, 3),
    ] {
        keep_all();
        assert_eq!(desk.engine.purgeable(&selection).unwrap().working, goes);
        assert_eq!(kept(&desk).len(), 3);
        assert_eq!(desk.engine.purge(&selection).unwrap().working, goes);
        assert_eq!(kept(&desk).len(), 3 - goes, "{selection:?}");
    }
    let nobody = Selection::Session("s3".to_owned());
    refused(desk.engine.purge(&nobody), ErrorKind::NotFound, "s3");
}

#[test]
fn memory_that_is_off_keeps_no_working_memory() {
    let desk = Desk::with(Settings {
        enabled: false,
        ..Settings::default()
    });
    let memory = working(&desk, "a", "s", "x");
    refused(desk.engine.keep_working(&memory), ErrorKind::Refused, "off");
    assert_eq!(kept(&desk), Vec::<PathBuf>::new());
}

#[test]
fn doctor_looks_after_kept_working_memories() {
    let desk = Desk::new();
    desk.engine
        .keep_working(&working(&desk, "a", "s", "x"))
        .unwrap();
    let doctor = Doctor {
        place: Place {
            root: desk.folder.path().to_owned(),
            folder: desk.file(".heirloom"),
            config: desk.file(".heirloom/config.toml"),
        },
        project: None,
        settings: Settings::default(),
        clock: desk.hand.clone(),
        config: Vec::new(),
        teller: heirloom_store::Teller::silent(),
        model: None,
    };
    let said = |name: &str| {
        let checks = doctor.examine();
        let check = checks.into_iter().find(|check| check.name == name);
        check.unwrap().message
    };
    let path = kept(&desk).remove(0);
    assert!(!said("permissions").contains("working"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let left = desk.file(".heirloom/working/.x.json.abc123.tmp");
    fs::write(&left, "x").unwrap();
    let shown = path.display().to_string();
    assert!(said("permissions").contains(&shown));
    // By the file's own clock it is of today, by the desk's it may be of tomorrow.
    let today = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let later = i64::try_from(today.unwrap().as_secs()).unwrap() + DAY_S;
    desk.hand.0.store(later, Ordering::SeqCst);
    assert!(said("temporary files").contains(".x.json"));
    doctor.repair();
    assert_eq!(mode(&path), 0o600);
    assert!(!left.exists());
    assert!(path.exists());
}
