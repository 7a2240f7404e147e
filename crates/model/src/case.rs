//! Cases: what a request of a session was about and what became of it, as the fixed form of an episode's text.

use crate::kinds::{Episode, EpisodeAction};
use crate::{Kind, KindData, Record, limits, text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Label of the request.
const ASKED: &str = "Asked: ";
/// Label of the work.
const DID: &str = "Did: ";
/// Label of failures on the way.
const FAILED: &str = "Failed: ";
/// Label of the result.
const RESULT: &str = "Result: ";
/// Words before the edited files of the work.
pub const EDITED: &str = "edited ";
/// Greatest number of characters of a request's title.
const TITLE_CHARS_MAX: usize = 120;
/// Greatest number of characters of the titles of earlier cases in the line of a group.
const EARLIER_TITLE_CHARS_MAX: usize = 60;
/// Number of earlier cases that the line of a group names.
const EARLIER_SHOWN: usize = 2;

/// End of a case, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseState {
    /// Something shows that it is done: a check that passed after the last edit, a commit, or the person's assent.
    #[serde(rename = "done")]
    Done,
    /// Something shows that it failed: the person said so, the changes were reverted, or tests fail at the end.
    #[serde(rename = "failed")]
    Failed,
    /// Neither is known.
    #[default]
    #[serde(rename = "unknown")]
    Unknown,
}

impl CaseState {
    /// Returns the action of the case's episode.
    pub fn action(self) -> EpisodeAction {
        match self {
            Self::Done => EpisodeAction::Completed,
            Self::Failed => EpisodeAction::Failed,
            Self::Unknown => EpisodeAction::Attempted,
        }
    }
}

/// A request of a session and what became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Case {
    /// First sentence of the request.
    #[serde(rename = "title")]
    pub title: String,
    /// The request: its title, with the identifiers, paths and error lines of the rest.
    #[serde(rename = "asked")]
    pub asked: String,
    /// Edited files, the commands that verified them, and commits.
    #[serde(rename = "did")]
    pub did: String,
    /// Failures on the way, with what resolved them.
    #[serde(rename = "failed")]
    pub failed: String,
    /// Report of the agent, or words of the person about it.
    #[serde(rename = "result")]
    pub result: String,
    /// Edited files, the most edited first.
    #[serde(rename = "files")]
    pub files: Vec<String>,
    /// Names of functions and types that the request names or the edits define.
    #[serde(rename = "symbols")]
    pub symbols: Vec<String>,
}

impl Case {
    /// Returns the text of the record: one labelled line for each field, in at most `CASE_CHARS_MAX` characters.
    pub fn text(&self) -> String {
        let fields = [
            (ASKED, &self.asked),
            (DID, &self.did),
            (FAILED, &self.failed),
            (RESULT, &self.result),
        ];
        let fields: Vec<(&str, String)> = (fields.into_iter())
            .map(|(label, field)| (label, text::one_line(field.trim())))
            .filter(|(_, field)| !field.is_empty())
            .collect();
        let labels: usize = fields.iter().map(|(label, _)| text::chars(label) + 1).sum();
        let mut left = limits::CASE_CHARS_MAX.saturating_sub(labels);
        let mut rest = fields.len();
        let mut lengths: Vec<(usize, usize)> = fields
            .iter()
            .enumerate()
            .map(|(at, (_, field))| (text::chars(field), at))
            .collect();
        // What short fields leave over is for the long ones.
        lengths.sort_unstable();
        let mut room = vec![0; fields.len()];
        for (length, at) in lengths {
            let given = length.min(left / rest.max(1));
            if let Some(room) = room.get_mut(at) {
                *room = given;
            }
            left -= given;
            rest -= 1;
        }
        let lines: Vec<String> = (fields.iter().zip(room))
            .map(|((label, field), room)| format!("{label}{}", text::excerpt(field, room)))
            .collect();
        lines.join("\n")
    }

