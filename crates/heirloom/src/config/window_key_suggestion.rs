//! Suggestion of the known key that is closest to an unknown one.

use super::KEYS;
use heirloom_model::text;

/// Returns true if the section `window` has a key of this name.
pub(super) fn is_known(name: &str) -> bool {
    known_keys().any(|key| key == name)
}

/// Returns a hint with the key closest to an unknown one.
pub(super) fn suggest_key(name: &str) -> String {
    let name = text::clip(name, 60).to_lowercase();
    let nearest = known_keys().min_by_key(|key| strsim::osa_distance(key, &name));
    match nearest {
        Some(key) => format!("did you mean `{key}`? `heirloom config window` lists every key"),
        None => "`heirloom config window` lists every key".to_owned(),
    }
}

/// Returns the keys of the section `window`.
fn known_keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter()
        .filter_map(|key| key.name.strip_prefix("window."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_key_suggests_closest_key() {
        assert!(suggest_key("summary_treshold").contains("`summary_threshold`"));
        assert!(suggest_key(&"x".repeat(9_000)).contains("did you mean"));
    }
}
