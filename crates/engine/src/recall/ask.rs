//! What a question's text asks for: words, phrases, filters and dates.

mod filters;
mod piece;

pub use filters::{Filters, is_turn};

use super::dates::{self, Span};
use heirloom_model::record::check_name;
use heirloom_model::{Kind, Timestamp, limits, text};
use piece::{Piece, next_piece};

/// A question, taken apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    /// Its words: everything but the filters, one space between them. Phrases and dates are words too.
    pub text: String,
    /// What stood in double quotes.
    pub phrases: Vec<String>,
    /// What narrows the answer.
    pub filters: Filters,
    /// Dates among the words: what lies there ranks higher.
    pub dates: Vec<Span>,
    /// Filters that cannot be used. Whoever does not want to fail asks [`Asked::words`] instead.
    pub errors: Vec<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

impl Asked {
    /// Takes the question apart. Any text gives a value.
    ///
    /// `name:value` is a filter if the name is one: `kind task agent plan group session phase category source
    /// key before after on`. The value may stand in double quotes. Everything else is words: `std::fs`,
    /// `http://x`, `foo:bar`, and whatever stands in backticks. `now` is what dates in words count from.
    pub fn of(question: &str, now: Timestamp) -> Self {
        let mut reader = Reader::new(now);
        let mut rest = question;
        while let Some(piece) = next_piece(&mut rest) {
            reader.take(&piece);
        }
        reader.end()
    }

    /// The same with nothing but words, phrases and dates: for texts that nobody wrote as a question.
    pub fn words(question: &str, now: Timestamp) -> Self {
        let mut reader = Reader::new(now);
        let mut rest = question;
        while let Some(piece) = next_piece(&mut rest) {
            match piece {
                Piece::Filter { whole, .. } => reader.take(&Piece::Word(whole)),
                Piece::Word(_) | Piece::Phrase(_) => reader.take(&piece),
            }
        }
        reader.end()
    }
}

/// The question as it comes together.
struct Reader {
    now: Timestamp,
    asked: Asked,
    parts: usize,
}

impl Reader {
    fn new(now: Timestamp) -> Self {
        Self {
            now,
            asked: Asked::default(),
            parts: 0,
        }
    }

    fn take(&mut self, piece: &Piece<'_>) {
        match *piece {
            Piece::Word(word) => self.word(word),
            Piece::Phrase(inside) => {
                if self.has_room() {
                    self.asked.phrases.push(text::one_line(inside));
                }
                self.word(inside);
            }
            Piece::Filter { whole, .. } if !self.has_room() => self.word(whole),
            Piece::Filter { name, value, .. } => self.filter(name, value),
        }
    }

    /// Counts a phrase or a filter; beyond the cap they are words.
    fn has_room(&mut self) -> bool {
        self.parts += 1;
        if self.parts == limits::RECALL_PARTS_MAX + 1 {
            self.asked.notes.push(format!(
                "only the first {} filters and phrases count as such",
                limits::RECALL_PARTS_MAX
            ));
        }
        self.parts <= limits::RECALL_PARTS_MAX
    }

    fn word(&mut self, word: &str) {
        if !self.asked.text.is_empty() {
            self.asked.text.push(' ');
        }
        self.asked.text.push_str(word.trim());
    }

    fn filter(&mut self, name: &str, value: &str) {
        match name {
            "kind" => self.kinds(value),
            "before" | "after" | "on" => self.date(name, value),
            _ => self.named(name, value),
        }
    }

    fn kinds(&mut self, value: &str) {
        for one in value.split(',').filter(|one| !one.is_empty()) {
            let filters = &mut self.asked.filters;
            match one.parse::<Kind>() {
                _ if is_turn(one) => filters.turns = true,
                Ok(kind) if filters.kinds.contains(&kind) => {}
                Ok(kind) => filters.kinds.push(kind),
                Err(bad) => self.asked.errors.push(format!("{bad}, message")),
            }
        }
    }

