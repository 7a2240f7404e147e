//! Parser of plans and other Markdown files of a project. Pure: text in, values out.

use heirloom_model::{limits, text};

/// Parsed plan file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanFile {
    /// Id: `req_id` or `id`.
    pub id: Option<String>,
    /// Title; without one, the first heading.
    pub title: Option<String>,
    /// Stage: `stage` or `phase`.
    pub stage: Option<String>,
    /// Status.
    pub status: Option<String>,
    /// Text of the first section.
    pub goal: String,
    /// Open tasks with their lines, counted from 1.
    pub open_tasks: Vec<(u32, String)>,
    /// Number of done tasks.
    pub done_count: usize,
}

/// Parses a plan. Every text is a valid plan; missing fields are empty.
pub fn parse_plan(source: &str) -> PlanFile {
    let mut plan = PlanFile::default();
    let mut lines = (1u32..).zip(source.lines()).peekable();
    if lines
        .peek()
        .is_some_and(|(_, line)| line.trim_end() == "---")
    {
        lines.next();
        for (_, line) in lines.by_ref() {
            if line.trim_end() == "---" {
                break;
            }
            plan.read_front_matter(line);
        }
    }
    let mut sections = 0;
    let mut fenced = false;
    for (number, line) in lines {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        if let Some(heading) = parse_heading(bare) {
            // The title does not begin a section; the first text does.
            if sections > 0 || !plan.goal.trim().is_empty() {
                sections = 2;
            }
            if plan.title.is_none() {
                plan.title = unquote(heading);
            }
            continue;
        }
        if let Some(task) = parse_task(bare) {
            match task {
                Some(open) => plan.open_tasks.push((number, open.to_owned())),
                None => plan.done_count += 1,
            }
        } else if sections < 2 {
            plan.goal.push_str(line.trim_end());
            plan.goal.push('\n');
        }
    }
    plan.goal = text::clip(plan.goal.trim(), limits::PLAN_GOAL_CHARS_MAX).to_owned();
    plan
}

impl PlanFile {
    fn read_front_matter(&mut self, line: &str) {
        let Some((key, raw)) = line.split_once(':') else {
            return;
        };
        let raw = unquote(raw);
        match key.trim() {
            "req_id" => self.id = raw,
            "id" if self.id.is_none() => self.id = raw,
            "title" => self.title = raw,
            "stage" => self.stage = raw,
            "phase" if self.stage.is_none() => self.stage = raw,
            "status" => self.status = raw,
            _ => {}
        }
    }
}

fn unquote(raw: &str) -> Option<String> {
    let bare = raw.trim().trim_matches(['"', '\'']).trim();
    (!bare.is_empty()).then(|| bare.to_owned())
}

fn parse_heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with(' ')).then(|| rest.trim())
}

/// Parses a task of a list: its text if it is open, `Some(None)` if it is done.
fn parse_task(line: &str) -> Option<Option<&str>> {
    let rest = line.strip_prefix(['-', '*', '+'])?.trim_start();
    if let Some(open) = rest.strip_prefix("[ ]") {
        return Some(Some(open.trim()).filter(|open| !open.is_empty()));
    }
    (rest.starts_with("[x]") || rest.starts_with("[X]")).then_some(None)
}

/// Splits a Markdown text at empty lines; returns the blocks in order, each with its first line, counted from 1. A
/// heading belongs to the block after it; a fenced block is one block.
pub fn split_blocks(source: &str) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    let (mut open, mut fenced) = (false, false);
    for (number, line) in (1u32..).zip(source.lines()) {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
        }
        if bare.is_empty() && !fenced {
            let is_heading = found.last().is_some_and(|(_, block)| {
                block.lines().count() == 1 && parse_heading(block.trim()).is_some()
            });
            open &= is_heading;
            continue;
        }
        match found.last_mut().filter(|_| open) {
            Some((_, block)) => {
                block.push('\n');
                block.push_str(line.trim_end());
            }
            None => found.push((number, line.trim_end().to_owned())),
        }
        open = true;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parse_plan_reads_front_matter_goal_and_tasks() {
        let parsed = parse_plan(
            "---\nreq_id: REQ-7\ntitle: \"Fast login\"\nphase: build\nstatus: open\nx\n---\n\n# Fast login\n\n## Goal\n\
             Half the time.\n\n## Tasks\n- [ ] measure\n- [x] profile\n* [X] trace\n```\n- [ ] no task\n```\nmore\n",
        );
        assert_eq!(parsed.id.as_deref(), Some("REQ-7"));
        assert_eq!(parsed.title.as_deref(), Some("Fast login"));
        assert_eq!(parsed.stage.as_deref(), Some("build"));
        assert_eq!(parsed.status.as_deref(), Some("open"));
        assert_eq!(parsed.goal, "Half the time.");
        assert_eq!(
            (parsed.open_tasks, parsed.done_count),
            (vec![(15, "measure".to_owned())], 2)
        );
        let bare = parse_plan("# Title\n\nThe goal.\n## More\ntext\n");
        assert_eq!(
            (bare.title.as_deref(), bare.goal.as_str()),
            (Some("Title"), "The goal.")
        );
        assert_eq!(parse_plan(""), PlanFile::default());
    }

    #[test]
    fn parse_plan_limits_goal_length() {
        let most = limits::PLAN_GOAL_CHARS_MAX;
        for length in [most, most + 1] {
            assert_eq!(parse_plan(&"é".repeat(length)).goal.chars().count(), most);
        }
    }

    #[test]
    fn split_blocks_preserves_headings_and_fences() {
        let parsed = split_blocks("# A\n\none\ntwo\n\n```\nx\n\ny\n```\n\nend");
        let expected = [(1, "# A\none\ntwo"), (6, "```\nx\n\ny\n```"), (12, "end")];
        assert_eq!(parsed, expected.map(|(n, block)| (n, block.to_owned())));
    }

    proptest! {
        #[test]
        fn parse_any_text_does_not_panic(source in "[-#a\\[\\] x`:\\n\"é]{0,200}") {
            let parsed = parse_plan(&source);
            prop_assert!(parsed.goal.chars().count() <= limits::PLAN_GOAL_CHARS_MAX);
            let parsed = split_blocks(&source);
            prop_assert!(parsed.iter().all(|(_, block)| !block.trim().is_empty()));
        }
    }
}
