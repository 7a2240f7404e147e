//! Query parser: words, phrases, filters and dates.

mod filters;
mod query_token;

pub use filters::{QueryFilters, is_turn_kind};

use super::dates::{self, TimeSpan};
use heirloom_model::record::check_name;
use heirloom_model::{Kind, Timestamp, limits, text};
use query_token::{QueryToken, next_token};

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedQuery {
    /// The words: everything except filters, separated by single spaces. Phrases and dates are included.
    pub text: String,
    /// Phrases in double quotes.
    pub phrases: Vec<String>,
    /// Filters of the result.
    pub filters: QueryFilters,
    /// Dates among the words; items from these dates rank higher.
    pub dates: Vec<TimeSpan>,
    /// Notes for the person.
    pub notes: Vec<String>,
}

impl ParsedQuery {
    /// Parses a query; never fails.
    ///
    /// `name:value` is a filter if the name is one of `kind task agent plan group session phase category source key
    /// before after on`. The value may be in double quotes. All else is words: `std::fs`, `http://x`, `foo:bar`, text in
    /// backticks, and a filter with an invalid value, which gets a note: pasted text contains `kind:Deployment`.
    /// Relative dates are resolved from `now`.
    pub fn parse(question: &str, now: Timestamp) -> Self {
        let mut reader = QueryBuilder::new(now);
        let mut rest = question;
        while let Some(piece) = next_token(&mut rest) {
            reader.add_token(&piece);
        }
        reader.finish()
    }

    /// Parses only words, phrases and dates, for texts that were not written as a query.
    pub fn parse_as_text(question: &str, now: Timestamp) -> Self {
        let mut reader = QueryBuilder::new(now);
        let mut rest = question;
        while let Some(piece) = next_token(&mut rest) {
            match piece {
                QueryToken::Filter { whole, .. } => reader.add_token(&QueryToken::Word(whole)),
                QueryToken::Word(_) | QueryToken::Phrase(_) => reader.add_token(&piece),
            }
        }
        reader.finish()
    }
}

/// Splits a query into its words and its filters, as they are written.
pub fn split_filters(question: &str) -> (String, Vec<String>) {
    let (mut words, mut filters) = (Vec::new(), Vec::new());
    let mut rest = question;
    loop {
        let before = rest.trim_start();
        let Some(token) = next_token(&mut rest) else {
            return (words.join(" "), filters);
        };
        let source = before.get(..before.len() - rest.len()).unwrap_or_default();
        match token {
            QueryToken::Filter { .. } => filters.push(source.to_owned()),
            QueryToken::Word(_) | QueryToken::Phrase(_) => words.push(source),
        }
    }
}

/// Collects the parts of a query.
struct QueryBuilder {
    now: Timestamp,
    query: ParsedQuery,
    parts: usize,
}

impl QueryBuilder {
    fn new(now: Timestamp) -> Self {
        Self {
            now,
            query: ParsedQuery::default(),
            parts: 0,
        }
    }

    fn add_token(&mut self, piece: &QueryToken<'_>) {
        match *piece {
            QueryToken::Word(word) => self.add_word(word),
            QueryToken::Phrase(inside) => {
                if self.has_room() {
                    self.query.phrases.push(text::one_line(inside));
                }
                self.add_word(inside);
            }
            QueryToken::Filter { whole, .. } if !self.has_room() => self.add_word(whole),
            QueryToken::Filter { whole, name, value } => {
                if let Err(problem) = self.add_filter(name, value) {
                    self.query
                        .notes
                        .push(format!("{problem}; searched as a word"));
                    self.add_word(whole);
                }
            }
        }
    }

    /// Counts a phrase or a filter; beyond the cap they are treated as words.
    fn has_room(&mut self) -> bool {
        self.parts += 1;
        if self.parts == limits::RECALL_PARTS_MAX + 1 {
            self.query.notes.push(format!(
                "only the first {} filters and phrases count as such",
                limits::RECALL_PARTS_MAX
            ));
        }
        self.parts <= limits::RECALL_PARTS_MAX
    }

    fn add_word(&mut self, word: &str) {
        if !self.query.text.is_empty() {
            self.query.text.push(' ');
        }
        self.query.text.push_str(word.trim());
    }