    fn date(&mut self, name: &str, value: &str) {
        let Some(span) = dates::one(value, self.now) else {
            let value = text::excerpt(value, 40);
            self.asked.errors.push(format!(
                "`{name}:{value}`: no date that is understood; a day as in 2026-05-01, a time of RFC 3339, \
                 yesterday, last-week, \"3 May\""
            ));
            return;
        };
        let filters = &mut self.asked.filters;
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
            self.asked.notes.push(format!(
                "`{name}:{}` lies in the future: nothing was recorded then",
                text::excerpt(value, 40)
            ));
        }
    }

    fn named(&mut self, name: &str, value: &str) {
        let value = value.trim();
        let too_long = name == "key" && value.len() <= limits::KEY_BYTES_MAX;
        if let Err(bad) = check_name(name, value)
            && !too_long
        {
            self.asked.errors.push(bad.to_string());
            return;
        }
        let filters = &mut self.asked.filters;
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
        match slot {
            Some(other) if other != value => {
                let error = format!("`{name}:` is given twice, with different values");
                self.asked.errors.push(error);
            }
            _ => *slot = Some(value.to_owned()),
        }
    }

    fn end(mut self) -> Asked {
        let filters = &self.asked.filters;
        if let (Some(after), Some(before)) = (filters.after, filters.before)
            && after >= before
        {
            let note = "no time lies both after and before these dates".to_owned();
            self.asked.notes.push(note);
        }
        self.asked.dates = dates::spans(&self.asked.text, self.now, limits::RECALL_PARTS_MAX);
        if self.asked.dates.iter().any(|span| span.from > self.now) {
            let note = "a date of the question lies in the future".to_owned();
            self.asked.notes.push(note);
        }
        self.asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-05-20T15:00:00Z".parse().unwrap()
    }

    fn asked(question: &str) -> Asked {
        let asked = Asked::of(question, now());
        assert_eq!(asked.errors, [""; 0], "{question}");
        asked
    }

    #[test]
    fn filters_are_taken_out_of_the_words() {
        let found = asked("kind:error task:42 Agent:bob why does it fail before:2026-05-01");
        assert_eq!(found.text, "why does it fail");
        assert_eq!(found.filters.kinds, [Kind::Error]);
        assert_eq!(found.filters.scope.task.as_deref(), Some("42"));
        assert_eq!(found.filters.scope.agent.as_deref(), Some("bob"));
        let before = "2026-05-01T00:00:00Z".parse().ok();
        assert_eq!((found.filters.before, found.filters.after), (before, None));
        let found = asked(r#"source:"Mr Smith" kind:errors,note key:src/a.rs:3"#);
        assert_eq!(found.text, "");
        assert_eq!(found.filters.source.as_deref(), Some("Mr Smith"));
        assert_eq!(found.filters.key.as_deref(), Some("src/a.rs:3"));
        assert_eq!(found.filters.kinds, [Kind::Error, Kind::Note]);
    }

    #[test]
    fn what_only_looks_like_a_filter_is_words() {
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
            let found = asked(words);
            assert_eq!(
                (found.text.as_str(), found.filters),
                (words, Filters::default())
            );
        }
        assert_eq!(
            asked("the `kind:pattern` syntax").text,
            "the kind:pattern syntax"
        );
        let words = Asked::words("kind:pattern task:\"a b\" x", now());
        assert_eq!(words.text, "kind:pattern task:\"a b\" x");
        assert!(words.filters.is_empty() && words.errors.is_empty());
    }

    #[test]
    fn a_known_name_with_a_bad_value_is_an_error() {
        for (question, part) in [
            ("kind:pattern x", "`pattern` is not a kind"),
            ("before:soon", "`before:soon`: no date"),
            ("task:1 task:2", "given twice"),
            ("on:2026-13-01", "no date"),
        ] {
            let found = Asked::of(question, now());
            assert_eq!(found.errors.len(), 1, "{question}");
            assert!(found.errors[0].contains(part), "{:?}", found.errors);
        }
        let long = "x".repeat(limits::NAME_BYTES_MAX + 1);
        assert_eq!(Asked::of(&format!("task:{long}"), now()).errors.len(), 1);
        assert_eq!(Asked::of(&format!("key:{long}"), now()).errors.len(), 0);
    }

    #[test]
    fn phrases_are_words_too() {
        let found = asked(r#"where is "the  left pane" drawn, and “the right”?"#);
        assert_eq!(found.phrases, ["the left pane", "the right"]);
        assert_eq!(found.text, "where is the  left pane drawn, and the right ?");
        for odd in [r#"a 5" disk"#, r#"""#, r#"" ""#, r#"say "it"#, "\"x\"y"] {
            assert_eq!(asked(odd).phrases, [""; 0], "{odd}");
        }
    }

    #[test]
    fn dates_rank_and_filters_narrow() {
        let found = asked("what broke last week?");
        assert_eq!(found.dates.len(), 1);
        assert_eq!((found.filters.after, found.filters.before), (None, None));
        let found = asked("on:yesterday x");
        assert_eq!(found.dates, []);
        assert!(found.filters.after < found.filters.before);
        let future = asked("after:2031-01-01 x");
        assert!(future.notes[0].contains("future"), "{:?}", future.notes);
        let never = asked("after:2026-05-02 before:2026-05-01 x");
        assert!(never.notes[0].contains("no time"), "{:?}", never.notes);
    }

    #[test]
    fn only_so_many_parts_count() {
        let most = limits::RECALL_PARTS_MAX;
        let found = asked(&"\"x\" ".repeat(most));
        assert_eq!((found.phrases.len(), found.notes.len()), (most, 0));
        let found = asked(&"\"x\" ".repeat(most + 1));
        assert_eq!((found.phrases.len(), found.notes.len()), (most, 1));
        assert_eq!(found.text.split(' ').count(), most + 1);
    }

    #[test]
    fn turns_and_records() {
        let turns = asked("kind:message x").filters;
        assert!(turns.turns_too() && !turns.records_too());
        let both = asked("kind:turn,note x").filters;
        assert!(both.turns_too() && both.records_too());
        let facts = asked("category:fact x").filters;
        assert!(!facts.turns_too() && facts.records_too());
        assert!(asked("x").filters.turns_too());
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_a_value(
            text in "([a-z]{1,5}|kind|task|on|before|[:\"`“”,/ \n-]|2026-05-0[0-9]|last|week|\\PC|may|3rd|ago){0,30}"
        ) {
            let found = Asked::of(&text, now());
            assert!(found.text.len() <= text.len() + found.phrases.len());
            let again = Asked::words(&found.text, now());
            assert!(again.filters.is_empty());
            assert_eq!(Asked::words(&text, now()).errors, [""; 0]);
        }
    }
}
