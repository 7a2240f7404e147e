//! Many first starts at once, some of which are killed.

use crate::driver::{Desk, Ran, wait};
use std::time::Duration;

#[test]
fn forty_first_starts_with_kills_in_between_make_one_whole_store() {
    const STARTS: usize = 40;
    let desk = Desk::bare();
    desk.project
        .write(".heirloom/config.toml", "[memory]\nenabled = true\n")
        .unwrap();
    let texts: Vec<String> = (0..STARTS).map(|n| format!("fact {n}")).collect();
    let mut children: Vec<_> = texts
        .iter()
        .map(|text| desk.heirloom(&["remember", text]).spawn().unwrap())
        .collect();
    // Every third dies, one after the other, so that each is somewhere else in what it does.
    for child in children.iter_mut().step_by(3) {
        std::thread::sleep(Duration::from_millis(2));
        child.kill().unwrap();
    }
    let ended: Vec<Ran> = children.into_iter().map(wait).collect();
    let known = desk.texts("knowledge");
    for (n, ran) in ended.iter().enumerate() {
        let killed = n % 3 == 0;
        assert!(
            ran.code == 0 || (killed && ran.code == 137),
            "{n}: {} {}",
            ran.code,
            ran.stderr
        );
        // Killed behind its answer it has still answered.
        if ran.code == 0 || !ran.stdout.is_empty() {
            assert!(
                known.contains(&texts[n]),
                "`{}` was acknowledged and is lost",
                texts[n]
            );
        }
    }
    assert!(known.iter().all(|text| texts.contains(text)), "{known:?}");
    desk.healthy();
    assert!(desk.root().join(".heirloom/store.json").exists());
}
