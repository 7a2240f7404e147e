//! Tests of group notes, the inbox and user memory with real files and a test clock.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "the test writes files in place of persons and agents"
)]

use heirloom_engine::{Engine, Filter, MemoryOwner, NewNote, NewRecord, RecallRequest};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::limits::{
    GROUP_FILE_BYTES_MAX, GROUP_NOTE_BACK_S, GROUP_NOTE_BYTES_MAX, GROUP_NOTE_KNOWN_MS,
    GROUP_NOTES_COMPARED_MAX, INBOX_DONE_MAX, INBOX_FILE_BYTES_MAX, INBOX_RETRY_MS,
    INBOX_SWEEP_MAX, USER_RECORDS_MAX,
};
use heirloom_model::section::Section;
use heirloom_model::{
    Clock, ErrorKind, Kind, Mark, ProjectName, Settings, SystemClock, Timestamp, clock,
};
use heirloom_store::SqliteStore;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// A clock that the test sets.
#[derive(Debug)]
struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        clock::from_micros(self.0.load(Ordering::SeqCst) * 1_000)
    }
}

struct World {
    engine: Engine,
    hand: Arc<HandClock>,
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self::over(Arc::new(SqliteStore::memory().unwrap()))
    }

    fn over(store: Arc<SqliteStore>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at: Timestamp = "2026-05-01T12:34:00Z".parse().unwrap();
        let hand = Arc::new(HandClock(AtomicI64::new(at.as_millisecond())));
        let own = folder.path().join(".heirloom");
        fs::create_dir(&own).unwrap();
        let place = ProjectPaths {
            root: folder.path().to_owned(),
            config: own.join("config.toml"),
            folder: own,
        };
        let name = ProjectName::new("p").unwrap();
        let engine = Engine::new(store, name, place, Settings::default(), hand.clone()).unwrap();
        Self {
            engine,
            hand,
            folder,
        }
    }

    fn later_s(&self, seconds: i64) {
        self.hand.0.fetch_add(seconds * 1_000, Ordering::SeqCst);
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(".heirloom").join(name)
    }

    fn memory(&self) -> String {
        fs::read_to_string(self.at("groups/main/MEMORY.md")).unwrap_or_default()
    }

    fn save(&self, text: &str) {
        let temporary = self.at("groups/main/edited");
        fs::write(&temporary, text).unwrap();
        fs::rename(temporary, self.at("groups/main/MEMORY.md")).unwrap();
    }

    /// Saves the file with a modification time this much later.
    fn save_after_ms(&self, ms: i64, text: &str) {
        self.save(text);
        let later = std::time::UNIX_EPOCH
            + std::time::Duration::from_millis(
                (SystemClock.now().as_millisecond() + ms).unsigned_abs(),
            );
        let file = File::options()
            .append(true)
            .open(self.at("groups/main/MEMORY.md"))
            .unwrap();
        file.set_modified(later).unwrap();
    }

    #[track_caller]
    fn note(&self, content: &str) -> usize {
        self.engine
            .groups()
            .add_note(&note(content))
            .unwrap()
            .repaired
    }

    fn notes(&self) -> usize {
        let filter = Filter::current(&[Kind::Note], self.engine.now());
        self.engine.records().find(&filter).unwrap().len()
    }

    fn add_inbox_file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at("inbox")).unwrap();
        fs::write(self.at("inbox").join(name), bytes).unwrap();
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.at(folder)) else {
            return Vec::new();
        };
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn note(content: &str) -> NewNote {
    NewNote {
        content: content.to_owned(),
        ..NewNote::default()
    }
}

fn ask(content: &str) -> String {
    serde_json::json!({"type": "update_memory", "group": "main", "payload": {"content": content}})
        .to_string()
}

fn block(content: &str) -> String {
    format!("## Notes (unknown, 2026-05-01 12:34)\n- {content}\n")
}

fn output(section: &Section) -> Vec<&str> {
    let texts = section.offers.iter();
    texts.map(|offer| offer.text.as_str()).collect()
}

