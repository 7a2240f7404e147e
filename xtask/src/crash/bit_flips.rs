//! `journal`: kills a server and flips one bit of the write-ahead log that it leaves.
//!
//! Either every acknowledged write is present, or `doctor` exits with 1, a repair keeps the damaged files, and the
//! lost records were on one page.

use super::export::Export;
use super::rng::Rng;
use super::scenarios::{facts, feed};
use super::server_kills::start;
use crate::sandbox::{self, Sandbox};
use std::collections::BTreeSet;

/// Texts that are written while a server holds the store.
const TEXTS: usize = 40;
/// Maximum number of texts on one page of records. Indexes are rebuilt.
const ON_A_PAGE: usize = 16;

/// Flips one bit in each of `times` logs; the error names the lost records.
pub(super) fn run(base: &Sandbox, times: usize, rng: &mut Rng) -> Result<(), String> {
    let old = (0..100).map(|n| format!("an old fact, number {n}"));
    feed(base, &["remember", "--stdin"], facts(old))?;
    let (mut noticed, mut whole) = (0, 0);
    for time in 0..times {
        let desk = base.copy_to(&base.sibling_path("flip"))?;
        let texts: Vec<String> = (0..TEXTS)
            .map(|n| format!("text {n} of round {time}{}", ", to be kept".repeat(20)))
            .collect();
        let (mut child, _) = start(&desk)?;
        // One process for all writes: they share the log in any case.
        feed(&desk, &["remember", "--stdin"], facts(texts.clone()))?;
        let killed = child.kill().and_then(|()| child.wait());
        killed.map_err(|error| format!("the server cannot be killed: {error}"))?;
        let (at, of) = flip(&desk, rng)?;
        let lost = check(&desk, &texts)
            .map_err(|problem| format!("round {time}, bit {at} of {of}: {problem}"))?;
        noticed += usize::from(lost.is_some());
        whole += usize::from(lost.unwrap_or(0) == 0);
        desk.remove()?;
    }
    println!("journal    {times} flips, {noticed} noticed, {whole} without any loss");
    Ok(())
}

/// Flips a random bit of the log; returns its position and the number of bits.
fn flip(desk: &Sandbox, rng: &mut Rng) -> Result<(u64, u64), String> {
    let path = desk.memory().join("heirloom.db-wal");
    let mut log = std::fs::read(&path).map_err(|error| sandbox::io_error("read", &path, &error))?;
    if rng.below(2) == 0 {
        // As after a restart of the machine, or after copying the database without its shared memory file.
        let shared = desk.memory().join("heirloom.db-shm");
        std::fs::remove_file(&shared)
            .map_err(|error| sandbox::io_error("remove", &shared, &error))?;
    }
    let bits = log.len() as u64 * 8;
    let bit = rng.below(bits);
    let byte = usize::try_from(bit / 8).ok().and_then(|at| log.get_mut(at));
    *byte.ok_or("the log is empty")? ^= 1 << (bit % 8);
    desk.write(&path, &log)?;
    Ok((bit, bits))
}

/// Returns the number of texts that a repair lost; `None` if no repair was necessary.
fn check(desk: &Sandbox, texts: &[String]) -> Result<Option<usize>, String> {
    let missing = |known: &Export| {
        let found: BTreeSet<&str> = known.texts();
        texts
            .iter()
            .filter(|text| !found.contains(text.as_str()))
            .count()
    };
    let doctor = desk.call(&["doctor", "--json"])?;
    if doctor.status.success() {
        let lost = missing(&Export::read(desk)?);
        return match lost {
            0 => Ok(None),
            lost => Err(format!(
                "doctor is content, and {lost} acknowledged writes are gone"
            )),
        };
    }
    desk.call_ok(&["doctor", "--repair"])?;
    let names = sandbox::file_names(&desk.memory());
    let kept = names
        .iter()
        .filter(|name| name.starts_with("heirloom.db.damaged-"));
    if !kept.clone().any(|name| name.ends_with("-wal")) {
        return Err(format!("no damaged log was kept: {names:?}"));
    }
    desk.call_ok(&["doctor"])?;
    let lost = missing(&Export::read(desk)?);
    match lost {
        0..=ON_A_PAGE => Ok(Some(lost)),
        lost => Err(format!("{lost} acknowledged writes did not come back")),
    }
}
