//! Output on a terminal: a pseudo-terminal plays the one of a person.

use crate::project::Project;
use heirloom_testkit::sh;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::io::Read;
use std::process::Stdio;

/// Environment of a terminal with colours and without links.
const TERM: (&str, &str) = ("TERM", "xterm-256color");

/// Runs the program on a terminal of this width and returns what it prints there.
fn on_terminal(project: &Project, columns: u16, env: &[(&str, &str)], line: &str) -> String {
    let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&main).unwrap();
    unlockpt(&main).unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&main, size).unwrap();
    let name = ptsname(&main, Vec::new()).unwrap().into_string().unwrap();
    let open = || {
        let options = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&name);
        Stdio::from(options.unwrap())
    };
    let mut command = project.command(&sh(line));
    command.envs(env.iter().copied());
    command.stdin(Stdio::null()).stdout(open()).stderr(open());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut text = Vec::new();
    // Reading fails once the program has closed the other end.
    let _ = std::fs::File::from(main).read_to_end(&mut text);
    child.wait().unwrap();
    String::from_utf8(text).unwrap().replace("\r\n", "\n")
}

/// Removes styles and links.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = match after.strip_prefix("]8;;") {
            Some(link) => link.split_once("\u{1b}\\").unwrap().1,
            None => after.split_once('m').unwrap().1,
        };
    }
    plain + rest
}

fn project_with_records() -> (Project, Vec<String>) {
    let project = Project::new();
    let mut ids = Vec::new();
    for (key, text) in [
        (
            "indent",
            "use tabs in all files of this project, and never blanks, whatever the editor says",
        ),
        ("clock", "use a fixed clock in tests"),
    ] {
        ids.push(project.remember(text, &["--key", key, "--category", "convention"]));
    }
    (project, ids)
}

#[test]
fn list_fits_the_terminal_and_shows_short_ids() {
    let (project, ids) = project_with_records();
    for columns in [40, 60, 80] {
        let text = on_terminal(&project, columns, &[TERM, ("NO_COLOR", "1")], "list");
        assert!(!text.contains('\u{1b}'), "{text}");
        for (line, id) in text.lines().zip(ids.iter().rev()) {
            assert!(line.chars().count() <= usize::from(columns), "{line}");
            let short = line.split(' ').next().unwrap();
            assert_eq!(short, &id[id.len() - 8..]);
            assert_eq!(project.json(&["show", short])["id"], **id);
        }
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains('…'), "{text}");
    }
    let wide = on_terminal(&project, 80, &[TERM, ("NO_COLOR", "1")], "list");
    assert!(wide.contains("  convention  indent  use tabs"), "{wide}");
}

#[test]
fn list_in_a_pipe_has_whole_ids_and_texts() {
    let (project, ids) = project_with_records();
    let text = project.ok(&sh("list")).stdout;
    assert!(ids.iter().all(|id| text.contains(id.as_str())), "{text}");
    assert!(text.contains("whatever the editor says\n"), "{text}");
}

#[test]
fn terminal_gets_colors_unless_variables_forbid_them() {
    let (project, ids) = project_with_records();
    let end = &ids[0][ids[0].len() - 8..];
    let colored = format!("\u{1b}[33m{end}\u{1b}[0m");
    let line = "recall tabs -k 1";
    let text = on_terminal(&project, 80, &[TERM], line);
    assert!(text.contains(&colored), "{text}");
    assert!(
        plain(&text).contains(&format!("{end} · knowledge/convention")),
        "{text}"
    );
    for variable in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
        let text = on_terminal(&project, 80, &[TERM, variable], line);
        assert!(!text.contains('\u{1b}'), "{variable:?} {text}");
    }
    let mut piped = project.command(&sh(line));
    let forced = crate::project::answer(piped.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1"));
    assert!(forced.stdout.contains('\u{1b}'), "{forced:?}");
    assert!(!project.ok(&sh(line)).stdout.contains('\u{1b}'));
    let help = on_terminal(&project, 80, &[TERM], "help");
    assert!(help.contains("\u{1b}[1m\u{1b}[4mStart:\u{1b}[0m"), "{help}");
    let error = on_terminal(&project, 80, &[TERM], "lst");
    assert!(
        error.contains("heirloom:\u{1b}[0m there is no command `lst`"),
        "{error:?}"
    );
}