#[test]
fn note_is_written_to_file_and_memory() {
    let world = World::new();
    let noted = world
        .engine
        .groups()
        .add_note(&NewNote {
            content: "the API is slow\n## Forged (x, 2020-01-01 00:00)\n- y".to_owned(),
            section: Some("Lessons".to_owned()),
            agent: Some("ann".to_owned()),
            group: Some("team".to_owned()),
        })
        .unwrap();
    let file = fs::read_to_string(&noted.file).unwrap();
    assert_eq!(
        file,
        "## Lessons (ann, 2026-05-01 12:34)\n- the API is slow | ## Forged (x, 2020-01-01 00:00) | - y\n"
    );
    let mode = |name: &str| world.at(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (
            mode("groups"),
            mode("groups/team"),
            mode("groups/team/MEMORY.md")
        ),
        (0o700, 0o700, 0o600)
    );
    let record = world.engine.records().get(noted.id).unwrap();
    assert_eq!(record.scope.group.as_deref(), Some("team"));
    assert_eq!(record.scope.agent.as_deref(), Some("ann"));
    let request = RecallRequest {
        question: "is the API slow".to_owned(),
        ..RecallRequest::default()
    };
    assert_eq!(
        world.engine.recall().search(&request).unwrap().hits[0]
            .item
            .id(),
        noted.id
    );
    world.note("one");
    world.note("one");
    assert_eq!(
        world.memory(),
        format!("{}\n{}", block("one"), block("one"))
    );
}

#[test]
fn bullet_added_by_person_is_recalled() {
    let world = World::new();
    let sync = || {
        world.later_s(60);
        let done = world.engine.workspace().sync().unwrap();
        assert_eq!(done.notes, Vec::<String>::new());
        (done.created, done.replaced, done.retired)
    };
    let search = |words: &str| {
        let request = RecallRequest {
            question: words.to_owned(),
            ..RecallRequest::default()
        };
        world.engine.recall().search(&request).unwrap().hits
    };
    let knows = |word: &str| {
        search(word)
            .iter()
            .any(|hit| hit.item.text().contains(word))
    };
    for content in ["**ports**: the API listens on 8080", "# two\nlines"] {
        world.note(content);
    }
    assert_eq!(sync(), (0, 0, 0), "notes of agents are not doubled");
    let written = world.memory();
    let secret = format!("sk-ant-api03-{}", "Ab3xY9zQ".repeat(12));
    world.save(&format!(
        "- before all entries: kiwis are green\n\n{written}- under a note: plums are blue\n\n## Fruit\n\n- lemons are sour\n- the key is {secret}\n"
    ));
    assert_eq!(sync(), (4, 0, 0));
    assert_eq!(sync(), (0, 0, 0));
    assert!(knows("lemons") && knows("kiwis") && knows("plums"));
    assert!(!knows(&secret));
    let of_group = Filter::current(&[Kind::Note], world.engine.now());
    let found = world.engine.records().find(&of_group).unwrap();
    assert_eq!(found.len(), 6);
    assert!(
        found
            .iter()
            .all(|one| one.scope.group.as_deref() == Some("main"))
    );
    // The next note of an agent changes the file, but not the records of the person.
    world.note("plain");
    assert_eq!(sync(), (0, 0, 0));
    // An edited bullet replaces its record, a removed one retires it, and it may come back.
    let before = world.memory();
    world.save(&before.replace("lemons are sour", "lemons are very sour"));
    assert_eq!(sync(), (0, 1, 0));
    let edited = world.memory();
    world.save(&edited.replace("- lemons are very sour\n", ""));
    assert_eq!(sync(), (0, 0, 1));
    assert!(!knows("lemons"));
    world.save(&edited);
    assert_eq!(sync(), (1, 0, 0));
    // What a person forgets stays forgotten.
    let id = search("lemons")[0].item.id();
    world.engine.records().forget(id).unwrap();
    world.save(&format!("{edited}\n- one more fruit\n"));
    assert_eq!(sync(), (1, 0, 0));
    assert!(!knows("lemons"));
    // A note of an agent that was forgotten is not read again as a person's.
    let noted = world
        .engine
        .groups()
        .add_note(&note("melons are round"))
        .unwrap();
    world.engine.records().forget(noted.id).unwrap();
    assert_eq!(sync(), (0, 0, 0));
    assert!(!knows("melons"));
    // A link is not followed.
    fs::create_dir_all(world.at("elsewhere")).unwrap();
    fs::write(world.at("elsewhere/MEMORY.md"), "- figs are sweet\n").unwrap();
    symlink(world.at("elsewhere"), world.at("groups/linked")).unwrap();
    assert_eq!(sync(), (0, 0, 0));
}

