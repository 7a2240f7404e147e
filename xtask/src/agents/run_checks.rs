//! Checks after a run.

use heirloom_testkit::RecordedRequest;
use serde_json::Value;

use super::hooks::count;
use super::model_script::{ITERATIONS, LEARNED, LEARNED_LATER, LONG, SHOWN};
use super::program::Program;
use super::rules::{RULE, RULES_FILE};

/// Checks the requests to the model; the error names the failed check.
pub(crate) fn requests(program: &Program, requests: &[RecordedRequest]) -> Result<(), String> {
    let starts: Vec<&RecordedRequest> = requests
        .iter()
        .filter(|request| !request.ends_with_tool_result())
        .collect();
    if starts.len() != ITERATIONS {
        let count = starts.len();
        return Err(format!(
            "{count} iterations reached the model, not {ITERATIONS}"
        ));
    }
    if !requests.iter().any(|request| request.mentions(SHOWN)) {
        return Err("the agent never read notes.txt".into());
    }
    ensure(!starts[0].mentions(LEARNED), "iteration 1 knew it already")?;
    for (n, start) in starts.iter().enumerate() {
        // Claude Code has an argument for instructions; other programs get them at the head of the prompt.
        let is_there = match program.name {
            "claude-code" => count(&start.body["system"], RULE) > 0,
            _ => start.mentions(RULE),
        };
        ensure(
            is_there,
            &format!("iteration {} lacks the rule of {RULES_FILE}", n + 1),
        )?;
    }
    for (start, learned) in [(1, LEARNED), (1, LONG), (2, LEARNED), (2, LEARNED_LATER)] {
        let number = start + 1;
        let missing = format!("the prompt of iteration {number} lacks \"{learned}\"");
        ensure(starts[start].mentions(learned), &missing)?;
        let line = format!("This is iteration {number}.");
        ensure(
            starts[start].mentions(&line),
            &format!("it lacks \"{line}\""),
        )?;
    }
    // aider includes the file in each prompt, as its user requested.
    if program.read_tool.is_some() {
        let leaked = starts[1..].iter().any(|start| start.mentions(SHOWN));
        ensure(!leaked, "a later prompt has what a tool had merely shown")?;
    }
    Ok(())
}

/// Checks the records of `list --kind knowledge --json`.
pub(crate) fn records(listed: &Value) -> Result<(), String> {
    let records = listed["records"]
        .as_array()
        .ok_or("`heirloom list --json` has no records")?;
    let texts: Vec<&str> = records
        .iter()
        .filter_map(|record| record["text"].as_str())
        .collect();
    let with = |text: &str| texts.iter().filter(|known| known.contains(text)).count();
    ensure(with(SHOWN) == 0, "a signal in a tool's output was recorded")?;
    for text in [LEARNED, LONG, LEARNED_LATER] {
        let count = with(text);
        ensure(
            count == 1,
            &format!("\"{text}\" was recorded {count} times"),
        )?;
    }
    Ok(())
}

fn ensure(holds: bool, message: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(message.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn records_contain_reported_facts_once_and_no_shown_text() {
        let listed = |texts: &[&str]| {
            let records: Vec<Value> = texts.iter().map(|text| json!({"text": text})).collect();
            json!({ "records": records })
        };
        let good = [LEARNED, LONG, LEARNED_LATER, "something else"];
        assert_eq!(records(&listed(&good)), Ok(()));
        assert!(records(&listed(&good[1..])).is_err(), "a fact is missing");
        let twice = [&good[..], &good[..1]].concat();
        assert!(records(&listed(&twice)).is_err(), "a fact is there twice");
        let shown = [&good[..], &[SHOWN]].concat();
        assert!(records(&listed(&shown)).is_err(), "a tool's output counts");
        assert!(records(&json!({})).is_err());
    }
}
