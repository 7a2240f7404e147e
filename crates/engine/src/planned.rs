//! Plans and other Markdown of a project, taken apart: text in, values out.

use heirloom_model::{limits, text};

/// A plan as its file says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanFile {
    /// Its id: `req_id` or `id`.
    pub id: Option<String>,
    /// Its title; else its first heading.
    pub title: Option<String>,
    /// The stage that it is in: `stage` or `phase`.
    pub stage: Option<String>,
    /// How far it is.
    pub status: Option<String>,
    /// The text of its first section.
    pub goal: String,
    /// Its open tasks with their lines, counted from 1.
    pub open: Vec<(u32, String)>,
    /// How many tasks are done.
    pub done: usize,
}

/// Takes a plan apart. Every text is a plan; what it does not say is left empty.
pub fn plan(source: &str) -> PlanFile {
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
            plan.front(line);
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
        if let Some(heading) = heading(bare) {
            // The title is no section: the first text is.
            if sections > 0 || !plan.goal.trim().is_empty() {
                sections = 2;
            }
            if plan.title.is_none() {
                plan.title = value(heading);
            }
            continue;
        }
        if let Some(task) = task(bare) {
            match task {
                Some(open) => plan.open.push((number, open.to_owned())),
                None => plan.done += 1,
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
    fn front(&mut self, line: &str) {
        let Some((key, said)) = line.split_once(':') else {
            return;
        };
        let said = value(said);
        match key.trim() {
            "req_id" => self.id = said,
            "id" if self.id.is_none() => self.id = said,
            "title" => self.title = said,
            "stage" => self.stage = said,
            "phase" if self.stage.is_none() => self.stage = said,
            "status" => self.status = said,
            _ => {}
        }
    }
}

fn value(said: &str) -> Option<String> {
    let bare = said.trim().trim_matches(['"', '\'']).trim();
    (!bare.is_empty()).then(|| bare.to_owned())
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with(' ')).then(|| rest.trim())
}

/// A task of a list: its text if it is open, nothing if it is done.
fn task(line: &str) -> Option<Option<&str>> {
    let rest = line.strip_prefix(['-', '*', '+'])?.trim_start();
    if let Some(open) = rest.strip_prefix("[ ]") {
        return Some(Some(open.trim()).filter(|open| !open.is_empty()));
    }
    (rest.starts_with("[x]") || rest.starts_with("[X]")).then_some(None)
}

/// The blocks between empty lines of a Markdown text, in order, each with its first line, counted from 1. A
/// heading goes with the block behind it; a fenced block stays whole.
pub fn blocks(source: &str) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    let (mut open, mut fenced) = (false, false);
    for (number, line) in (1u32..).zip(source.lines()) {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
        }
        if bare.is_empty() && !fenced {
            let is_heading = found.last().is_some_and(|(_, block)| {
                block.lines().count() == 1 && heading(block.trim()).is_some()
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
    fn a_plan_says_what_it_is() {
        let told = plan(
            "---\nreq_id: REQ-7\ntitle: \"Fast login\"\nphase: build\nstatus: open\nx\n---\n\n# Fast login\n\n## Goal\n\
             Half the time.\n\n## Tasks\n- [ ] measure\n- [x] profile\n* [X] trace\n```\n- [ ] no task\n```\nmore\n",
        );
        assert_eq!(told.id.as_deref(), Some("REQ-7"));
        assert_eq!(told.title.as_deref(), Some("Fast login"));
        assert_eq!(told.stage.as_deref(), Some("build"));
        assert_eq!(told.status.as_deref(), Some("open"));
        assert_eq!(told.goal, "Half the time.");
        assert_eq!(
            (told.open, told.done),
            (vec![(15, "measure".to_owned())], 2)
        );
        let bare = plan("# Title\n\nThe goal.\n## More\ntext\n");
        assert_eq!(
            (bare.title.as_deref(), bare.goal.as_str()),
            (Some("Title"), "The goal.")
        );
        assert_eq!(plan(""), PlanFile::default());
    }

    #[test]
    fn a_goal_has_a_longest_form() {
        let most = limits::PLAN_GOAL_CHARS_MAX;
        for length in [most, most + 1] {
            assert_eq!(plan(&"é".repeat(length)).goal.chars().count(), most);
        }
    }

    #[test]
    fn blocks_keep_headings_and_fences() {
        let told = blocks("# A\n\none\ntwo\n\n```\nx\n\ny\n```\n\nend");
        let wanted = [(1, "# A\none\ntwo"), (6, "```\nx\n\ny\n```"), (12, "end")];
        assert_eq!(told, wanted.map(|(n, block)| (n, block.to_owned())));
    }

    proptest! {
        #[test]
        fn no_text_panics_them(source in "[-#a\\[\\] x`:\\n\"é]{0,200}") {
            let told = plan(&source);
            prop_assert!(told.goal.chars().count() <= limits::PLAN_GOAL_CHARS_MAX);
            let told = blocks(&source);
            prop_assert!(told.iter().all(|(_, block)| !block.trim().is_empty()));
        }
    }
}