#[test]
fn note_invalid_changes_nothing() {
    let world = World::new();
    for content in ["", " \n\t", "\0"] {
        let fault = world.engine.groups().add_note(&note(content)).unwrap_err();
        assert_eq!(fault.kind, ErrorKind::Refused, "{content:?}");
    }
    world.note(&"x".repeat(GROUP_NOTE_BYTES_MAX));
    let long = note(&"x".repeat(GROUP_NOTE_BYTES_MAX + 1));
    assert_eq!(
        world.engine.groups().add_note(&long).unwrap_err().kind,
        ErrorKind::Usage
    );
    for group in [
        "..",
        "a/b",
        "",
        "con",
        "AGENT.md",
        "a\nb",
        "a\0",
        &"x".repeat(300),
    ] {
        let to = NewNote {
            group: Some(group.to_owned()),
            ..note("x")
        };
        let fault = world.engine.groups().add_note(&to).unwrap_err();
        assert_eq!(fault.kind, ErrorKind::Refused, "{group:?}");
        assert!(world.engine.groups().sections(group).is_err(), "{group:?}");
    }
    assert_eq!(world.names("groups"), ["main"]);
    assert_eq!(world.notes(), 1);
    symlink(world.folder.path(), world.at("groups/away")).unwrap();
    let away = NewNote {
        group: Some("away".to_owned()),
        ..note("x")
    };
    assert!(world.engine.groups().add_note(&away).is_err());
    fs::remove_file(world.at("groups/main/MEMORY.md")).unwrap();
    symlink(
        world.folder.path().join("outside"),
        world.at("groups/main/MEMORY.md"),
    )
    .unwrap();
    assert!(world.engine.groups().add_note(&note("y")).is_err());
    assert!(!world.folder.path().join("outside").exists());
    assert_eq!(world.notes(), 1);
}

#[test]
fn note_redacts_secrets() {
    let world = World::new();
    let noted = world
        .engine
        .groups()
        .add_note(&note(
            "deploy with API_TOKEN=8f14e45fceea167a5a36dedd4bea2543",
        ))
        .unwrap();
    assert_eq!(noted.redacted.len(), 1);
    assert!(!world.memory().contains("8f14e45f"));
    assert_eq!(world.note("next"), 0, "the file has the redacted note");
}

#[test]
fn note_lost_by_concurrent_editor_is_restored_once() {
    let world = World::new();
    world.note("a");
    let opened = world.memory();
    world.note("b");
    world.note("c");
    world.save(&format!("# Mine\n\n{opened}"));
    assert_eq!(world.note("d"), 2);
    let whole = ["a", "b", "c", "d"].map(block).join("\n");
    assert_eq!(world.memory(), format!("# Mine\n\n{whole}"));
    // Saved again by an editor that may not have seen the note.
    world.save(&["a", "b"].map(block).join("\n"));
    assert_eq!(world.engine.groups().repair(), Ok(2));
    // Deleted again by a person who saw it.
    world.save_after_ms(GROUP_NOTE_KNOWN_MS + 1_000, &block("a"));
    assert_eq!(world.note("e"), 0, "each of them came back before");
    assert_eq!(world.memory(), ["a", "e"].map(block).join("\n"));
    // A note between others is a deletion, if it was visible long enough.
    world.note("e2");
    let without = ["a", "e2"].map(block).join("\n");
    world.save_after_ms(GROUP_NOTE_KNOWN_MS + 2_000, &without);
    assert_eq!(world.note("f"), 0);
    world.note("f2");
    world.save_after_ms(1_000, &world.memory().replace(&block("f"), ""));
    world.note("f3");
    assert!(world.memory().contains(&block("f")), "no editor saw it");
    // A deleted file deletes its notes too.
    fs::remove_file(world.at("groups/main/MEMORY.md")).unwrap();
    assert_eq!(world.note("g"), 0);
    assert_eq!(world.memory(), block("g"));
    // After that time a missing last note counts as deleted.
    world.save("nothing");
    world.later_s(GROUP_NOTE_BACK_S + 1);
    assert_eq!(world.note("h"), 0);
}