    /// Adds a filter. Errors: the problem of its value.
    fn add_filter(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "kind" => self.add_kinds(value),
            "before" | "after" | "on" => self.add_date_filter(name, value),
            _ => self.add_name_filter(name, value),
        }
    }

    fn add_kinds(&mut self, value: &str) -> Result<(), String> {
        let mut kinds = Vec::new();
        let mut has_turns = false;
        for one in value.split(',').filter(|one| !one.is_empty()) {
            match is_turn_kind(one) {
                true => has_turns = true,
                false => kinds.push(
                    one.parse::<Kind>()
                        .map_err(|bad| format!("{bad}, message"))?,
                ),
            }
        }
        let filters = &mut self.query.filters;
        filters.turns |= has_turns;
        for kind in kinds {
            if !filters.kinds.contains(&kind) {
                filters.kinds.push(kind);
            }
        }
        Ok(())
    }

    fn add_date_filter(&mut self, name: &str, value: &str) -> Result<(), String> {
        let span = dates::parse_date(value, self.now).ok_or_else(|| {
            format!(
                "`{name}:{}`: not a date; use a day such as 2026-05-01, a time of RFC 3339, \
                 yesterday, last-week, \"3 May\"",
                text::excerpt(value, 40)
            )
        })?;
        let filters = &mut self.query.filters;
        let latest = |old: Option<Timestamp>, new| Some(old.map_or(new, |old| old.max(new)));
        let earliest = |old: Option<Timestamp>, new| Some(old.map_or(new, |old| old.min(new)));
        match name {
            "after" => filters.after = latest(filters.after, span.from),
            "before" => filters.before = earliest(filters.before, span.from),
            _ => {
                filters.after = latest(filters.after, span.from);
                filters.before = earliest(filters.before, span.to);
            }
        }
        if name != "before" && span.from > self.now {
            self.query.notes.push(format!(
                "`{name}:{}` is in the future: nothing was recorded then",
                text::excerpt(value, 40)
            ));
        }
        Ok(())
    }

    fn add_name_filter(&mut self, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        let too_long = name == "key" && value.len() <= limits::KEY_BYTES_MAX;
        if let Err(bad) = check_name(name, value)
            && !too_long
        {
            return Err(bad.to_string());
        }
        let filters = &mut self.query.filters;
        let slot = match name {
            "task" => &mut filters.scope.task,
            "agent" => &mut filters.scope.agent,
            "plan" => &mut filters.scope.plan,
            "group" => &mut filters.scope.group,
            "session" => &mut filters.scope.session,
            "phase" => &mut filters.scope.phase,
            "category" => &mut filters.category,
            "source" => &mut filters.source,
            _ => &mut filters.key,
        };
        if slot.as_ref().is_some_and(|other| other != value) {
            return Err(format!("`{name}:` has two different values"));
        }
        *slot = Some(value.to_owned());
        Ok(())
    }

    fn finish(mut self) -> ParsedQuery {
        let filters = &self.query.filters;
        if let (Some(after), Some(before)) = (filters.after, filters.before)
            && after >= before
        {
            let note = "no time is both after and before these dates".to_owned();
            self.query.notes.push(note);
        }
        self.query.dates = dates::find_dates(&self.query.text, self.now, limits::RECALL_PARTS_MAX);
        if self.query.dates.iter().any(|span| span.from > self.now) {
            let note = "a date in the query is in the future".to_owned();
            self.query.notes.push(note);
        }
        self.query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-05-20T15:00:00Z".parse().unwrap()
    }

    fn query(question: &str) -> ParsedQuery {
        ParsedQuery::parse(question, now())
    }

    #[test]
    fn parse_removes_filters_from_words() {
        let found = query("kind:error task:42 Agent:bob why does it fail before:2026-05-01");
        assert_eq!(found.text, "why does it fail");
        assert_eq!(found.filters.kinds, [Kind::Error]);
        assert_eq!(found.filters.scope.task.as_deref(), Some("42"));
        assert_eq!(found.filters.scope.agent.as_deref(), Some("bob"));
        let before = "2026-05-01T00:00:00Z".parse().ok();
        assert_eq!((found.filters.before, found.filters.after), (before, None));
        let found = query(r#"source:"Mr Smith" kind:errors,note key:src/a.rs:3"#);
        assert_eq!(found.text, "");
        assert_eq!(found.filters.source.as_deref(), Some("Mr Smith"));
        assert_eq!(found.filters.key.as_deref(), Some("src/a.rs:3"));
        assert_eq!(found.filters.kinds, [Kind::Error, Kind::Note]);
    }

    #[test]
    fn split_filters_keeps_the_written_form() {
        let (words, filters) =
            split_filters("  why \"does it\" kind:error  fail source:\"Mr Smith\" `on:x` foo:bar");
        assert_eq!(words, "why \"does it\" fail `on:x` foo:bar");
        assert_eq!(filters, ["kind:error", "source:\"Mr Smith\""]);
        assert_eq!(split_filters(" "), (String::new(), Vec::new()));
    }

    #[test]
    fn parse_treats_unknown_filters_as_words() {
        for words in [
            "std::fs",
            "http://x",
            "foo:bar",
            "key: value",
            "on::off",
            "source://x",
            "task:",
            "a:b:c",
            "::",
            ":",
            "key",
            "ontask:4",
            "ünder:x",
            "x kind",
        ] {
            let found = query(words);
            assert_eq!(
                (found.text.as_str(), found.filters),
                (words, QueryFilters::default())
            );
        }
        assert_eq!(
            query("the `kind:pattern` syntax").text,
            "the kind:pattern syntax"
        );
        let words = ParsedQuery::parse_as_text("kind:pattern task:\"a b\" x", now());
        assert_eq!(words.text, "kind:pattern task:\"a b\" x");
        assert!(words.filters.is_empty() && words.notes.is_empty());
    }

    #[test]
    fn parse_treats_invalid_filter_value_as_word() {
        for (question, part) in [
            ("kind:pattern x", "`pattern` is not a kind"),
            ("kind:error,Deployment x", "`Deployment` is not a kind"),
            ("before:soon", "`before:soon`: not a date"),
            ("on:2026-13-01", "not a date"),
        ] {
            let found = query(question);
            assert_eq!(found.text, question);
            assert!(found.filters.is_empty(), "{question}");
            assert!(found.notes[0].contains(part), "{:?}", found.notes);
        }
        let twice = query("task:1 task:2");
        assert_eq!(twice.text, "task:2");
        assert_eq!(twice.filters.scope.task.as_deref(), Some("1"));
        assert!(twice.notes[0].contains("two different values"));
        let long = "x".repeat(limits::NAME_BYTES_MAX + 1);
        assert_eq!(query(&format!("task:{long}")).notes.len(), 1);
        assert_eq!(query(&format!("key:{long}")).notes.len(), 0);
    }

    #[test]
    fn parse_phrases_are_also_words() {
        let found = query(r#"where is "the  left pane" drawn, and “the right”?"#);
        assert_eq!(found.phrases, ["the left pane", "the right"]);
        assert_eq!(found.text, "where is the  left pane drawn, and the right ?");
        for odd in [r#"a 5" disk"#, r#"""#, r#"" ""#, r#"say "it"#, "\"x\"y"] {
            assert_eq!(query(odd).phrases, [""; 0], "{odd}");
        }
    }

    #[test]
    fn parse_dates_rank_and_date_filters_narrow() {
        let found = query("what broke last week?");
        assert_eq!(found.dates.len(), 1);
        assert_eq!((found.filters.after, found.filters.before), (None, None));
        let found = query("on:yesterday x");
        assert_eq!(found.dates, []);
        assert!(found.filters.after < found.filters.before);
        let future = query("after:2031-01-01 x");
        assert!(future.notes[0].contains("future"), "{:?}", future.notes);
        let never = query("after:2026-05-02 before:2026-05-01 x");
        assert!(never.notes[0].contains("no time"), "{:?}", never.notes);
    }

    #[test]
    fn parse_excess_parts_become_words() {
        let most = limits::RECALL_PARTS_MAX;
        let found = query(&"\"x\" ".repeat(most));
        assert_eq!((found.phrases.len(), found.notes.len()), (most, 0));
        let found = query(&"\"x\" ".repeat(most + 1));
        assert_eq!((found.phrases.len(), found.notes.len()), (most, 1));
        assert_eq!(found.text.split(' ').count(), most + 1);
    }

    #[test]
    fn filters_select_turns_and_records() {
        let turns = query("kind:message x").filters;
        assert!(turns.includes_turns() && !turns.includes_records());
        let both = query("kind:turn,note x").filters;
        assert!(both.includes_turns() && both.includes_records());
        let facts = query("category:fact x").filters;
        assert!(!facts.includes_turns() && facts.includes_records());
        assert!(query("x").filters.includes_turns());
    }

    proptest::proptest! {
        #[test]
        fn parse_accepts_any_text(
            text in "([a-z]{1,5}|kind|task|on|before|[:\"`“”,/ \n-]|2026-05-0[0-9]|last|week|\\PC|may|3rd|ago){0,30}"
        ) {
            let found = ParsedQuery::parse(&text, now());
            assert!(found.text.len() <= text.len() + found.phrases.len());
            let again = ParsedQuery::parse_as_text(&found.text, now());
            assert!(again.filters.is_empty());
        }
    }
}
