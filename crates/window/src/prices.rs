//! What prompt caches cost, by families of models.

use crate::policy::{CacheMatch, Policy, fits, mils};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The cache of a family of models: a row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Family {
    /// The names: `*` is any run of characters, `?` one; what stands before a `/` in a name does not matter.
    pub pattern: String,
    /// See [`Policy::cache_write_mils`].
    pub cache_write_mils: u64,
    /// See [`Policy::cache_read_mils`].
    pub cache_read_mils: u64,
    /// See [`Policy::cache_lifetime_s`].
    pub cache_lifetime_s: u32,
    /// See [`Policy::cache_match`].
    pub cache_match: CacheMatch,
}

/// The rows that hold when nobody says otherwise.
pub const FAMILIES: [&str; 8] = [
    "claude-* 1.25 0.1 300 prefix",
    "gpt-5* 1 0.1 300 prefix",
    "gpt-4.1* 1 0.25 300 prefix",
    "gpt-4o* 1 0.5 300 prefix",
    "o1* 1 0.5 300 prefix",
    "o3* 1 0.25 300 prefix",
    "o4* 1 0.25 300 prefix",
    "gemini-* 1 0.25 300 prefix",
];

impl Family {
    /// Reads a row: `PATTERN WRITE READ LIFETIME_S MATCH`. Errors say what is wrong with it.
    pub fn parse(row: &str) -> Result<Self, String> {
        let wrong = || format!("`{row}` is no `PATTERN WRITE READ SECONDS prefix|exact`");
        let words: Vec<&str> = row.split_whitespace().collect();
        let [pattern, write, read, lifetime, is] = words[..] else {
            return Err(wrong());
        };
        let price = |word: &str| {
            let price = word.parse::<f64>().map_err(|_| wrong())?;
            mils(pattern, Some(price), 0).map_err(|fault| fault.message)
        };
        Ok(Self {
            pattern: pattern.to_owned(),
            cache_write_mils: price(write)?,
            cache_read_mils: price(read)?,
            cache_lifetime_s: lifetime.parse().map_err(|_| wrong())?,
            cache_match: match is {
                "prefix" => CacheMatch::Prefix,
                "exact" => CacheMatch::Exact,
                _ => return Err(wrong()),
            },
        })
    }

    /// Whether that model is one of them.
    pub fn is_of(&self, model: &str) -> bool {
        let name = model.rsplit('/').next().unwrap_or(model);
        fits(&self.pattern, name) || fits(&self.pattern, model)
    }
}

impl Policy {
    /// The policy for a model: with the prices of the first row that has it, as it is if none has.
    pub fn for_model(&self, model: Option<&str>) -> Cow<'_, Self> {
        let family = model.and_then(|model| self.prices.iter().find(|row| row.is_of(model)));
        let Some(family) = family else {
            return Cow::Borrowed(self);
        };
        let (write, read) = (family.cache_write_mils, family.cache_read_mils);
        let (lifetime, is) = (family.cache_lifetime_s, family.cache_match);
        let said = (
            self.cache_write_mils,
            self.cache_read_mils,
            self.cache_lifetime_s,
            self.cache_match,
        );
        if said == (write, read, lifetime, is) {
            return Cow::Borrowed(self);
        }
        let mut policy = self.clone();
        policy.cache_write_mils = write;
        policy.cache_read_mils = read;
        policy.cache_lifetime_s = lifetime;
        policy.cache_match = is;
        Cow::Owned(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PolicyKeys;

    #[test]
    fn the_first_row_that_has_the_model_says_what_it_costs() {
        let policy = Policy::default();
        for (model, write, read) in [
            ("claude-sonnet-4-5-20250929", 1_250, 100),
            ("anthropic/claude-opus-4-1", 1_250, 100),
            ("gpt-5-codex", 1_000, 100),
            ("gpt-4.1-mini", 1_000, 250),
            ("gpt-4o", 1_000, 500),
            ("o4-mini", 1_000, 250),
            ("llama3", 1_250, 100),
        ] {
            let found = policy.for_model(Some(model));
            let prices = (found.cache_write_mils, found.cache_read_mils);
            assert_eq!(prices, (write, read), "{model}");
        }
        assert_eq!(*policy.for_model(None), policy);
    }

    #[test]
    fn a_key_that_is_said_holds_for_every_model_unless_rows_are_said_too() {
        let read = |text: &str| toml::from_str::<PolicyKeys>(text).unwrap().policy();
        let plain = read("cache_read = 0.9").unwrap();
        assert_eq!(plain.for_model(Some("gpt-5")).cache_read_mils, 900);
        let rows = read("cache_read = 0.9\nprices = ['mine-* 2 0.3 60 exact']").unwrap();
        assert_eq!(rows.for_model(Some("gpt-5")).cache_read_mils, 900);
        let mine = rows.for_model(Some("x/mine-1"));
        assert_eq!((mine.cache_write_mils, mine.cache_read_mils), (2_000, 300));
        assert_eq!(
            (mine.cache_lifetime_s, mine.cache_match),
            (60, CacheMatch::Exact)
        );
        for bad in [
            "a 1 2 3",
            "a 1 2 3 often",
            "a x 2 3 exact",
            "a -1 2 3 exact",
            "a 1 2 3.5 exact",
        ] {
            assert!(read(&format!("prices = ['{bad}']")).is_err(), "{bad}");
        }
    }
}