#[test]
fn note_restored_within_time_limit() {
    let world = World::new();
    world.note("a");
    world.note("b");
    world.save(&block("a"));
    world.later_s(GROUP_NOTE_BACK_S);
    assert_eq!(world.engine.groups().repair(), Ok(1));
    assert_eq!(world.memory(), ["a", "b"].map(block).join("\n"));
}

#[test]
fn note_incomplete_in_file_is_completed() {
    let world = World::new();
    world.note("a");
    world.note("b");
    // A process that died after its record and before the end of its entry.
    let whole = world.memory();
    fs::write(world.at("groups/main/MEMORY.md"), &whole[..whole.len() - 3]).unwrap();
    assert_eq!(world.engine.groups().repair(), Ok(1));
    assert_eq!(world.memory(), whole);
    assert_eq!(world.engine.groups().repair(), Ok(0));
}

#[test]
fn note_comparison_limit() {
    let world = World::new();
    for n in 0..=GROUP_NOTES_COMPARED_MAX {
        world.note(&format!("note {n}"));
        world.later_s(1);
    }
    world.save("emptied");
    assert_eq!(world.engine.groups().repair(), Ok(GROUP_NOTES_COMPARED_MAX));
    assert!(!world.memory().contains("- note 0\n"));
}

#[test]
fn group_files_are_sections() {
    let world = World::new();
    let texts = |at: usize| -> Vec<String> {
        let sections = world.engine.groups().sections("main").unwrap();
        output(&sections[at])
            .into_iter()
            .map(str::to_owned)
            .collect()
    };
    for at in 0..3 {
        assert_eq!(texts(at), Vec::<String>::new());
    }
    assert_eq!(
        world.names("groups"),
        Vec::<String>::new(),
        "reading makes nothing"
    );
    fs::create_dir_all(world.at("groups/main")).unwrap();
    let write = |name: &str, text: &str| fs::write(world.at("groups").join(name), text).unwrap();
    write("AGENT.md", "for all\n");
    write("main/CLAUDE.md", "  the persona,\n\nverbatim\n");
    write("main/MEMORY.md", "loose\n\n## A\n- a\n\n## B\n- b\n");
    write("main/summary.md", " \n");
    assert_eq!(texts(0), ["for all\n", "  the persona,\n\nverbatim\n"]);
    assert_eq!(texts(1), ["## B\n- b", "## A\n- a", "loose"]);
    assert_eq!(texts(2), Vec::<String>::new());
    let sections = world.engine.groups().sections("main").unwrap();
    let headings: Vec<_> = sections.iter().map(|one| one.heading.as_str()).collect();
    assert_eq!(
        headings,
        ["", "## Remembered Facts", "## Conversation Summary"]
    );
    // Same size within the same moment: metadata of a recent read is not trusted.
    for n in 0..50 {
        write("main/summary.md", &format!("{n:02}"));
        assert_eq!(texts(2), [format!("{n:02}")]);
    }
    fs::remove_file(world.at("groups/main/summary.md")).unwrap();
    assert_eq!(texts(2), Vec::<String>::new());
}