    /// Returns the attributes of the record.
    pub fn episode(&self, state: CaseState) -> Episode {
        let given =
            |field: &str| Some(text::one_line(field.trim())).filter(|text| !text.is_empty());
        Episode {
            approach: given(&text::excerpt(&self.title, TITLE_CHARS_MAX)),
            outcome: given(&self.result),
            files: self.files.clone(),
            symbols: self.symbols.clone(),
            ..Episode::with_action(state.action())
        }
    }

    /// Returns the case of a record; `None` for an episode of another form.
    pub fn of_record(record: &Record) -> Option<Self> {
        if !is_case(record) {
            return None;
        }
        let episode = Episode::from_record(record).ok()?;
        let mut case = Self {
            title: episode.approach.unwrap_or_default(),
            files: episode.files,
            symbols: episode.symbols,
            ..Self::default()
        };
        for line in record.text.lines() {
            let field = |label: &str| line.strip_prefix(label).map(str::to_owned);
            if let Some(asked) = field(ASKED) {
                case.asked = asked;
            } else if let Some(did) = field(DID) {
                case.did = did;
            } else if let Some(failed) = field(FAILED) {
                case.failed = failed;
            } else if let Some(result) = field(RESULT) {
                case.result = result;
            }
        }
        if case.title.is_empty() {
            case.title = text::excerpt(&case.asked, TITLE_CHARS_MAX);
        }
        Some(case)
    }

    fn title_excerpt(&self, chars_max: usize) -> String {
        text::excerpt(self.title.trim_end_matches(['.', ':', ' ']), chars_max)
    }
}

/// Returns true for the record of a case, as opposed to an episode of another form.
pub fn is_case(record: &Record) -> bool {
    record.kind == Kind::Episode && record.text.starts_with(ASKED)
}

/// Returns a case as one line of at most `chars_max` characters, such as `*The footer overlaps* changed the same area on
/// 2026-11-12: src/footer.css; verified by `npm test``; `None` for a record of another form.
pub fn case_line(record: &Record, chars_max: usize) -> Option<String> {
    let case = Case::of_record(record)?;
    let title = case.title_excerpt((chars_max / 3).clamp(40, TITLE_CHARS_MAX));
    let is_failed = record.attr_str("action") == Some(EpisodeAction::Failed.as_str());
    let date = date_of(record);
    let begin = match (is_failed, case.files.is_empty()) {
        (true, _) => format!("*{title}* was tried on {date} and did not work"),
        (false, false) => format!("*{title}* changed the same area on {date}"),
        (false, true) => format!("*{title}*, {date}"),
    };
    let failed = match case.failed.is_empty() {
        true => String::new(),
        false => format!("failed: {}", case.failed),
    };
    let did = match case.files.is_empty() {
        true => case.did.as_str(),
        false => case.did.strip_prefix(EDITED).unwrap_or(&case.did),
    };
    // Of a failed attempt the reason is worth more than the way; of an answer, the result is all there is.
    let order = match (is_failed, did.is_empty()) {
        (true, _) => [case.result.as_str(), &failed, did],
        (false, true) => [case.result.as_str(), &failed, ""],
        (false, false) => [did, &failed, &case.result],
    };
    let more: Vec<&str> = (order.into_iter())
        .map(|part| part.trim_end_matches(['.', ';', ' ']))
        .filter(|part| !part.is_empty())
        .collect();
    let line = match more.is_empty() {
        true => begin,
        false => format!("{begin}: {}", more.join("; ")),
    };
    Some(text::excerpt(&line, chars_max))
}

fn date_of(record: &Record) -> String {
    let at = record.recorded_at.to_string();
    text::clip(&at, 10).to_owned()
}

/// Cases that changed mostly the same files.
#[derive(Debug, Clone)]
pub struct CaseGroup<'r> {
    /// The cases, the newest first.
    pub records: Vec<&'r Record>,
    /// Place of the first one of the group in the list that was merged.
    pub first: usize,
}

