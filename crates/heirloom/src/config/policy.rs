//! The policy of a window: from the settings, or from a file of its own.

use super::layers::{self, Layer};
use super::{Config, KEYS};
use heirloom_model::{ErrorKind, Fault, text};
use heirloom_window::{Policy, PolicyKeys};
use std::path::Path;
use toml::Table;

/// The section of a window's keys.
const SECTION: &str = "window";

impl Config {
    /// The policy of the settings: what no layer says is as their profile says.
    pub(crate) fn window(&self) -> Result<Policy, Fault> {
        let said = KEYS.iter().filter_map(|key| {
            let name = key.name.strip_prefix("window.")?;
            let (value, origin) = self.get(key)?;
            (origin.layer != Layer::Default).then(|| (name.to_owned(), value.clone()))
        });
        policy(said.collect(), "the settings")
    }
}

/// The policy of a file of TOML or JSON, which stands alone: what it does not say is as its profile says.
///
/// Errors: `NotFound`; `Usage` for what is neither, and for a key that is none, with the nearest that is one.
pub(crate) fn policy_file(path: &Path) -> Result<Policy, Fault> {
    let place = path.display().to_string();
    let (_, said) = layers::read(path, Layer::Flag)?.ok_or_else(|| {
        Fault::new(ErrorKind::NotFound, format!("there is no file {place}"))
            .hint("a policy is a file of TOML or JSON with keys such as summary_threshold")
    })?;
    let said = said.trim_start_matches('\u{feff}').trim_start();
    let read: Result<Table, String> = if said.starts_with('{') {
        serde_json::from_str(said).map_err(|error| error.to_string())
    } else {
        said.parse()
            .map_err(|error: toml::de::Error| text::one_line(&error.to_string()))
    };
    let mut keys = read.map_err(|error| Fault::usage(format!("{place}: {error}")))?;
    // A piece of a config file is a policy as well.
    if keys.len() == 1
        && let Some(toml::Value::Table(inner)) = keys.get(SECTION)
    {
        keys = inner.clone();
    }
    if let Some(unknown) = keys.keys().find(|key| !is_known(key)) {
        let shown = text::excerpt(unknown, 60);
        return Err(Fault::usage(format!("{place}: there is no key `{shown}`")).hint(near(unknown)));
    }
    policy(keys, &place)
}

fn policy(keys: Table, place: &str) -> Result<Policy, Fault> {
    let keys: PolicyKeys = keys.try_into().map_err(|error: toml::de::Error| {
        Fault::usage(format!("{place}: {}", text::one_line(error.message())))
            .hint("`heirloom config window` lists every key")
    })?;
    keys.policy().map_err(|fault| Fault {
        message: format!("{place}: {}", fault.message),
        ..fault
    })
}

fn known() -> impl Iterator<Item = &'static str> {
    KEYS.iter()
        .filter_map(|key| key.name.strip_prefix("window."))
}

fn is_known(name: &str) -> bool {
    known().any(|key| key == name)
}

/// The key that somebody may have meant.
fn near(name: &str) -> String {
    let name = text::clip(name, 60).to_lowercase();
    let nearest = known().min_by_key(|key| strsim::osa_distance(key, &name));
    match nearest {
        Some(key) => format!("did you mean `{key}`? `heirloom config window` lists every key"),
        None => "`heirloom config window` lists every key".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::layers::tests::layered;
    use super::*;
    use heirloom_window::Profile;

    #[test]
    fn the_defaults_of_the_settings_are_those_of_the_window() {
        let config = Config::defaults().unwrap();
        assert_eq!(config.window().unwrap(), Policy::default());
        let all = KEYS.iter().filter_map(|key| {
            let name = key.name.strip_prefix("window.")?;
            Some((name.to_owned(), config.get(key)?.0.clone()))
        });
        assert_eq!(policy(all.collect(), "all").unwrap(), Policy::default());
    }

    #[test]
    fn a_profile_holds_for_what_no_layer_says() {
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

    #[test]
    fn a_key_that_is_none_is_told_with_the_nearest() {
        assert!(near("summary_treshold").contains("`summary_threshold`"));
        assert!(near(&"x".repeat(9_000)).contains("did you mean"));
    }
}