#[test]
fn persona_is_included_whole_or_left_out() {
    let world = World::new();
    fs::create_dir_all(world.at("groups/main")).unwrap();
    let most = usize::try_from(GROUP_FILE_BYTES_MAX).unwrap();
    for (bytes, whole) in [(most, 1), (most + 1, 0)] {
        for name in ["CLAUDE.md", "MEMORY.md"] {
            let text = format!("{}\nend", "x".repeat(bytes - 4));
            fs::write(world.at("groups/main").join(name), text).unwrap();
        }
        let sections = world.engine.groups().sections("main").unwrap();
        assert_eq!(sections[0].offers.len(), whole);
        assert_eq!(sections[0].notes.len(), 1 - whole);
        assert!(sections[1].offers[0].text.ends_with("end"));
        assert_eq!(sections[1].notes.len(), 1 - whole);
    }
    fs::remove_file(world.at("groups/main/CLAUDE.md")).unwrap();
    symlink("/etc/hostname", world.at("groups/main/CLAUDE.md")).unwrap();
    let fifo = world.at("groups/main/summary.md");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let sections = world.engine.groups().sections("main").unwrap();
    assert!(sections[0].offers.is_empty() && sections[0].notes[0].contains("link"));
    assert!(sections[2].offers.is_empty() && sections[2].notes[0].contains("not a regular file"));
}

#[test]
fn inbox_processed_once_in_order() {
    let world = World::new();
    assert_eq!(
        world
            .engine
            .files()
            .sweep_inbox(Duration::MAX)
            .unwrap()
            .processed,
        Vec::<String>::new()
    );
    world.add_inbox_file("2.json", ask("second"));
    world.add_inbox_file("1.json", ask("first"));
    let hosts = r#"{"Type":"update_memory","GroupName":"main","Payload":"{\"content\":\"third\",\"agent_id\":\"unknown\"}"}"#;
    world.add_inbox_file("3.json", hosts);
    world.add_inbox_file(".half.json", "{");
    world.add_inbox_file("half.tmp", "{");
    let swept = world.engine.files().sweep_inbox(Duration::MAX).unwrap();
    assert_eq!(swept.processed, ["1.json", "2.json", "3.json"]);
    assert_eq!(
        world.memory(),
        ["first", "second", "third"].map(block).join("\n")
    );
    assert_eq!(world.names("inbox/done"), ["1.json", "2.json", "3.json"]);
    assert_eq!(
        world.names("inbox"),
        [".half.json", ".lock", "done", "half.tmp"]
    );
    // The same name again is a new file.
    world.add_inbox_file("1.json", ask("fourth"));
    world.engine.files().sweep_inbox(Duration::MAX).unwrap();
    assert_eq!(
        world.names("inbox/done"),
        ["1-2.json", "1.json", "2.json", "3.json"]
    );
    assert_eq!(world.notes(), 4);
}

#[test]
fn inbox_abandoned_claim_is_processed_once() {
    let world = World::new();
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    for _ in 0..2 {
        // A process that died after its note and before it removed the file.
        world.add_inbox_file(&format!(".claim-{id}-x.json"), ask("once"));
        assert_eq!(
            world
                .engine
                .files()
                .sweep_inbox(Duration::MAX)
                .unwrap()
                .processed,
            ["x.json"]
        );
    }
    assert_eq!(world.memory(), block("once"));
    assert_eq!(world.notes(), 1);
}