impl CaseGroup<'_> {
    /// Returns the group as one line of at most `chars_max` characters: the newest case, and how many sessions changed
    /// these files before.
    pub fn line(&self, chars_max: usize) -> Option<String> {
        let (newest, earlier) = self.records.split_first()?;
        if earlier.is_empty() {
            return case_line(newest, chars_max);
        }
        let sessions: BTreeSet<&str> = (self.records.iter())
            .filter_map(|record| record.scope.session.as_deref())
            .collect();
        let count = match sessions.len() {
            0 | 1 => format!("{} requests changed these files", self.records.len()),
            sessions => format!("{sessions} sessions changed these files"),
        };
        let titles: Vec<String> = (earlier.iter())
            .filter_map(|record| Case::of_record(record))
            .take(EARLIER_SHOWN)
            .map(|case| format!("*{}*", case.title_excerpt(EARLIER_TITLE_CHARS_MAX)))
            .collect();
        let before = format!(" ({count}; before: {})", titles.join(", "));
        let room = chars_max.saturating_sub(text::chars(&before));
        if room < chars_max / 3 {
            return case_line(newest, chars_max);
        }
        Some(format!("{}{before}", case_line(newest, room)?))
    }
}

/// Merges the cases of a list that changed mostly the same files. The groups have the order of their first record in the
/// list; records of another form, and cases without files, are groups of their own.
pub fn merge_cases<'r>(records: &[&'r Record]) -> Vec<CaseGroup<'r>> {
    let mut groups: Vec<(CaseGroup<'r>, Vec<String>)> = Vec::new();
    for (first, record) in records.iter().enumerate() {
        let files = Case::of_record(record).map_or_else(Vec::new, |case| case.files);
        let same = groups
            .iter_mut()
            .find(|(_, known)| is_same_area(known, &files));
        match same {
            Some((group, _)) => group.records.push(record),
            None => {
                let records = vec![*record];
                groups.push((CaseGroup { records, first }, files));
            }
        }
    }
    let mut groups: Vec<CaseGroup<'r>> = groups.into_iter().map(|(group, _)| group).collect();
    for group in &mut groups {
        group
            .records
            .sort_by_key(|record| std::cmp::Reverse((record.recorded_at, record.id)));
    }
    groups
}