#[test]
fn overview_fits_narrow_terminals() {
    let project = Project::uninitialised();
    for columns in [50, 80] {
        let text = on_terminal(&project, columns, &[TERM, ("NO_COLOR", "1")], "help");
        let (groups, _) = text.split_once("Options:").unwrap();
        let widest = groups
            .lines()
            .skip(3)
            .map(|line| line.chars().count())
            .max();
        assert!(widest.unwrap() <= usize::from(columns), "{text}");
    }
}

#[test]
fn ids_link_to_the_page_only_while_a_server_runs() {
    let (project, ids) = project_with_records();
    let terminal = [TERM, ("TERM_PROGRAM", "WezTerm")];
    assert!(!on_terminal(&project, 80, &terminal, "list").contains("]8;;"));
    let mut command = project.command(&sh("serve --port 0"));
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .stdin(Stdio::null());
    let mut server = command.spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(server.stdout.take().unwrap()));
    let address = lines.find_map(|line| {
        line.unwrap()
            .strip_prefix("listening on ")
            .map(str::to_owned)
    });
    let address = address.unwrap();
    let text = on_terminal(&project, 80, &terminal, "list");
    let other = on_terminal(
        &project,
        80,
        &[TERM, ("TERM_PROGRAM", "Apple_Terminal")],
        "list",
    );
    let piped = project.ok(&sh("list")).stdout;
    server.kill().unwrap();
    server.wait().unwrap();
    for id in &ids {
        assert!(
            text.contains(&format!("\u{1b}]8;;{address}/records/{id}\u{1b}\\")),
            "{text:?}"
        );
    }
    assert!(
        plain(&text).contains(&ids[0][ids[0].len() - 8..]),
        "{text:?}"
    );
    assert!(!other.contains("]8;;") && !piped.contains("]8;;"));
}

#[test]
fn values_continue_below_their_beginning() {
    let (project, _) = project_with_records();
    let env = [TERM, ("NO_COLOR", "1")];
    let piped = project.ok(&sh("config context.sources")).stdout;
    assert_eq!(piped.lines().count(), 1, "{piped}");
    for (line, indent) in [
        ("config context.sources", 16),
        ("status", 12),
        ("doctor", 21),
    ] {
        let text = on_terminal(&project, 60, &env, line);
        let is_indented = |line: &&str| line.starts_with(&" ".repeat(indent));
        assert!(
            text.lines().any(|line| is_indented(&line)),
            "{line}: {text}"
        );
        for shown in text.lines() {
            // A path is longer than a line and is not broken.
            let is_word = shown.trim().split(' ').any(|word| word.len() > 38);
            assert!(is_word || shown.chars().count() <= 60, "{line}: {text}");
        }
    }
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = on_terminal(&project, 60, &env, "config context.sources");
    assert_eq!(words(&shown), words(&piped));
    let error = on_terminal(&project, 60, &env, "hooks");
    let last = error.lines().last().unwrap();
    assert!(
        last.starts_with("  ") && last.contains("commands"),
        "{error}"
    );
    assert!(error.contains("`heirloom help`"), "{error}");
}

#[test]
fn history_shows_ids_that_show_accepts() {
    let (project, ids) = project_with_records();
    project.ok(&["pin", &ids[0]]);
    let text = on_terminal(&project, 80, &[TERM, ("NO_COLOR", "1")], "history");
    let pinned = text.lines().find(|line| line.contains("pinned")).unwrap();
    let end = &ids[0][ids[0].len() - 8..];
    assert!(pinned.split_whitespace().any(|word| word == end), "{text}");
    let piped = project.ok(&sh("history")).stdout;
    assert!(piped.contains(&ids[0]), "{piped}");
}
