//! Meaning of a record as one text: an error with its fix, a decision with its reason, an attempt with its outcome.

use crate::case::case_line;
use crate::kinds::ErrorRecord;
use crate::{Kind, Record, limits, text};
use std::borrow::Cow;

/// Words for an error whose command or test passed later although nothing is known to have helped.
pub const PASSED_LATER: &str = "passed later; it is not known what helped";

/// Resolutions that earlier versions stored although nothing was known to have helped.
const WITHOUT_DETAILS: [&str; 4] = [
    "succeeded",
    "resolved",
    "it worked later",
    "it worked the next time, with nothing done in between",
];
/// Ends of such resolutions after the name of a command.
const WORKED_AGAIN: &str = "` worked when it was run again";
/// Beginnings of resolutions that name only the iteration.
const IN_ITERATION: [&str; 2] = ["succeeded in iteration ", "resolved in iteration "];

/// Text that completes a record, with the words around it.
struct Complement<'r> {
    before: &'static str,
    text: &'r str,
    after: Cow<'static, str>,
}

impl Complement<'_> {
    fn frame_chars(&self) -> usize {
        text::chars(self.before) + text::chars(&self.after)
    }
}

/// Returns the whole meaning of a record: its text, and the resolution of an error (`TEXT → fixed by: FIX`, for one that
/// failed again `TEXT → fixed before by: FIX (came back on DATE)`), the
/// rationale of knowledge (`TEXT (because WHY)`) or the outcome of an episode (`TEXT: OUTCOME`). An error that passed
/// later for an unknown reason is described so. A case is its line, see [`case_line`].
///
/// A complement that the text contains already, a resolution without details and exit codes are left out.
pub fn record_meaning(record: &Record) -> Cow<'_, str> {
    if let Some(line) = case_line(record, limits::CASE_LINE_CHARS_MAX) {
        return Cow::Owned(line);
    }
    let words = told_text(record);
    match complement(record) {
        Some(more) => Cow::Owned(format!(
            "{}{}{}{}",
            words.trim_end(),
            more.before,
            more.text,
            more.after
        )),
        None => Cow::Borrowed(words),
    }
}

/// Returns the meaning of a record on one line of at most `chars_max` characters. The text is shortened before what
/// completes it, which gets at most a third.
pub fn record_meaning_excerpt(record: &Record, chars_max: usize) -> String {
    if let Some(line) = case_line(record, chars_max.min(limits::CASE_LINE_CHARS_MAX)) {
        return line;
    }
    let words = told_text(record);
    let Some(more) = complement(record) else {
        return text::excerpt(words, chars_max);
    };
    let complement = text::excerpt(more.text, chars_max / 3);
    let used = text::chars(&complement) + more.frame_chars();
    let Some(room) = chars_max.checked_sub(used).filter(|room| *room > used / 2) else {
        return text::excerpt(&record_meaning(record), chars_max);
    };
    let text = text::excerpt(words, room);
    format!("{text}{}{complement}{}", more.before, more.after)
}

/// Returns true if a resolution says what fixed an error, not only that it is fixed.
pub fn has_resolution_details(resolution: &str) -> bool {
    let resolution = resolution.trim();
    let has_none = resolution.is_empty()
        || WITHOUT_DETAILS.contains(&resolution)
        || resolution.ends_with(WORKED_AGAIN)
        || IN_ITERATION
            .iter()
            .any(|begin| resolution.starts_with(begin));
    !has_none
}

/// Returns the resolution of a resolved error if it names what helped.
pub fn known_resolution(record: &Record) -> Option<&str> {
    let is_resolved =
        record.kind == Kind::Error && record.attr_str("state") == Some(ErrorRecord::RESOLVED);
    let resolution = record.attr_str("resolution").filter(|_| is_resolved)?;
    has_resolution_details(resolution).then(|| resolution.trim())
}

/// Returns true for an error whose command or test passed later although no change was seen in between.
pub fn has_passed_without_change(record: &Record) -> bool {
    record.kind == Kind::Error
        && record.attr_str("state") == Some(ErrorRecord::RESOLVED)
        && match record.attr_str("resolution") {
            None => record.attr_str(ErrorRecord::CLOSED_BY) == Some(ErrorRecord::PASSED),
            Some(how) => how.starts_with("it worked ") || how.ends_with(WORKED_AGAIN),
        }
        && known_resolution(record).is_none()
}