#[test]
fn inbox_invalid_file_is_set_aside_with_reason() {
    let world = World::new();
    let huge = usize::try_from(INBOX_FILE_BYTES_MAX).unwrap();
    world.add_inbox_file("empty.json", "");
    world.add_inbox_file("half.json", &ask("x")[..20]);
    world.add_inbox_file("bytes.json", b"\xff\xfe\0");
    world.add_inbox_file("drop.json", r#"{"type":"drop_memory","payload":{}}"#);
    world.add_inbox_file(
        "out.json",
        r#"{"type":"update_memory","group":"../x","payload":{"content":"x"}}"#,
    );
    world.add_inbox_file("nothing.json", ask(" "));
    world.add_inbox_file(
        "fits.json",
        format!("{}{}", ask("fits"), " ".repeat(huge - ask("fits").len())),
    );
    world.add_inbox_file("huge.json", format!("{}{}", ask("huge"), " ".repeat(huge)));
    File::create(world.at("inbox/sparse.json"))
        .unwrap()
        .set_len(100 << 20)
        .unwrap();
    symlink("/etc/hostname", world.at("inbox/link.json")).unwrap();
    let fifo = world.at("inbox/fifo.json");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    fs::create_dir(world.at("inbox/folder.json")).unwrap();
    world.add_inbox_file(&format!("{}.json", "n".repeat(240)), ask("long name"));
    world.add_inbox_file("line\nbreak.json", ask("odd name"));
    // By the engine's clock the files are old, so there is no wait for them.
    let swept = world.engine.files().sweep_inbox(Duration::MAX).unwrap();
    let why = |name: &str| {
        let found = swept.failed.iter().find(|(file, _)| file == name);
        found
            .unwrap_or_else(|| panic!("{name}: {swept:?}"))
            .1
            .clone()
    };
    for (name, words) in [
        ("empty.json", "empty"),
        ("half.json", "JSON"),
        ("bytes.json", "JSON"),
        ("drop.json", "drop_memory"),
        ("out.json", "../x"),
        ("nothing.json", "note is empty"),
        ("huge.json", "at most"),
        ("sparse.json", "104857600 bytes"),
        ("link.json", "link"),
        ("fifo.json", "not a regular file"),
        ("folder.json", "not a regular file"),
    ] {
        assert!(why(name).contains(words), "{name}: {}", why(name));
        let reason = world.at(&format!("inbox/failed/{name}.reason.txt"));
        assert!(fs::read_to_string(reason).unwrap().contains(words));
        assert!(
            world
                .at("inbox/failed")
                .join(name)
                .symlink_metadata()
                .is_ok()
        );
    }
    assert_eq!(swept.processed.len(), 3, "{swept:?}");
    assert_eq!(swept.failed.len(), 11);
    assert_eq!(world.notes(), 3);
    assert_eq!(world.names("inbox"), [".lock", "done", "failed"]);
}

#[test]
fn inbox_waits_for_file_being_written() {
    let world = World::new();
    let now = SystemClock.now().as_millisecond();
    world.hand.0.store(now, Ordering::SeqCst);
    world.add_inbox_file("x.json", "{\"type\":");
    assert_eq!(
        world
            .engine
            .files()
            .sweep_inbox(Duration::MAX)
            .unwrap()
            .waiting,
        1
    );
    world.add_inbox_file("x.json", ask("whole now"));
    assert_eq!(
        world
            .engine
            .files()
            .sweep_inbox(Duration::MAX)
            .unwrap()
            .processed,
        ["x.json"]
    );
    world.add_inbox_file("y.json", "{\"type\":");
    // Simulates elapsed time: by the clock the file is older than the wait.
    world
        .hand
        .0
        .fetch_add(60_000 + INBOX_RETRY_MS, Ordering::SeqCst);
    assert_eq!(
        world
            .engine
            .files()
            .sweep_inbox(Duration::MAX)
            .unwrap()
            .failed[0]
            .0,
        "y.json"
    );
}

#[test]
fn inbox_limits_are_enforced() {
    let world = World::new();
    for n in 0..=INBOX_SWEEP_MAX {
        world.add_inbox_file(&format!("{n:05}.json"), "{}");
    }
    assert_eq!(
        world
            .engine
            .files()
            .sweep_inbox(Duration::MAX)
            .unwrap()
            .failed
            .len(),
        INBOX_SWEEP_MAX
    );
    assert_eq!(
        world
            .engine
            .files()
            .sweep_inbox(Duration::MAX)
            .unwrap()
            .failed
            .len(),
        1
    );
    fs::create_dir(world.at("inbox/done")).unwrap();
    for n in 0..INBOX_DONE_MAX {
        fs::write(world.at("inbox/done").join(format!("{n}.json")), "").unwrap();
    }
    world.add_inbox_file("last.json", ask("x"));
    world.engine.files().sweep_inbox(Duration::MAX).unwrap();
    let retained = world.names("inbox/done");
    assert_eq!(retained.len(), INBOX_DONE_MAX);
    assert!(retained.contains(&"last.json".to_owned()));
}

#[test]
fn inbox_secret_is_redacted() {
    let world = World::new();
    world.add_inbox_file("x.json", ask("API_TOKEN=8f14e45fceea167a5a36dedd4bea2543"));
    world.add_inbox_file("y.json", "API_TOKEN=8f14e45fceea167a5a36dedd4bea2543");
    world.engine.files().sweep_inbox(Duration::MAX).unwrap();
    for file in ["inbox/done/x.json", "inbox/failed/y.json"] {
        let retained = fs::read_to_string(world.at(file)).unwrap();
        assert!(!retained.contains("8f14e45f"), "{file}: {retained}");
    }
}

#[test]
fn inbox_concurrent_sweeps_process_each_file_once() {
    let store = Arc::new(SqliteStore::memory().unwrap());
    let world = World::over(store);
    for n in 0..40 {
        world.add_inbox_file(&format!("{n:02}.json"), ask(&format!("note {n}")));
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    world.engine.files().sweep_inbox(Duration::MAX).unwrap();
                }
            });
        }
    });
    world.engine.files().sweep_inbox(Duration::MAX).unwrap();
    assert_eq!(world.names("inbox/done").len(), 40);
    assert_eq!(world.notes(), 40);
    assert_eq!(world.memory().matches("- note ").count(), 40);
}

