//! Prompts that a program made from a template: only the person's input in them are a person's words.
//!
//! Programs replace a slash command by the text of its template, which is instructions to the agent and no rule or
//! request of the person.

/// Bytes of a prompt in which the head of a template is searched.
const HEAD_BYTES_MAX: usize = 400;
/// Headings of the section with the person's input, in lower case.
const INPUT_HEADINGS: [&str; 3] = ["## user input", "# user input", "## arguments"];
/// Mark of the arguments at the end of a skill's text.
const ARGUMENTS: &str = "\nARGUMENTS:";
/// Beginning of a skill's text.
const SKILL: &str = "Base directory for this skill:";

/// Returns the person's input in a prompt that was made from a template; `None` for any other prompt.
pub(crate) fn template_input(prompt: &str) -> Option<&str> {
    let text = prompt.trim_start();
    if text.starts_with(SKILL) {
        return Some(arguments(text));
    }
    let body = match text.strip_prefix("---\n") {
        Some(rest) => {
            let head = rest.get(..rest.floor_char_boundary(HEAD_BYTES_MAX * 4))?;
            let end = head.find("\n---")?;
            head.get(..end)?.contains("description:").then_some(())?;
            let body = rest.get(end + 4..).unwrap_or_default().trim_start();
            return Some(fenced_input(body).unwrap_or_else(|| arguments(body)));
        }
        None => text,
    };
    fenced_input(body)
}

/// Returns the contents of the code block under the heading of the person's input, if the text begins with it.
fn fenced_input(body: &str) -> Option<&str> {
    let head = body.get(..body.floor_char_boundary(HEAD_BYTES_MAX))?;
    let first = head.lines().next()?.trim().to_lowercase();
    if !INPUT_HEADINGS.contains(&first.as_str()) {
        return None;
    }
    let start = head.find("```")?;
    let rest = body.get(start..)?;
    let inner = rest.split_once('\n')?.1;
    let end = inner.find("```").unwrap_or(inner.len());
    Some(inner.get(..end)?.trim())
}

/// Returns the arguments at the end of a template.
fn arguments(text: &str) -> &str {
    match text.rfind(ARGUMENTS) {
        Some(at) => text.get(at + ARGUMENTS.len()..).unwrap_or_default().trim(),
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_input_is_the_persons_part() {
        for (prompt, input) in [
            (
                "\n## User Input\n\n```text\nAdd a cart\n```\n\nYou **MUST** consider it.\n\n## Outline\n",
                Some("Add a cart"),
            ),
            ("## User Input\n\n```text\n\n```\n\nAlways do x.", Some("")),
            (
                "---\ndescription: Plan a feature\n---\n\nAlways do x.\n\nARGUMENTS: the cart",
                Some("the cart"),
            ),
            (
                "Base directory for this skill: /p\n\n# commit\n\nNever push.",
                Some(""),
            ),
            ("---\nno template\n---\nAlways use tabs.", None),
            ("Always use tabs.", None),
            ("## User Input\n\nno block", None),
            ("", None),
        ] {
            assert_eq!(template_input(prompt), input, "{prompt}");
        }
    }
}
