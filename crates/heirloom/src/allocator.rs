//! How the C library hands out memory to a process of many threads.
//!
//! By itself it makes eight heaps a processor and gives little back once a large block was freed: a server then holds
//! twice what it uses (docs/decisions/0072). It is told otherwise by variables that it reads when a process starts.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Few heaps, and blocks of a megabyte or more that are given back when they are freed.
const SETTINGS: [(&str, &str); 2] = [
    ("MALLOC_ARENA_MAX", "4"),
    ("MALLOC_MMAP_THRESHOLD_", "1048576"),
];

/// Begins the process anew with these settings, unless somebody has set one of them. Comes back where that is so, or
/// where it cannot be: the process then only holds more memory.
#[expect(
    clippy::disallowed_methods,
    reason = "these are the C library's, and no settings of ours"
)]
pub(crate) fn keep_small() {
    if SETTINGS
        .iter()
        .any(|(name, _)| std::env::var_os(name).is_some())
    {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut words = std::env::args_os();
    let mut anew = Command::new(program);
    if let Some(name) = words.next() {
        anew.arg0(name);
    }
    // Only a failure comes back.
    drop(anew.args(words).envs(SETTINGS).exec());
}