/// Returns true if at least half of the files of both lists are in both.
fn is_same_area(one: &[String], other: &[String]) -> bool {
    let common = one.iter().filter(|file| other.contains(file)).count();
    common > 0 && common * 4 >= one.len() + other.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Confidence, ProjectName, RecordId, Scope, Timestamp};

    fn case(title: &str, files: &[&str]) -> Case {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        Case {
            title: title.to_owned(),
            asked: format!("{title} `parse_date` must accept years only"),
            did: format!("{EDITED}{}; verified by `cargo test`", files.join(", ")),
            failed: "`cargo test` failed: left 1, right 2 → rounded up".to_owned(),
            result: "All tests pass.".to_owned(),
            files,
            symbols: vec!["parse_date".to_owned()],
        }
    }

    fn record(case: &Case, state: CaseState, day: &str, session: &str) -> Record {
        Record {
            project: ProjectName::new("p").unwrap(),
            id: RecordId::MIN,
            kind: Kind::Episode,
            key: None,
            text: case.text(),
            attrs: case.episode(state).to_attrs(),
            scope: Scope {
                session: Some(session.to_owned()),
                ..Scope::default()
            },
            source: "codex".to_owned(),
            confidence: Confidence::FULL,
            tokens: 1,
            recorded_at: format!("{day}T10:00:00Z").parse::<Timestamp>().unwrap(),
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        }
    }

    #[test]
    fn text_has_each_field_on_a_line_and_is_read_back() {
        let one = case("Dates are wrong.", &["src/date.rs"]);
        let text = one.text();
        assert_eq!(
            text,
            "Asked: Dates are wrong. `parse_date` must accept years only\nDid: edited src/date.rs; verified by `cargo \
             test`\nFailed: `cargo test` failed: left 1, right 2 → rounded up\nResult: All tests pass."
        );
        let stored = record(&one, CaseState::Done, "2026-11-12", "a");
        assert_eq!(Case::of_record(&stored), Some(one));
        let mut other = stored;
        other.text = "retry with backoff: rate limit again".to_owned();
        assert_eq!(Case::of_record(&other), None);
    }

    #[test]
    fn text_shortens_the_longest_fields() {
        let long = Case {
            asked: "a".repeat(900),
            did: "b".repeat(900),
            result: "It\nworks.".to_owned(),
            ..Case::default()
        };
        let text = long.text();
        assert!(text::chars(&text) <= limits::CASE_CHARS_MAX, "{text}");
        assert!(text.ends_with("Result: It | works."), "{text}");
        assert!(
            text.lines().count() == 3 && text.matches('…').count() == 2,
            "{text}"
        );
        assert_eq!(Case::default().text(), "");
    }

    #[test]
    fn case_line_tells_date_title_files_and_verification() {
        let one = case("Dates are wrong.", &["src/date.rs", "src/time.rs"]);
        let done = record(&one, CaseState::Done, "2026-11-12", "a");
        assert_eq!(
            case_line(&done, 800).unwrap(),
            "*Dates are wrong* changed the same area on 2026-11-12: src/date.rs, src/time.rs; verified by `cargo \
             test`; failed: `cargo test` failed: left 1, right 2 → rounded up; All tests pass"
        );
        assert_eq!(text::chars(&case_line(&done, 120).unwrap()), 120);
        let failed = Case {
            result: "The person said: \"still wrong\".".to_owned(),
            failed: String::new(),
            ..one
        };
        let failed = record(&failed, CaseState::Failed, "2026-11-12", "a");
        let line = case_line(&failed, 200).unwrap();
        assert!(
            line.starts_with(
                "*Dates are wrong* was tried on 2026-11-12 and did not work: The person said: \"still wrong\"; src/date.rs"
            ),
            "{line}"
        );
        let answer = Case {
            did: String::new(),
            failed: String::new(),
            files: Vec::new(),
            ..case("Why is it slow?", &[])
        };
        let answer = record(&answer, CaseState::Unknown, "2026-11-13", "a");
        assert_eq!(
            case_line(&answer, 200).unwrap(),
            "*Why is it slow?*, 2026-11-13: All tests pass"
        );
    }

    #[test]
    fn merge_cases_joins_cases_of_the_same_files() {
        let made = |title: &str, files: &[&str], day: &str, session: &str| {
            record(&case(title, files), CaseState::Done, day, session)
        };
        let oldest = made("Add years.", &["a.rs", "b.rs"], "2026-11-10", "1");
        let newest = made("Add months.", &["a.rs", "b.rs", "c.rs"], "2026-11-12", "2");
        let other = made("Add a page.", &["page.ts"], "2026-11-11", "3");
        // One common file of five is another area.
        let wide = made(
            "Rename all.",
            &["a.rs", "x.rs", "y.rs", "z.rs"],
            "2026-11-09",
            "4",
        );
        let groups = merge_cases(&[&oldest, &other, &newest, &wide]);
        let shape: Vec<(usize, usize)> = groups
            .iter()
            .map(|group| (group.first, group.records.len()))
            .collect();
        assert_eq!(shape, [(0, 2), (1, 1), (3, 1)]);
        let line = groups[0].line(400).unwrap();
        assert!(
            line.starts_with("*Add months* changed the same area on 2026-11-12: a.rs, b.rs, c.rs;"),
            "{line}"
        );
        assert!(
            line.ends_with(" (2 sessions changed these files; before: *Add years*)"),
            "{line}"
        );
        assert_eq!(groups[1].line(400), case_line(&other, 400));
        let again = made("Add days.", &["a.rs", "b.rs"], "2026-11-13", "1");
        let of_one_session = merge_cases(&[&oldest, &again]);
        let line = of_one_session[0].line(400).unwrap();
        assert!(line.contains("(2 requests changed these files;"), "{line}");
    }
}
