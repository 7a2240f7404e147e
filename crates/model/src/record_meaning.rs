//! Meaning of a record as one text: an error with its fix, a decision with its reason, an attempt with its outcome.

use crate::{Kind, Record, text};
use std::borrow::Cow;

/// Resolution of an error whose iteration succeeded without further details.
pub const RESOLUTION_SUCCEEDED: &str = "succeeded";

/// Text that completes a record, with the words around it.
struct Complement<'r> {
    before: &'static str,
    text: &'r str,
    after: &'static str,
}

impl Complement<'_> {
    fn frame_chars(&self) -> usize {
        text::chars(self.before) + text::chars(self.after)
    }
}

/// Returns the whole meaning of a record: its text, and the resolution of an error (`TEXT → fixed by: FIX`), the
/// rationale of knowledge (`TEXT (because WHY)`) or the outcome of an episode (`TEXT: OUTCOME`).
///
/// A complement that the text contains already and a resolution without details are left out.
pub fn record_meaning(record: &Record) -> Cow<'_, str> {
    match complement(record) {
        Some(more) => Cow::Owned(format!(
            "{}{}{}{}",
            record.text.trim_end(),
            more.before,
            more.text,
            more.after
        )),
        None => Cow::Borrowed(&record.text),
    }
}

/// Returns the meaning of a record on one line of at most `chars_max` characters. The text is shortened before what
/// completes it, which gets at most a third.
pub fn record_meaning_excerpt(record: &Record, chars_max: usize) -> String {
    let Some(more) = complement(record) else {
        return text::excerpt(&record.text, chars_max);
    };
    let complement = text::excerpt(more.text, chars_max / 3);
    let used = text::chars(&complement) + more.frame_chars();
    let Some(room) = chars_max.checked_sub(used).filter(|room| *room > used / 2) else {
        return text::excerpt(&record_meaning(record), chars_max);
    };
    let text = text::excerpt(&record.text, room);
    format!("{text}{}{complement}{}", more.before, more.after)
}

/// Returns true if a resolution says what fixed an error, not only that it is fixed.
pub fn has_resolution_details(resolution: &str) -> bool {
    let resolution = resolution.trim();
    let rest = resolution.strip_prefix(RESOLUTION_SUCCEEDED);
    let has_none = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" in iteration "));
    !resolution.is_empty() && !has_none
}

fn complement(record: &Record) -> Option<Complement<'_>> {
    let (name, before, after) = match record.kind {
        Kind::Error => ("resolution", " → fixed by: ", ""),
        Kind::Knowledge => ("rationale", " (because ", ")"),
        Kind::Episode => ("outcome", ": ", ""),
        Kind::Task | Kind::Step | Kind::Artifact | Kind::Output | Kind::Note | Kind::Summary => {
            return None;
        }
    };
    let text = record.attr_str(name)?.trim();
    let is_repeated = text.is_empty() || record.text.contains(text);
    if is_repeated || (record.kind == Kind::Error && !has_resolution_details(text)) {
        return None;
    }
    Some(Complement {
        before,
        text,
        after,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Attrs;
    use crate::{Confidence, ProjectName, RecordId, Scope, Timestamp};

    fn record(kind: Kind, text: &str, attrs: &[(&str, &str)]) -> Record {
        let attrs = attrs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).into()));
        Record {
            project: ProjectName::new("p").unwrap(),
            id: RecordId::MIN,
            kind,
            key: None,
            text: text.to_owned(),
            attrs: attrs.collect::<Attrs>(),
            scope: Scope::default(),
            source: "ann".to_owned(),
            confidence: Confidence::FULL,
            tokens: 1,
            recorded_at: Timestamp::UNIX_EPOCH,
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        }
    }

    #[test]
    fn record_meaning_of_resolved_error_has_fix() {
        let fixed = |how: &str| {
            let attrs = [("state", "resolved"), ("resolution", how)];
            record_meaning(&record(Kind::Error, "port 5432 is taken\n", &attrs)).into_owned()
        };
        assert_eq!(
            fixed("stop the other postgres"),
            "port 5432 is taken → fixed by: stop the other postgres"
        );
        // Without details the fix is unknown.
        for how in ["succeeded", "succeeded in iteration 3", "", "  "] {
            assert_eq!(fixed(how), "port 5432 is taken\n", "{how:?}");
        }
        assert_eq!(
            fixed("succeeded after a restart"),
            "port 5432 is taken → fixed by: succeeded after a restart"
        );
        let open = record(Kind::Error, "no space left", &[("state", "open")]);
        assert_eq!(record_meaning(&open), "no space left");
    }

    #[test]
    fn record_meaning_of_decision_has_reason() {
        let attrs = [
            ("category", "decision"),
            ("rationale", "one file to back up"),
        ];
        let decision = record(Kind::Knowledge, "SQLite stores everything", &attrs);
        assert_eq!(
            record_meaning(&decision),
            "SQLite stores everything (because one file to back up)"
        );
        let plain = record(Kind::Knowledge, "CI runs on ARM", &[("category", "fact")]);
        assert!(matches!(
            record_meaning(&plain),
            Cow::Borrowed("CI runs on ARM")
        ));
    }

    #[test]
    fn record_meaning_of_episode_has_outcome_once() {
        let attrs = [
            ("approach", "retry with backoff"),
            ("outcome", "rate limit again"),
        ];
        for (text, meaning) in [
            ("retry with backoff", "retry with backoff: rate limit again"),
            (
                "retry with backoff: rate limit again",
                "retry with backoff: rate limit again",
            ),
        ] {
            assert_eq!(
                record_meaning(&record(Kind::Episode, text, &attrs)),
                meaning
            );
        }
    }

    #[test]
    fn record_meaning_of_other_kinds_is_their_text() {
        let attrs = [
            ("resolution", "x"),
            ("rationale", "y"),
            ("outcome", "z"),
            ("state", "resolved"),
        ];
        for kind in [
            Kind::Task,
            Kind::Step,
            Kind::Artifact,
            Kind::Output,
            Kind::Note,
            Kind::Summary,
        ] {
            assert_eq!(record_meaning(&record(kind, "a text", &attrs)), "a text");
        }
    }

    #[test]
    fn record_meaning_excerpt_shortens_text_before_fix() {
        let fix = "pin openssl to 3.0";
        let attrs = [("state", "resolved"), ("resolution", fix)];
        let long = record(Kind::Error, &"linker failed\n".repeat(90), &attrs);
        for most in [60, 200, 800] {
            let short = record_meaning_excerpt(&long, most);
            assert!(
                text::chars(&short) <= most && text::is_one_line(&short),
                "{short}"
            );
            assert!(short.ends_with(&format!("… → fixed by: {fix}")), "{short}");
        }
        let (text, why) = ("t".repeat(900), "w".repeat(900));
        let both = record(Kind::Knowledge, &text, &[("rationale", &why)]);
        let short = record_meaning_excerpt(&both, 300);
        assert_eq!(text::chars(&short), 300, "{short}");
        assert!(
            short.contains("t… (because w") && short.ends_with("w…)"),
            "{short}"
        );
        // A limit that is too small for both parts cuts from the end.
        for most in 0..40 {
            assert!(text::chars(&record_meaning_excerpt(&both, most)) <= most);
        }
        let note = record(Kind::Note, "one\ntwo", &[]);
        assert_eq!(record_meaning_excerpt(&note, 80), "one | two");
    }
}
