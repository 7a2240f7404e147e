//! A disk without room.

use crate::driver::{Desk, Ran, finish};
use crate::room::Room;
use std::process::Command;

/// Calls that write, with what they read.
fn writers() -> Vec<(Vec<&'static str>, &'static str)> {
    let many = ["remember", "--stdin"];
    vec![
        (vec!["remember", "after"], ""),
        (many.to_vec(), "{\"text\": \"one\"}\n{\"text\": \"two\"}\n"),
        (
            vec!["observe", "--task", "t"],
            "HEIRLOOM_MEMORY: KEY_FACT seen\nHEIRLOOM_MEMORY: STEP_DONE it\n",
        ),
        (vec!["import", "jsonl", "carried.jsonl"], ""),
        (vec!["outcome", "--task", "t", "--status", "COMPLETE"], ""),
        (vec!["run", "--iterations", "1", "--", "echo", "done"], ""),
    ]
}

/// It failed, with words about the disk and what to do.
#[track_caller]
fn says_full(ran: &Ran, what: &[&str]) {
    assert_eq!(ran.code, 1, "{what:?}: {} {}", ran.text(), ran.stderr);
    let full = ["the disk is full", "the disk may be full"];
    let told = full.iter().any(|words| ran.stderr.contains(words));
    assert!(
        told && ran.stderr.contains("hint: "),
        "{what:?}: {}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("panic"), "{what:?}: {}", ran.stderr);
}

/// Nothing of a write that failed lies about.
fn is_tidy(room: &Room) {
    let names = room.names(".heirloom");
    let left = names.iter().find(|name| name.contains(".tmp"));
    assert_eq!(left, None, "{names:?}");
}

#[test]
fn a_full_disk_is_said_and_nothing_is_lost_or_halved() {
    let Some(room) = Room::of("3m") else { return };
    room.call(&["remember", "before"]).expect(0);
    let exported = "{\"kind\": \"note\", \"text\": \"carried\", \"id\": \"01890a5d-ac96-774b-bcce-b302099a8057\", \
        \"source\": \"user\", \"confidence\": 1.0, \"tokens\": 1, \"category\": \"Notes\", \
        \"recorded_at\": \"2026-05-01T10:00:00Z\"}\n";
    heirloom_store::durable::write_atomic(&room.path("carried.jsonl"), exported.as_bytes())
        .unwrap();
    room.fill(0);
    // Reading needs no room.
    assert_eq!(room.texts("knowledge"), ["before"]);
    assert!(room.call(&["context"]).expect(0).text().contains("before"));
    for (args, input) in writers() {
        says_full(&room.feed(&args, input), &args);
    }
    assert_eq!(room.texts("knowledge"), ["before"]);
    is_tidy(&room);
    room.clear();
    room.healthy();
    assert_eq!(room.texts("knowledge"), ["before"]);
    for (args, input) in writers() {
        room.feed(&args, input).expect(0);
    }
    let known = room.texts("knowledge");
    assert_eq!(known, ["before", "after", "one", "two", "seen"]);
    assert_eq!(room.texts("note"), ["carried"]);
    room.healthy();
}

#[test]
fn what_was_acknowledged_while_a_disk_filled_is_there() {
    let Some(room) = Room::of("24m") else { return };
    room.fill(300 << 10);
    let lines: String = (0..4_000)
        .map(|n| format!("{{\"text\": \"{n} {}\"}}\n", "x".repeat(400)))
        .collect();
    let ran = room.feed(&["remember", "--stdin"], &lines);
    says_full(&ran, &["remember", "--stdin"]);
    let acknowledged = ran.events();
    assert!(
        acknowledged
            .iter()
            .all(|answer| answer["outcome"] == "created")
    );
    let known = room.texts("knowledge");
    let numbers: Vec<_> = known
        .iter()
        .map(|text| text.split(' ').next().unwrap())
        .collect();
    let wanted: Vec<_> = (0..known.len()).map(|n| n.to_string()).collect();
    assert_eq!(numbers, wanted, "from the first on, without a gap");
    assert!(
        known.len() >= acknowledged.len() && known.len() < 4_000,
        "{}",
        known.len()
    );
    assert!(known.iter().all(|text| text.ends_with(&"x".repeat(400))));
    room.clear();
    room.feed(&["remember", "--stdin"], &lines).expect(0);
    assert_eq!(room.texts("knowledge").len(), 4_000);
    room.healthy();
}

#[test]
fn a_mirror_that_finds_no_room_stays_the_old_one() {
    let Some(room) = Room::of("3m") else { return };
    let run = [
        "run",
        "--iterations",
        "1",
        "--",
        "echo",
        "HEIRLOOM_MEMORY: KEY_FACT early",
    ];
    room.call(&run).expect(0);
    let before = std::fs::read(room.path(".heirloom/memory.json")).unwrap();
    for n in 0..20 {
        let fact = format!("{n} {}", "y".repeat(10_000));
        room.call(&["remember", &fact]).expect(0);
    }
    // Room for an outcome in the journal, none for a mirror of 200 kB.
    room.fill(150 << 10);
    let outcome = ["outcome", "--task", "t", "--status", "COMPLETE"];
    says_full(&room.call(&outcome), &outcome);
    let after = std::fs::read(room.path(".heirloom/memory.json")).unwrap();
    assert!(after == before, "the mirror was touched");
    is_tidy(&room);
    room.clear();
    room.call(&outcome).expect(0);
    let after = std::fs::read(room.path(".heirloom/memory.json")).unwrap();
    assert!(after.len() > 200_000);
    room.healthy();
}

#[test]
fn a_first_start_on_a_full_disk_leaves_nothing_that_is_in_the_way() {
    let Some(room) = Room::bare("1m") else { return };
    for free_bytes in [0, 8 << 10, 24 << 10, 64 << 10, 100 << 10] {
        room.fill(free_bytes);
        let ran = room.call(&["init"]);
        if ran.code != 0 {
            says_full(&ran, &["init"]);
        }
        room.clear();
    }
    room.call(&["init"]).expect(0);
    is_tidy(&room);
    room.call(&["remember", "it works"]).expect(0);
    room.healthy();
}

/// Calls the program where no file may grow beyond `blocks` of 512 bytes.
fn limited(desk: &Desk, blocks: u32, rest: &str) -> Ran {
    let program = desk.heirloom(&[]);
    let mut shell = Command::new("sh");
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let binary = env!("CARGO_BIN_EXE_heirloom");
    shell.args(["-c", &format!("ulimit -f {blocks}; '{binary}' {rest}")]);
    shell
        .current_dir(desk.root())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    finish(shell, |_| {})
}

/// As on machines where nothing can be mounted; and the words were "disk I/O error … permissions".
#[test]
fn a_limit_on_file_sizes_is_named() {
    let desk = Desk::plain();
    desk.call(&["remember", "before"]).expect(0);
    let text = "z".repeat(300_000);
    desk.project
        .write("text", format!("{{\"text\": \"{text}\"}}\n"))
        .unwrap();
    desk.project
        .write(
            "signals",
            format!("HEIRLOOM_MEMORY: KEY_FACT {}\n", "s".repeat(15_000)).repeat(1),
        )
        .unwrap();
    for (blocks, rest) in [(400, "remember --stdin <text"), (20, "observe <signals")] {
        let ran = limited(&desk, blocks, rest);
        says_full(&ran, &[rest]);
        let words = "a limit on file sizes was reached";
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        assert!(ran.stderr.contains("ulimit -f"), "{}", ran.stderr);
        desk.healthy();
        assert_eq!(desk.texts("knowledge"), ["before"]);
    }
    desk.feed(
        &["remember", "--stdin"],
        desk.project.read("text").unwrap().as_bytes(),
    )
    .expect(0);
    assert_eq!(desk.texts("knowledge").len(), 2);
}
