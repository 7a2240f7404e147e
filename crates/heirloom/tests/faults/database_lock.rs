//! Another program that locks the database.

use crate::driver::{ProjectFixture, finish};
use rusqlite::Connection;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Duration of the lock: far longer than any write of Heirloom.
const LOCK_DURATION: Duration = Duration::from_secs(10);

#[test]
fn writer_waits_for_lock_of_other_program_and_readers_do_not() {
    let fixture = ProjectFixture::plain();
    fixture.call(&["remember", "before"]).expect(0);
    let path = fixture.root().join(".heirloom/heirloom.db");
    let (lock_taken, wait_for_lock) = mpsc::channel();
    let (readers_done, wait_for_readers) = mpsc::channel::<()>();
    let holder = thread::spawn(move || {
        let other_program = Connection::open(path).unwrap();
        other_program.execute_batch("BEGIN IMMEDIATE").unwrap();
        lock_taken.send(()).unwrap();
        thread::sleep(LOCK_DURATION);
        // The readers have finished by now, or they were blocked.
        let readers_finished = wait_for_readers.try_recv().is_ok();
        other_program.execute_batch("ROLLBACK").unwrap();
        readers_finished
    });
    wait_for_lock.recv().unwrap();
    let writing_calls: Vec<_> = ["one", "two"]
        .map(|text| {
            let command = fixture.heirloom(&["remember", text]);
            thread::spawn(move || finish(command, |_| {}))
        })
        .into();
    for args in [["list"].as_slice(), &["context"], &["status"]] {
        fixture.call(args).expect(0);
    }
    assert_eq!(fixture.texts("knowledge"), ["before"]);
    readers_done.send(()).unwrap();
    assert!(holder.join().unwrap(), "a reader waited for the writer");
    for writer in writing_calls {
        let result = writer.join().unwrap().expect(0);
        assert!(result.stderr.is_empty(), "{}", result.stderr);
    }
    assert_eq!(fixture.texts("knowledge").len(), 3);
    fixture.assert_healthy();
}
