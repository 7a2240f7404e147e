//! Tests of episodes, artifacts, shared context and working memory with a real store and real files.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]
#![expect(
    clippy::disallowed_methods,
    reason = "the files are a test's own, and need not survive a crash"
)]

use heirloom_engine::working_memory::WorkingMemory;
use heirloom_engine::{
    ArtifactFilter, ArtifactStatus, ContextRequest, Doctor, Engine, EpisodeFilter, Filter,
    NewArtifact, NewEpisode, PurgeTarget, Remover, SharedFile,
};
use heirloom_fs::project_fs::{FileDigest, ProjectPaths};
use heirloom_model::kinds::{ArtifactType, EpisodeAction};
use heirloom_model::limits::{
    ARTIFACT_BYTES_MAX, CONTEXT_ARTIFACTS_MAX, CONTEXT_EPISODES_MAX, DESCRIPTION_BYTES_MAX,
    DIAGNOSTICS_MAX, EPISODE_TEXT_BYTES_MAX, EPISODES_KEPT_DAYS_DEFAULT, PAGE_RECORDS,
    PRUNE_STEP_RECORDS_MAX,
};
use heirloom_model::settings::RetentionSettings;
use heirloom_model::{
    AgentStatus, Budget, Clock, ErrorKind, Fault, IterationOutcome, Kind, ProjectName, Record,
    Scope, Settings, Timestamp, clock,
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
        let place = ProjectPaths {
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

    /// Logs an attempt one second after the previous one.
    fn log(&self, task: &str, action: EpisodeAction, approach: &str) {
        self.pass(1);
        let mut new = NewEpisode::new(task, action);
        new.approach = Some(approach.to_owned());
        // What a person logged has no age.
        new.source = Some("coder".to_owned());
        self.engine.tasks().log_episode(new).unwrap();
    }

    fn episodes(&self) -> Vec<Record> {
        self.engine
            .tasks()
            .episodes(&EpisodeFilter::default())
            .unwrap()
    }

    fn artifact(&self, path: &str) -> Result<(), Fault> {
        self.engine.artifacts().add(&artifact(path)).map(drop)
    }

    fn statuses(&self) -> Vec<(String, ArtifactStatus)> {
        let verified = self
            .engine
            .artifacts()
            .verify_all(&ArtifactFilter::default());
        let output = verified.unwrap().into_iter();
        let mut output: Vec<_> = output.map(|one| (one.record.text, one.status)).collect();
        output.sort_by(|a, b| a.0.cmp(&b.0));
        output
    }

    fn context(&self, task: &str) -> String {
        let request = ContextRequest {
            task: Some(task.to_owned()),
            budget: Some(Budget::Chars(1_000_000)),
            ..ContextRequest::default()
        };
        self.engine.contexts().build(&request).unwrap().text
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
fn assert_rejected<T: std::fmt::Debug>(done: Result<T, Fault>, kind: ErrorKind, output: &str) {
    let fault = done.unwrap_err();
    assert_eq!(fault.kind, kind, "{fault}");
    assert!(fault.message.contains(output), "{fault}");
}

#[test]
fn iteration_writes_one_episode() {
    let desk = Desk::new();
    let scope = Scope {
        iteration: Some(2),
        agent: Some("codex".to_owned()),
        ..Scope::of_task("1")
    };
    let tell = |outcome: &IterationOutcome| {
        desk.pass(1);
        desk.engine
            .tasks()
            .record_outcome(&scope, outcome, "codex")
            .unwrap();
    };
    let mut failed = IterationOutcome::with_status(AgentStatus::Failed);
    failed.error = Some("no access".to_owned());
    failed.duration_ms = Some(5);
    tell(&failed);
    tell(&failed);
    let found = desk.episodes();
    assert_eq!(texts(&found), ["iteration 2 of 1 failed: no access"]);
    assert_eq!(found[0].attr_str("action"), Some("failed"));
    assert_eq!(found[0].attr_str("outcome"), Some("no access"));
    assert_eq!(found[0].attrs["duration_ms"], 5);
    tell(&IterationOutcome::with_status(AgentStatus::Complete));
    assert_eq!(texts(&desk.episodes()), ["iteration 2 of 1 completed"]);
    for (status, success, action) in [
        (AgentStatus::Blocked, false, "failed"),
        (AgentStatus::Partial, true, "attempted"),
        (AgentStatus::Partial, false, "attempted"),
        (AgentStatus::Complete, false, "failed"),
    ] {
        let mut outcome = IterationOutcome::with_status(status);
        outcome.success = success;
        tell(&outcome);
        assert_eq!(desk.episodes()[0].attr_str("action"), Some(action));
        assert_eq!(desk.episodes().len(), 1);
    }
    // Without an iteration number the episode cannot be matched.
    let no_number = Scope::of_task("1");
    for _ in 0..2 {
        let outcome = IterationOutcome::with_status(AgentStatus::Complete);
        desk.engine
            .tasks()
            .record_outcome(&no_number, &outcome, "codex")
            .unwrap();
    }
    assert_eq!(desk.episodes().len(), 3);
}

#[test]
fn iteration_episode_has_approach() {
    let desk = Desk::new();
    let scope = Scope {
        iteration: Some(2),
        ..Scope::of_task("1")
    };
    let mut failed = IterationOutcome::with_status(AgentStatus::Failed);
    failed.approach = Some(" patch the parser by hand ".to_owned());
    failed.error = Some("tests broke".to_owned());
    let tell =
        |outcome: &IterationOutcome| desk.engine.tasks().record_outcome(&scope, outcome, "codex");
    tell(&failed).unwrap();
    let found = desk.episodes();
    let words = "patch the parser by hand: iteration 2 of 1 failed: tests broke";
    assert_eq!(texts(&found), [words]);
    let approach = Some("patch the parser by hand");
    assert_eq!(found[0].attr_str("approach"), approach);
    assert!(
        desk.engine
            .tasks()
            .similar_attempts("patch parser", None)
            .unwrap()
            .has_failed
    );
    failed.approach = Some("x".repeat(EPISODE_TEXT_BYTES_MAX + 1));
    assert_rejected(tell(&failed), ErrorKind::Usage, "the approach has");
    assert_eq!(desk.episodes().len(), 1);
}

#[test]
fn episode_texts_over_limit_are_rejected() {
    let desk = Desk::new();
    let most = "x".repeat(EPISODE_TEXT_BYTES_MAX);
    let mut new = NewEpisode::new("1", EpisodeAction::Failed);
    new.approach = Some(most.clone());
    new.outcome = Some(most.clone());
    desk.engine.tasks().log_episode(new.clone()).unwrap();
    let over = EPISODE_TEXT_BYTES_MAX + 1;
    new.outcome = Some(format!("{most}x"));
    let output = format!("the outcome has {over} bytes");
    assert_rejected(
        desk.engine.tasks().log_episode(new),
        ErrorKind::Usage,
        &output,
    );
    assert_eq!(desk.episodes().len(), 1);
    let nowhere = NewEpisode {
        scope: Scope::default(),
        ..NewEpisode::new("1", EpisodeAction::Failed)
    };
    assert_rejected(
        desk.engine.tasks().log_episode(nowhere),
        ErrorKind::Usage,
        "no task",
    );
}

#[test]
fn episodes_list_exceeds_one_page() {
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
    let oldest = desk.engine.tasks().episodes(&EpisodeFilter {
        action: Some(EpisodeAction::Retried),
        ..EpisodeFilter::default()
    });
    assert_eq!(texts(&oldest.unwrap()), ["0"]);
    let none = desk.engine.tasks().episodes(&EpisodeFilter {
        limit: Some(0),
        ..EpisodeFilter::default()
    });
    assert_eq!(none.unwrap(), []);
    assert_eq!(
        desk.engine.tasks().analytics(None).unwrap().by_week[0].attempts,
        PAGE_RECORDS + 1
    );
}

#[test]
fn episodes_cleanup_keeps_lessons() {
    let desk = Desk::new();
    desk.log("1", EpisodeAction::Failed, "a lesson");
    desk.log("2", EpisodeAction::Failed, "made up for");
    desk.log("2", EpisodeAction::Completed, "worked");
    desk.log("2", EpisodeAction::Failed, "later lesson");
    desk.log("1", EpisodeAction::Attempted, "who knows");
    let kept_s = i64::from(EPISODES_KEPT_DAYS_DEFAULT) * DAY_S;
    // The oldest episode that is removed is three seconds older than the newest.
    desk.pass(kept_s - 3);
    assert_eq!(
        desk.engine
            .maintenance()
            .prunable(usize::MAX)
            .unwrap()
            .episodes,
        []
    );
    desk.pass(4);
    let oldest = desk.engine.maintenance().prunable(2).unwrap();
    assert_eq!(texts(&oldest.episodes), ["made up for", "worked"]);
    let report = desk.engine.maintenance().prune(usize::MAX).unwrap();
    assert_eq!(report.episodes.len(), 3);
    assert_eq!(texts(&desk.episodes()), ["later lesson", "a lesson"]);
    desk.engine.records().undo(report.episodes[0].id).unwrap();
    assert_eq!(desk.episodes().len(), 3);
    // What was restored is not retired the next day.
    let again = desk.engine.maintenance().prune(usize::MAX).unwrap();
    assert_eq!(again.records().count(), 0);
    // Saving the mirror after an iteration retires nothing.
    desk.engine.mirror().write().unwrap();
    assert_eq!(desk.episodes().len(), 3);
}

#[test]
fn episodes_are_retired_in_steps() {
    let desk = Desk::new();
    for _ in 0..=PRUNE_STEP_RECORDS_MAX {
        desk.log("1", EpisodeAction::Completed, "x");
    }
    desk.pass(i64::from(EPISODES_KEPT_DAYS_DEFAULT) * DAY_S + DAY_S);
    let step = || {
        let report = desk.engine.maintenance().prune(PRUNE_STEP_RECORDS_MAX);
        report.unwrap().records().count()
    };
    assert_eq!([step(), step(), step()], [PRUNE_STEP_RECORDS_MAX, 1, 0]);
}

#[test]
fn episodes_cleanup_disabled_keeps_all() {
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
    assert_eq!(
        desk.engine
            .maintenance()
            .prunable(usize::MAX)
            .unwrap()
            .artifacts,
        []
    );
    desk.pass(1);
    assert_eq!(
        desk.engine
            .maintenance()
            .prune(usize::MAX)
            .unwrap()
            .artifacts
            .len(),
        1
    );
    assert_eq!(desk.statuses(), []);
    assert!(desk.file("a.rs").exists());
    desk.pass(100 * 365 * DAY_S);
    assert_eq!(
        desk.engine
            .maintenance()
            .prunable(usize::MAX)
            .unwrap()
            .episodes,
        []
    );
}

#[test]
fn artifact_status_unchanged_changed_missing() {
    use ArtifactStatus::{Changed, Missing, Unchanged, Unknown};
    let desk = Desk::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        desk.write(name, "one");
        desk.artifact(name).unwrap();
    }
    let mut modified = IterationOutcome::with_status(AgentStatus::Partial);
    modified.files = vec!["a".to_owned(), "modified".to_owned()];
    let scope = Scope::of_task("1");
    desk.engine
        .tasks()
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
fn artifact_unreadable_file_is_rejected() {
    let desk = Desk::new();
    desk.write("a.rs", "x");
    fs::create_dir(desk.file("folder")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x"), "x").unwrap();
    symlink(outside.path(), desk.file("out")).unwrap();
    let absolute = outside.path().join("x").display().to_string();
    for path in ["../x", "a/../../x", &absolute, "out/x", "", ".", "~/x"] {
        assert_rejected(desk.artifact(path), ErrorKind::Refused, "artifact `");
    }
    assert_rejected(
        desk.artifact("folder"),
        ErrorKind::Usage,
        "not a regular file",
    );
    assert_rejected(desk.artifact("b.rs"), ErrorKind::NotFound, "no such file");
    let huge = fs::File::create(desk.file("huge")).unwrap();
    huge.set_len(ARTIFACT_BYTES_MAX + 1).unwrap();
    let output = format!("{} bytes", ARTIFACT_BYTES_MAX + 1);
    assert_rejected(desk.artifact("huge"), ErrorKind::Usage, &output);
    let no_task = NewArtifact {
        scope: Scope::default(),
        ..artifact("a.rs")
    };
    assert_rejected(
        desk.engine.artifacts().add(&no_task),
        ErrorKind::Usage,
        "no task",
    );
    let words = |bytes: usize| NewArtifact {
        description: Some("x".repeat(bytes)),
        ..artifact("a.rs")
    };
    assert_rejected(
        desk.engine
            .artifacts()
            .add(&words(DESCRIPTION_BYTES_MAX + 1)),
        ErrorKind::Usage,
        "the description has",
    );
    assert_eq!(desk.statuses(), []);
    let inside = desk.file("a.rs").display().to_string();
    desk.artifact(&inside).unwrap();
    let most = words(DESCRIPTION_BYTES_MAX);
    desk.engine.artifacts().add(&most).unwrap();
    assert_eq!(desk.statuses().len(), 1, "one for a path in a task");
}

#[test]
fn artifact_type_from_producer() {
    let desk = Desk::new();
    let digest = |checksum: &str| NewArtifact {
        digest: Some(FileDigest {
            size_bytes: 3,
            checksum: checksum.to_owned(),
        }),
        ..artifact("made/elsewhere.rs")
    };
    for bad in ["", "abc", &"g".repeat(64), &"a".repeat(65)] {
        assert_rejected(
            desk.engine.artifacts().add(&digest(bad)),
            ErrorKind::Usage,
            "not a SHA-256",
        );
    }
    let abc = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
    desk.engine.artifacts().add(&digest(abc)).unwrap();
    assert_eq!(desk.statuses()[0].1, ArtifactStatus::Missing);
    desk.write("made/elsewhere.rs", "abc");
    assert_eq!(desk.statuses()[0].1, ArtifactStatus::Unchanged);
    desk.write("made/elsewhere.rs", "abd");
    assert_eq!(desk.statuses()[0].1, ArtifactStatus::Changed);
}

#[test]
fn artifact_removed_only_by_producer_or_person() {
    let desk = Desk::new();
    desk.write("a.rs", "x");
    let add = || {
        desk.engine.artifacts().add(&artifact("a.rs")).unwrap();
        let found = desk
            .engine
            .artifacts()
            .list(&ArtifactFilter::default())
            .unwrap();
        found[0].id
    };
    let agent = |name: &str| Remover::Agent(name.to_owned());
    for by in [agent("claude"), agent("user"), agent("")] {
        let removed = desk.engine.artifacts().remove(add(), &by);
        assert_rejected(removed, ErrorKind::Refused, "was registered by codex");
    }
    for by in [agent("codex"), Remover::User, Remover::Orchestrator] {
        let id = add();
        desk.engine.artifacts().remove(id, &by).unwrap();
        assert_eq!(desk.statuses(), []);
        assert!(desk.file("a.rs").exists());
        let again = desk.engine.artifacts().remove(id, &by);
        assert_rejected(again, ErrorKind::Failed, "");
    }
    desk.log("1", EpisodeAction::Failed, "x");
    let episode = desk.episodes()[0].id;
    assert_rejected(
        desk.engine.artifacts().remove(episode, &Remover::User),
        ErrorKind::NotFound,
        "not an artifact",
    );
}

#[test]
fn context_episode_and_artifact_limits() {
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
        desk.engine.artifacts().add(&new).unwrap();
    }
    let text = desk.context("1");
    assert!(text.contains("\n- Failed: approach 1\n") && !text.contains("approach 0\n"));
    assert!(text.contains("\n- f1 (test)\n") && !text.contains("- f0 (test)\n"));
    assert!(!desk.context("2").contains("approach"));
}

#[test]
fn shared_context_is_one_import_batch() {
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
    let report = desk
        .engine
        .imports()
        .import_shared(&files, "shared docs")
        .unwrap();
    assert_eq!((report.created, report.known), (2, 1));
    let reported: Vec<_> = report.diagnostics.iter().map(|d| &d.message).collect();
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(
        reported[0].starts_with("b.md:1: 1 paragraphs"),
        "{reported:?}"
    );
    assert!(
        reported[1].starts_with("b.md:4: `convention/indent` stays"),
        "{reported:?}"
    );
    let knowledge = || {
        let filter = Filter::current(&[Kind::Knowledge], desk.engine.now());
        desk.engine.records().find(&filter).unwrap()
    };
    let found = knowledge();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|record| !record.text.contains("8f14e4")));
    assert!(found.iter().all(|record| record.source == "import"));
    let again = desk
        .engine
        .imports()
        .import_shared(&files, "shared docs")
        .unwrap();
    assert_eq!((again.created, again.known, again.batch), (0, 3, None));
    assert_eq!(knowledge(), found);
    desk.engine.records().undo(report.batch.unwrap()).unwrap();
    assert_eq!(knowledge(), []);
    let clash = "# a\n## b\n- x\n# A\n";
    let many: Vec<_> = (0..=DIAGNOSTICS_MAX)
        .map(|n| file("c.md", &format!("{clash}## b\n- {n}\n\nwords\n")))
        .collect();
    let report = desk
        .engine
        .imports()
        .import_shared(&many, "shared c")
        .unwrap();
    assert_eq!(report.diagnostics.len(), DIAGNOSTICS_MAX + 1);
}

fn working(desk: &Desk, agent: &str, session: &str, note: &str) -> WorkingMemory {
    let now = desk.engine.now();
    let mut memory = WorkingMemory::new(agent, session, now).unwrap();
    memory.add_note(note, now).unwrap();
    memory
}

fn retained(desk: &Desk) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(desk.file(".heirloom/working")) else {
        return Vec::new();
    };
    found.map(|entry| entry.unwrap().path()).collect()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn working_memory_restored_once_to_same_agent() {
    let desk = Desk::new();
    let memory = working(&desk, "codex", "s1", "line 3");
    desk.engine.sessions().save_working_memory(&memory).unwrap();
    let files = retained(&desk);
    assert_eq!(files.len(), 1);
    assert_eq!(mode(&files[0]), 0o600);
    assert_eq!(mode(&desk.file(".heirloom/working")), 0o700);
    for (agent, session) in [("claude", "s1"), ("codex", "s2"), ("s1", "codex")] {
        assert_eq!(
            desk.engine
                .sessions()
                .take_working_memory(agent, session)
                .unwrap(),
            None
        );
    }
    let imported = desk
        .engine
        .sessions()
        .take_working_memory("codex", "s1")
        .unwrap();
    assert_eq!(imported, Some(memory));
    assert_eq!(
        desk.engine
            .sessions()
            .take_working_memory("codex", "s1")
            .unwrap(),
        None
    );
    assert_eq!(retained(&desk), Vec::<PathBuf>::new());
}

#[test]
fn working_memory_snapshot_has_no_secrets() {
    let desk = Desk::new();
    let secret = "ghp_R7xK2mQ9vT4bW8nZ3cY6pL1sD5fG0hJ8kA2e";
    let memory = working(&desk, secret, "s1", &format!("use {secret}"));
    desk.engine.sessions().save_working_memory(&memory).unwrap();
    let text = fs::read_to_string(&retained(&desk)[0]).unwrap();
    assert!(!text.contains("ghp_R7"), "{text}");
    let imported = desk
        .engine
        .sessions()
        .take_working_memory(secret, "s1")
        .unwrap()
        .unwrap();
    assert!(imported.scratchpad()[0].starts_with("use [redacted:"));
}

#[test]
fn working_memory_invalid_snapshot_is_reported_and_kept() {
    let desk = Desk::new();
    let memory = working(&desk, "codex", "s1", "x");
    desk.engine.sessions().save_working_memory(&memory).unwrap();
    let path = retained(&desk).remove(0);
    let other = working(&desk, "claude", "s1", "y").snapshot().unwrap();
    for bytes in [b"garbage".as_slice(), b"", &other] {
        fs::write(&path, bytes).unwrap();
        let imported = desk.engine.sessions().take_working_memory("codex", "s1");
        assert_rejected(imported, ErrorKind::Failed, &path.display().to_string());
        assert!(path.exists());
    }
    fs::remove_file(&path).unwrap();
    symlink("/etc/passwd", &path).unwrap();
    assert!(
        desk.engine
            .sessions()
            .take_working_memory("codex", "s1")
            .is_err()
    );
    assert!(desk.engine.sessions().save_working_memory(&memory).is_err());
    let folder = desk.file(".heirloom/working");
    fs::remove_dir_all(&folder).unwrap();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), &folder).unwrap();
    assert!(desk.engine.sessions().save_working_memory(&memory).is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn purge_removes_working_memory_snapshots() {
    let desk = Desk::new();
    let keep_all = || {
        for (agent, session, note) in [
            ("a", "s1", "the Blue \"note\""),
            ("b", "s1", "x"),
            ("a", "s2", "y"),
        ] {
            let memory = working(&desk, agent, session, note);
            desk.engine.sessions().save_working_memory(&memory).unwrap();
        }
    };
    for (selection, goes) in [
        (PurgeTarget::Session("s1".to_owned()), 2),
        (PurgeTarget::Containing("blue \"NOTE".to_owned()), 1),
        (PurgeTarget::Records(Vec::new()), 0),
        (PurgeTarget::Project, 3),
    ] {
        keep_all();
        assert_eq!(
            desk.engine
                .maintenance()
                .purgeable(&selection)
                .unwrap()
                .working_memories,
            goes
        );
        assert_eq!(retained(&desk).len(), 3);
        assert_eq!(
            desk.engine
                .maintenance()
                .purge(&selection)
                .unwrap()
                .working_memories,
            goes
        );
        assert_eq!(retained(&desk).len(), 3 - goes, "{selection:?}");
    }
    let nobody = PurgeTarget::Session("s3".to_owned());
    assert_rejected(
        desk.engine.maintenance().purge(&nobody),
        ErrorKind::NotFound,
        "s3",
    );
}

#[test]
fn working_memory_disabled_writes_no_snapshot() {
    let desk = Desk::with(Settings {
        enabled: false,
        ..Settings::default()
    });
    let memory = working(&desk, "a", "s", "x");
    assert_rejected(
        desk.engine.sessions().save_working_memory(&memory),
        ErrorKind::Refused,
        "off",
    );
    assert_eq!(retained(&desk), Vec::<PathBuf>::new());
}

#[test]
fn doctor_reports_working_memory_snapshots() {
    let desk = Desk::new();
    desk.engine
        .sessions()
        .save_working_memory(&working(&desk, "a", "s", "x"))
        .unwrap();
    let doctor = Doctor {
        place: ProjectPaths {
            root: desk.folder.path().to_owned(),
            folder: desk.file(".heirloom"),
            config: desk.file(".heirloom/config.toml"),
        },
        project: None,
        settings: Settings::default(),
        clock: desk.hand.clone(),
        config: Vec::new(),
        server: None,
        progress: heirloom_store::ProgressSink::silent(),
        model: None,
        sentence_model: None,
    };
    let output = |name: &str| {
        let checks = doctor.examine();
        let check = checks.into_iter().find(|check| check.name == name);
        check.unwrap().message
    };
    let path = retained(&desk).remove(0);
    assert!(!output("permissions").contains("working"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let left = desk.file(".heirloom/working/.x.json.abc123.tmp");
    fs::write(&left, "x").unwrap();
    let shown = path.display().to_string();
    assert!(output("permissions").contains(&shown));
    // By the file's own time it is from today, by the test clock possibly from tomorrow.
    let today = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let later = i64::try_from(today.unwrap().as_secs()).unwrap() + DAY_S;
    desk.hand.0.store(later, Ordering::SeqCst);
    assert!(output("temporary files").contains(".x.json"));
    doctor.repair();
    assert_eq!(mode(&path), 0o600);
    assert!(!left.exists());
    assert!(path.exists());
}
