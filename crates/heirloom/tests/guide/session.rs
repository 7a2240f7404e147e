//! The recorded terminal session of the README.

use super::project::GuideProject;

/// Columns of the recorded terminal.
const COLUMNS: usize = 80;

/// Returns the text of an SVG without its markup.
fn text_of(svg: &str) -> String {
    let mut text = String::new();
    let mut is_markup = false;
    for c in svg.chars() {
        match c {
            '<' => is_markup = true,
            '>' if is_markup => is_markup = false,
            c if !is_markup => text.push(c),
            _ => {}
        }
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&amp;", "&")
}

/// True if a line differs between two runs: it has an id, or a chance that the model computes.
fn is_variable(line: &str) -> bool {
    line.contains("01a") || line.contains(" % ")
}

#[test]
fn recorded_session_shows_what_its_commands_print() {
    let recorded = text_of(include_str!("../../../../docs/session.svg"));
    let project = GuideProject::new();
    project.add_conversations();
    assert!(project.command("heirloom init").status.success());
    let mut compared = 0;
    for line in include_str!("../../../../docs/session/commands.txt").lines() {
        assert!(recorded.contains(line), "not recorded: {line}");
        let done = project.command(line);
        assert!(done.status.success(), "{line}: {done:?}");
        let printed = [done.stdout, done.stderr].concat();
        let printed = String::from_utf8(printed).unwrap();
        for line in printed.lines().filter(|line| !is_variable(line)) {
            let columns: Vec<char> = line.chars().collect();
            for row in columns.chunks(COLUMNS) {
                let row: String = row.iter().collect();
                assert!(
                    recorded.contains(&row),
                    "not in docs/session.svg: {row}\nrecord it again: docs/session/record.py"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 8, "{compared}");
}
