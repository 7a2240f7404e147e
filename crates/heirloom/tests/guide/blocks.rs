//! Commands on a page of Markdown.

/// Comment before a block that is not run; the reason follows.
const MARKER: &str = "<!-- not run: ";

/// Block of commands.
#[derive(Debug)]
pub(crate) struct Block {
    /// Line of its fence.
    pub(crate) line: usize,
    /// Reason why it is not run.
    pub(crate) not_run: Option<String>,
    /// True if the commands follow a prompt, false if the block is a script.
    pub(crate) is_console: bool,
    /// Commands with their continuation lines; of a script the whole text.
    pub(crate) commands: Vec<String>,
}

/// Returns the blocks of commands; the error names a marker without a block or without a reason.
pub(crate) fn blocks(page: &str) -> Result<Vec<Block>, String> {
    let mut found: Vec<Block> = Vec::new();
    let mut marker: Option<String> = None;
    let (mut fence, mut is_commands, mut is_continued) = (None, false, false);
    for (at, line) in page.lines().enumerate() {
        let line_number = at + 1;
        if let Some(language) = line.trim_start().strip_prefix("```") {
            if fence.take().is_none() {
                fence = Some(language);
                is_continued = false;
                is_commands = ["console", "sh", "bash", "shell"].contains(&language);
                if is_commands {
                    found.push(Block {
                        line: line_number,
                        not_run: marker.take(),
                        is_console: language == "console",
                        commands: Vec::new(),
                    });
                }
            }
        } else if fence.is_some() {
            if is_commands && let Some(block) = found.last_mut() {
                is_continued = add_line(block, line, is_continued);
            }
        } else if let Some(rest) = line.trim_start().strip_prefix(MARKER) {
            let reason = rest.strip_suffix("-->").unwrap_or_default().trim();
            if reason.len() < 10 {
                return Err(format!("line {line_number}: the marker has no reason"));
            }
            marker = Some(reason.to_owned());
            continue;
        }
        if marker.is_some() && !line.trim().is_empty() {
            return Err(format!(
                "line {line_number}: a block of commands must follow the marker"
            ));
        }
    }
    Ok(found)
}

/// Adds a line to a block; returns true if the next line continues it.
fn add_line(block: &mut Block, line: &str, is_continued: bool) -> bool {
    let command = match block.is_console {
        true => line.trim_start().strip_prefix("$ "),
        false if block.commands.is_empty() => Some(line),
        false => None,
    };
    if let Some(command) = command {
        block.commands.push(command.to_owned());
    } else if (is_continued || !block.is_console)
        && let Some(last) = block.commands.last_mut()
    {
        last.push('\n');
        last.push_str(line);
    } else {
        return false;
    }
    line.ends_with('\\')
}

/// Returns the code spans of running text that are commands of this program.
pub(crate) fn inline_commands(page: &str) -> Vec<&str> {
    let mut is_fenced = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            let spans = line.split('`').skip(1).step_by(2);
            found.extend(spans.filter(|span| span.starts_with("heirloom ")));
        }
    }
    found
}

#[test]
fn marker_needs_reason_and_block() {
    for (page, works) in [
        (
            "<!-- not run: it needs an account -->\n```sh\nx\n```\n",
            true,
        ),
        (
            "<!-- not run: it needs an account -->\n\n```sh\nx\n```\n",
            true,
        ),
        ("<!-- not run: -->\n```sh\nx\n```\n", false),
        ("<!-- not run: it needs an account -->\ntext\n", false),
        (
            "<!-- not run: it needs an account -->\n```text\nx\n```\n",
            false,
        ),
    ] {
        assert_eq!(blocks(page).is_ok(), works, "{page}");
    }
}

#[test]
fn blocks_have_commands_with_continuations() {
    let page = "```console\n$ a \\\n  b\noutput\n$ c\n```\n```sh\nd\ne\n```\n```text\n$ f\n```\n";
    let found = blocks(page).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].commands, ["a \\\n  b", "c"]);
    assert_eq!(found[1].commands, ["d\ne"]);
    assert_eq!(inline_commands("a `heirloom x` `b`\n"), ["heirloom x"]);
}
