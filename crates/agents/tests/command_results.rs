//! Results of command lines whose exit status is masked, or is that of one of several parts.

use heirloom_agents::failures::command_result::{
    CommandShape, CommandState,
    CommandState::Failed,
    ReportedStatus::{self, Failure, Rejected, Success, Unreported},
};
use heirloom_model::limits::{COMMAND_LINE_BYTES_MAX, COMMAND_PART_CHARS_MAX};
use serde::Deserialize;
use serde_json::Value;

/// Command lines with what a careful person reads from their status and their output.
///
/// `masked`: a filter, an alternative or a later command hides the status. `blamed`: it is that of one part. `further`:
/// written after the rules. `unreported`: rejected calls, outcomes that are not reported, other shells, damaged lines.
const CASES: &str = include_str!("fixtures/command_results.jsonl");

/// A command line with its expected result.
#[derive(Deserialize)]
struct Case {
    group: String,
    line: String,
    /// Exit code, `rejected` or `unreported`.
    status: Value,
    output: String,
    state: String,
    /// The blamed part; empty if no part is blamed.
    part: String,
}

impl Case {
    fn reported(&self) -> ReportedStatus {
        match (self.status.as_i64(), self.status.as_str()) {
            (Some(0), _) => Success,
            (Some(code), _) => Failure(Some(code)),
            (None, Some("rejected")) => Rejected,
            (None, _) => Unreported,
        }
    }

    fn expected(&self) -> CommandState {
        match self.state.as_str() {
            "failed" => Failed,
            "succeeded" => CommandState::Succeeded,
            _ => CommandState::Unknown,
        }
    }
}

#[test]
fn results_of_command_lines_are_those_that_a_person_reads() {
    let cases: Vec<Case> = CASES
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(cases.len() >= 110);
    let mut wrong = Vec::new();
    for case in &cases {
        let shape = CommandShape::parse(&case.line);
        let result = shape.read_result(case.reported(), &case.output);
        let part = result.blamed.map_or("", |part| &shape.parts[part].text);
        if result.state != case.expected() || part != case.part {
            wrong.push(format!(
                "{}: {}\n   {:?} {part:?} ({:?})\n   expected {} {:?}",
                case.group, case.line, result.state, result.reason, case.state, case.part
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn deeply_nested_and_long_lines_are_refused() {
    for open in [
        "(",
        "$(",
        "\"$(",
        "{ ",
        "if ",
        "while ",
        "case a in b) ",
        "${a:-",
        "$((",
        "[[ ! ",
        "f() ",
        "`",
        "'",
        "<(",
        "a <<A\n",
        "! ",
        "a | ",
        "a && ",
        "\\",
        "if ( { while ",
        "é\"",
    ] {
        for times in [20, 400, 20_000] {
            let line = open.repeat(times);
            CommandShape::parse(&line).read_result(Failure(None), &line);
        }
    }
    let nested = format!("{}make{}", "bash -c 'sh -c \"".repeat(12), "\"'".repeat(12));
    CommandShape::parse(&nested);
}

proptest::proptest! {
    #[test]
    fn any_line_and_output_are_read(
        line in "(make|cd a|grep x|echo \\$\\?|;| \\| | && | \\|\\| |\\$\\(|\\)|\\(|'|\"|if |; then |; fi|set -e|bash -c |!|\n|&|<<A\n|é|\\PC){0,24}",
        output in "(make: |error|0|: |not found|exit code 1|\n|é|\\PC){0,30}",
        code in proptest::option::of(-1_i64..260),
    ) {
        let shape = CommandShape::parse(&line);
        for reported in [Success, Failure(code), Rejected, Unreported] {
            let result = shape.read_result(reported, &output);
            proptest::prop_assert!(result.blamed.is_none_or(|part| part < shape.parts.len()));
            proptest::prop_assert_eq!(result.blamed.is_some(), result.state == Failed);
        }
        let stored = serde_json::to_string(&shape).unwrap();
        let read: CommandShape = serde_json::from_str(&stored).unwrap();
        proptest::prop_assert_eq!(read, shape);
    }
}

#[test]
fn a_line_beyond_the_limit_is_one_part() {
    let parts = |bytes: usize| {
        let line = format!("make && cat {}", "a".repeat(bytes - 12));
        CommandShape::parse(&line).parts.len()
    };
    assert_eq!(parts(COMMAND_LINE_BYTES_MAX), 2);
    assert!(parts(COMMAND_LINE_BYTES_MAX + 1) < 2);
}

#[test]
fn the_text_of_a_part_is_cut_at_its_limit() {
    let part = |chars: usize| {
        let shape = CommandShape::parse(&format!("make && echo {}", "a".repeat(chars - 5)));
        shape.parts[1].clone()
    };
    let inside = part(COMMAND_PART_CHARS_MAX - 1);
    assert_eq!(inside.text.len(), COMMAND_PART_CHARS_MAX - 1);
    assert!(!inside.is_cut());
    let beyond = part(COMMAND_PART_CHARS_MAX + 1);
    assert!(beyond.text.chars().count() <= COMMAND_PART_CHARS_MAX);
    assert!(beyond.is_cut());
}

#[test]
fn selected_lines_of_an_output_or_of_a_log_are_no_whole_output() {
    for (line, is_part) in [
        ("pytest -q > log 2>&1; tail -3 log", true),
        ("pytest -q &> log; grep FAILED log", true),
        ("pytest -q 2>&1 | tail -3", true),
        ("make |& head", true),
        ("pytest -q > log 2>&1; cat log", false),
        ("pytest -q", false),
        ("pytest -q 2>&1 | tee log", false),
        ("tail -3 log", false),
        ("make 2>&1; tail -3 notes.md", false),
    ] {
        let shape = CommandShape::parse(line);
        assert_eq!(shape.shows_part_of_output(), is_part, "{line}");
    }
}
