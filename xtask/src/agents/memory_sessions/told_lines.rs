//! Lines of the text that Heirloom adds to the requests of a program.

use heirloom_testkit::RecordedRequest;
use serde_json::Value;

/// Words after which a line names what helped.
const FIX_MARKS: [&str; 3] = ["fixed by", "helped:", "→"];

/// Returns the lines of all texts of the requests, each once.
pub(super) fn lines(requests: &[RecordedRequest]) -> Vec<String> {
    let mut found = Vec::new();
    for request in requests {
        collect(&request.body["messages"], &mut found);
        collect(&request.body["input"], &mut found);
        collect(&request.body["contents"], &mut found);
        collect(&request.body["system"], &mut found);
        collect(&request.body["systemInstruction"], &mut found);
        collect(&request.body["instructions"], &mut found);
    }
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            for line in text.lines() {
                if !found.iter().any(|known| known == line) {
                    found.push(line.to_owned());
                }
            }
        }
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, found)),
        Value::Object(fields) => fields.values().for_each(|part| collect(part, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the failure and the fix that a line names. A line with the fix alone follows that of its failure.
pub(super) fn fixes(lines: &[String]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut before = "";
    for line in lines {
        let mark = FIX_MARKS.iter().filter_map(|mark| line.find(mark)).min();
        if let Some(at) = mark {
            let (failure, fix) = line.split_at(at);
            found.push((format!("{before} {failure}"), fix.to_owned()));
        }
        before = line;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fix_is_named_with_its_failure() {
        let lines = [
            "- `make` failed: no rule → ran `configure`",
            "- it failed",
            "  What helped: more",
        ];
        let found = fixes(&lines.map(str::to_owned));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].0.contains("no rule") && found[0].1.contains("configure"));
        assert!(found[1].0.contains("it failed") && found[1].1.contains("more"));
    }
}
