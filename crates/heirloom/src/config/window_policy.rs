//! Window policy from the settings, or from a policy file.

use super::layers::{self, Layer};
use super::window_key_suggestion::{is_known, suggest_key};
use super::{Config, KEYS};
use heirloom_model::text::EscapedPath;
use heirloom_model::{ErrorKind, Fault, text};
use heirloom_window::{Policy, PolicyKeys};
use std::path::Path;
use toml::Table;

/// Config section of the window's keys.
const SECTION: &str = "window";

impl Config {
    /// Returns the policy of the settings: keys that no layer sets have the values of the profile.
    pub(crate) fn window(&self) -> Result<Policy, Fault> {
        let values = KEYS.iter().filter_map(|key| {
            let name = key.name.strip_prefix("window.")?;
            let (value, origin) = self.get(key)?;
            (origin.layer != Layer::Default).then(|| (name.to_owned(), value.clone()))
        });
        build_policy(values.collect(), "the settings")
    }
}

/// Reads a policy file in TOML or JSON, independent of the settings: missing keys have the values of its profile.
///
/// Errors: `NotFound`; `Usage` for a file that is neither TOML nor JSON, and for an unknown key, with the closest
/// known one as hint.
pub(crate) fn policy_file(path: &Path) -> Result<Policy, Fault> {
    let place = path.to_escaped();
    let (_, content) = layers::read_config(path, Layer::Flag)?.ok_or_else(|| {
        Fault::new(ErrorKind::NotFound, format!("there is no file {place}"))
            .hint("a policy is a file of TOML or JSON with keys such as summary_threshold")
    })?;
    let content = content.trim_start_matches('\u{feff}').trim_start();
    let read: Result<Table, String> = if content.starts_with('{') {
        serde_json::from_str(content).map_err(|error| error.to_string())
    } else {
        content
            .parse()
            .map_err(|error: toml::de::Error| text::one_line(&error.to_string()))
    };
    let mut keys = read.map_err(|error| Fault::usage(format!("{place}: {error}")))?;
    // The `[window]` section of a config file is accepted too.
    if keys.len() == 1
        && let Some(toml::Value::Table(inner)) = keys.get(SECTION)
    {
        keys = inner.clone();
    }
    if let Some(unknown) = keys.keys().find(|key| !is_known(key)) {
        let key_excerpt = text::excerpt(unknown, 60);
        return Err(
            Fault::usage(format!("{place}: there is no key `{key_excerpt}`"))
                .hint(suggest_key(unknown)),
        );
    }
    build_policy(keys, &place)
}

fn build_policy(keys: Table, place: &str) -> Result<Policy, Fault> {
    let keys: PolicyKeys = keys.try_into().map_err(|error: toml::de::Error| {
        Fault::usage(format!("{place}: {}", text::one_line(error.message())))
            .hint("`heirloom config window` lists every key")
    })?;
    keys.policy().map_err(|fault| Fault {
        message: format!("{place}: {}", fault.message),
        ..fault
    })
}

#[cfg(test)]
mod tests {
    use super::super::layers::tests::layered;
    use super::*;
    use heirloom_window::Profile;

    #[test]
    fn default_settings_equal_default_policy() {
        let config = Config::defaults().unwrap();
        assert_eq!(config.window().unwrap(), Policy::default());
        let all = KEYS.iter().filter_map(|key| {
            let name = key.name.strip_prefix("window.")?;
            Some((name.to_owned(), config.get(key)?.0.clone()))
        });
        assert_eq!(
            build_policy(all.collect(), "all").unwrap(),
            Policy::default()
        );
    }

    #[test]
    fn profile_sets_keys_that_no_layer_sets() {
        let config = layered(
            "[window]\nprofile = 'seed'\ncache_read = 0.2\n[window.tools.'db_*']\nmax_length = 900",
            "[window]\npreview_length = 700\nsummary_threshold = -4\ncache_write = 'much'",
            &["window.expected_turns=7"],
        );
        let warned: Vec<_> = config
            .warnings
            .iter()
            .map(|one| one.message.as_str())
            .collect();
        assert_eq!(warned.len(), 2, "{warned:?}");
        let found = config.window().unwrap();
        let seed = Policy::profile(Profile::Seed);
        assert_eq!(found.max_output_length, seed.max_output_length);
        assert_eq!((found.preview_length, found.expected_turns), (700, 7));
        assert_eq!(
            (found.cache_read_mils, found.summary_threshold),
            (200, 40_000)
        );
        assert_eq!(found.tools["db_*"].max_length, Some(900));
    }
}
