//! Another program that holds the database.

use crate::driver::{Desk, finish};
use rusqlite::Connection;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long it is held: far longer than any write of ours takes.
const HELD: Duration = Duration::from_secs(10);

#[test]
fn a_writer_waits_ten_seconds_for_another_program_and_readers_do_not() {
    let desk = Desk::plain();
    desk.call(&["remember", "before"]).expect(0);
    let path = desk.root().join(".heirloom/heirloom.db");
    let (held, is_held) = mpsc::channel();
    let (read, is_read) = mpsc::channel::<()>();
    let holder = thread::spawn(move || {
        let theirs = Connection::open(path).unwrap();
        theirs.execute_batch("BEGIN IMMEDIATE").unwrap();
        held.send(()).unwrap();
        thread::sleep(HELD);
        // The readers are through by now, or they have waited.
        let through = is_read.try_recv().is_ok();
        theirs.execute_batch("ROLLBACK").unwrap();
        through
    });
    is_held.recv().unwrap();
    let writers: Vec<_> = ["one", "two"]
        .map(|text| {
            let command = desk.heirloom(&["remember", text]);
            thread::spawn(move || finish(command, |_| {}))
        })
        .into();
    for args in [["list"].as_slice(), &["context"], &["status"]] {
        desk.call(args).expect(0);
    }
    assert_eq!(desk.texts("knowledge"), ["before"]);
    read.send(()).unwrap();
    assert!(holder.join().unwrap(), "a reader waited for the writer");
    for writer in writers {
        let ran = writer.join().unwrap().expect(0);
        assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    }
    assert_eq!(desk.texts("knowledge").len(), 3);
    desk.healthy();
}