fn person() -> World {
    let world = World::new();
    let remember = |text: &str, source: &str| {
        world.later_s(1);
        let new = NewRecord {
            text: text.to_owned(),
            source: Some(source.to_owned()),
            ..NewRecord::default()
        };
        world.engine.records().remember(new).unwrap().id
    };
    let pinned = remember("answer in English", "user");
    remember("I prefer small commits", "user");
    remember("they like surprises", "agent-7");
    let muted = remember("never mention cats", "user");
    world
        .engine
        .records()
        .mark(pinned, Mark::Pinned(true))
        .unwrap();
    world
        .engine
        .records()
        .mark(muted, Mark::Muted(true))
        .unwrap();
    world
}

#[test]
fn user_memory_is_context_section() {
    let own = person();
    let section = own.engine.contexts().user_section().unwrap();
    assert_eq!(
        output(&section),
        ["answer in English", "I prefer small commits"]
    );
    for n in 0..=USER_RECORDS_MAX {
        let new = NewRecord {
            text: format!("habit number {n}"),
            ..NewRecord::default()
        };
        own.later_s(1);
        own.engine.records().remember(new).unwrap();
    }
    let section = own.engine.contexts().user_section().unwrap();
    assert_eq!(section.offers.len(), USER_RECORDS_MAX);
    assert_eq!(
        output(&section)[..2],
        [
            "answer in English",
            &*format!("habit number {USER_RECORDS_MAX}")
        ]
    );
}

#[test]
fn recall_names_owner_of_hits() {
    let (own, world) = (person(), World::new());
    let new = NewRecord {
        text: "small commits are squashed here".to_owned(),
        ..NewRecord::default()
    };
    world.engine.records().remember(new).unwrap();
    let request = RecallRequest {
        question: "small commits, surprises".to_owned(),
        ..RecallRequest::default()
    };
    let (recalled, whose) = world
        .engine
        .recall()
        .search_with(&own.engine, &request)
        .unwrap();
    let hits: Vec<_> = recalled
        .hits
        .iter()
        .zip(&whose)
        .map(|(hit, whose)| (hit.item.text(), *whose))
        .collect();
    assert!(
        hits.contains(&("I prefer small commits", MemoryOwner::User)),
        "{hits:?}"
    );
    assert!(hits.contains(&("small commits are squashed here", MemoryOwner::Project)));
    assert!(
        !hits.iter().any(|(text, _)| text.contains("surprises")),
        "a proposal"
    );
    let scores: Vec<_> = recalled
        .hits
        .iter()
        .map(|hit| hit.breakdown.total)
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b));
    let one = RecallRequest {
        k: Some(1),
        ..request
    };
    let (recalled, whose) = world
        .engine
        .recall()
        .search_with(&own.engine, &one)
        .unwrap();
    assert_eq!((recalled.hits.len(), whose.len()), (1, 1));
}
