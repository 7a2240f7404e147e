//! Concurrent first starts, some of which are killed.

use crate::driver::{CallResult, ProjectFixture, wait};
use std::time::Duration;

#[test]
fn concurrent_first_starts_with_kills_create_one_valid_store() {
    const STARTS: usize = 40;
    let fixture = ProjectFixture::bare();
    fixture
        .project
        .write(".heirloom/config.toml", "[memory]\nenabled = true\n")
        .unwrap();
    let texts: Vec<String> = (0..STARTS).map(|n| format!("fact {n}")).collect();
    let mut children: Vec<_> = texts
        .iter()
        .map(|text| fixture.heirloom(&["remember", text]).spawn().unwrap())
        .collect();
    // Kill every third process, one after the other, so that each is at another point of its work.
    for child in children.iter_mut().step_by(3) {
        std::thread::sleep(Duration::from_millis(2));
        child.kill().unwrap();
    }
    let ended: Vec<CallResult> = children.into_iter().map(wait).collect();
    let known = fixture.texts("knowledge");
    for (n, result) in ended.iter().enumerate() {
        let killed = n % 3 == 0;
        assert!(
            result.code == 0 || (killed && result.code == 137),
            "{n}: {} {}",
            result.code,
            result.stderr
        );
        // A process killed after its answer has still acknowledged the write.
        if result.code == 0 || !result.stdout.is_empty() {
            assert!(
                known.contains(&texts[n]),
                "`{}` was acknowledged and is lost",
                texts[n]
            );
        }
    }
    assert!(known.iter().all(|text| texts.contains(text)), "{known:?}");
    fixture.assert_healthy();
    assert!(fixture.root().join(".heirloom/store.json").exists());
}