/// Returns true if a text is only an exit status, which names no cause.
pub fn is_exit_status(text: &str) -> bool {
    const FORMS: [&str; 9] = [
        "process exited with code",
        "command failed with exit code",
        "failed with exit code",
        "exited with code",
        "exited with status",
        "exit code:",
        "exit code",
        "exit status:",
        "exit status",
    ];
    // No exit status is longer than that.
    const BYTES_MAX: usize = 60;
    let text = text.trim().trim_end_matches('.');
    if text.len() > BYTES_MAX {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let code = FORMS.iter().find_map(|form| lower.strip_prefix(form));
    code.is_some_and(|code| code.trim().parse::<i64>().is_ok())
}

/// Returns the text of a record without an exit status at the end of an episode.
fn told_text(record: &Record) -> &str {
    let words = record.text.as_str();
    if record.kind != Kind::Episode {
        return words;
    }
    match words.trim_end().rsplit_once(": ") {
        Some((before, last)) if is_exit_status(last) => before,
        _ => words,
    }
}

fn complement(record: &Record) -> Option<Complement<'_>> {
    let (name, before, after) = match record.kind {
        Kind::Error if has_passed_without_change(record) => {
            return Some(Complement {
                before: " (",
                text: PASSED_LATER,
                after: Cow::Borrowed(")"),
            });
        }
        Kind::Error if record.state() == Some(ErrorRecord::OPEN) => {
            let helped = record.attr_str(ErrorRecord::HELPED)?.trim();
            let date = record.recorded_at.strftime("%Y-%m-%d");
            return has_resolution_details(helped).then(|| Complement {
                before: " → fixed before by: ",
                text: helped,
                after: Cow::Owned(format!(" (came back on {date})")),
            });
        }
        Kind::Error => ("resolution", " → fixed by: ", ""),
        Kind::Knowledge => ("rationale", " (because ", ")"),
        Kind::Episode => ("outcome", ": ", ""),
        Kind::Task | Kind::Step | Kind::Artifact | Kind::Output | Kind::Note | Kind::Summary => {
            return None;
        }
    };
    let text = record.attr_str(name)?.trim();
    let is_useless = (record.kind == Kind::Error && !has_resolution_details(text))
        || (record.kind == Kind::Episode && is_exit_status(text));
    if text.is_empty() || is_useless || record.text.contains(text) {
        return None;
    }
    Some(Complement {
        before,
        text,
        after: Cow::Borrowed(after),
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
        for how in [
            "succeeded",
            "succeeded in iteration 3",
            "resolved",
            "resolved in iteration 2",
            "",
            "  ",
        ] {
            assert_eq!(fixed(how), "port 5432 is taken\n", "{how:?}");
        }
        assert_eq!(
            fixed("succeeded after a restart"),
            "port 5432 is taken → fixed by: succeeded after a restart"
        );
        let open = record(Kind::Error, "no space left", &[("state", "open")]);
        assert_eq!(record_meaning(&open), "no space left");
        let attrs = [("state", "open"), (ErrorRecord::HELPED, "ran `make clean`")];
        assert_eq!(
            record_meaning(&record(Kind::Error, "no space left", &attrs)),
            "no space left → fixed before by: ran `make clean` (came back on 1970-01-01)"
        );
    }

    #[test]
    fn error_that_passed_without_a_known_fix_is_told_so() {
        let passed = [("state", "resolved"), ("closed_by", "passed")];
        let passed = record(Kind::Error, "`make` failed: no rule", &passed);
        let meaning = format!("`make` failed: no rule ({PASSED_LATER})");
        assert_eq!(record_meaning(&passed), meaning);
        assert_eq!(known_resolution(&passed), None);
        // Earlier versions stored it as a resolution.
        for how in [
            "it worked later",
            "it worked the next time, with nothing done in between",
            "`make` worked when it was run again",
        ] {
            let attrs = [("state", "resolved"), ("resolution", how)];
            let old = record(Kind::Error, "`make` failed: no rule", &attrs);
            assert_eq!(record_meaning(&old), meaning, "{how}");
        }
        let attrs = [
            ("state", "resolved"),
            ("closed_by", "passed"),
            ("resolution", "edited `Makefile`, then it passed"),
        ];
        let fixed = record(Kind::Error, "`make` failed", &attrs);
        assert_eq!(
            record_meaning(&fixed),
            "`make` failed → fixed by: edited `Makefile`, then it passed"
        );
        assert!(known_resolution(&fixed).is_some() && !has_passed_without_change(&fixed));
        // Other programs close errors without saying how.
        let closed = record(Kind::Error, "no rule", &[("state", "resolved")]);
        assert_eq!(record_meaning(&closed), "no rule");
        let open = [("state", "open"), ("resolution", "it worked later")];
        assert!(!has_passed_without_change(&record(Kind::Error, "x", &open)));
    }

    #[test]
    fn exit_status_is_not_told() {
        for (text, is_status) in [
            ("exit code 1", true),
            ("Exit code: 101.", true),
            ("exit status 2", true),
            ("Process exited with code -1", true),
            ("exit code 1: no rule", false),
            ("exit code", false),
            ("1", false),
            ("", false),
        ] {
            assert_eq!(is_exit_status(text), is_status, "{text}");
        }
        let told = |text: &str, outcome: &str| {
            record_meaning(&record(Kind::Episode, text, &[("outcome", outcome)])).into_owned()
        };
        assert_eq!(
            told("iteration 2 of main failed: exit code 1", "exit code 1"),
            "iteration 2 of main failed"
        );
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
    fn record_meaning_of_case_is_its_line() {
        let text = "Asked: Mend the build.\nDid: edited a.rs; verified by `cargo test`";
        let attrs = [("approach", "Mend the build."), ("action", "completed")];
        let case = record(Kind::Episode, text, &attrs);
        let line = "*Mend the build*, 1970-01-01: edited a.rs; verified by `cargo test`";
        assert_eq!(record_meaning(&case), line);
        assert_eq!(record_meaning_excerpt(&case, 160), line);
        assert_eq!(text::chars(&record_meaning_excerpt(&case, 40)), 40);
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
