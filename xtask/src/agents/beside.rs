//! One program several times at once: two worktrees of a project, and another project, each by its hooks.

use std::path::Path;
use std::process::Command;

use heirloom_testkit::{RecordedRequest, Script, TempProject, Turn};

use super::drive::Stage;
use super::program::{PROMPT, Program};
use super::{hooked, install};
use crate::cargo;

/// Sessions in the project, in a worktree of it, in another project, and in the worktree once more.
const SESSIONS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

fn asked(name: &str) -> String {
    format!("Fix the {name} login")
}

fn learned(name: &str) -> String {
    format!("the {name} module lives in {name}.rs")
}

/// What one session learns every other one of its project knows, and nobody else.
pub(crate) fn drive(program: &'static Program, heirloom: &Path) -> Result<(), String> {
    let stage = Stage::set(program, script())?;
    act(&stage, heirloom).map_err(|error| format!("{error} ({})", stage.keep()))
}

fn script() -> Script {
    Script::function(|request: &RecordedRequest| {
        let said = request.body.to_string();
        // The last one may have been told of the others.
        let name = SESSIONS
            .iter()
            .rev()
            .find(|name| said.contains(&asked(name)));
        let fact = learned(name.unwrap_or(&"unknown"));
        Turn::text(format!("I found it.\n\nHEIRLOOM_MEMORY: KEY_FACT {fact}\n"))
    })
}

fn act(stage: &Stage, heirloom: &Path) -> Result<(), String> {
    let text = |error: std::io::Error| format!("cannot set the stage: {error}");
    let work = cargo::target_dir()?.join("agents/work");
    let other = TempProject::git_in(&work).map_err(text)?;
    let tree = stage.home.join("tree");
    let branch = ["worktree", "add", "--quiet", "-b", "side"];
    let tree_name = tree.display().to_string();
    (stage.project)
        .run_git(&[branch.as_slice(), &[tree_name.as_str()]].concat())
        .map_err(text)?;
    let ours = |args: &[&str], folder: &Path, name: &str| {
        let mut command = stage.command(heirloom);
        command.args(args).current_dir(folder);
        hooked::step(stage, &mut command, name)
    };
    for (folder, name) in [(stage.project.path(), "init"), (other.path(), "init-other")] {
        ours(&["init", "--yes"], folder, name)?;
    }
    let install = ["install", stage.program().name, "--yes"];
    ours(&install, stage.project.path(), "install")?;
    let folders = [stage.project.path(), &tree, other.path(), &tree];
    let mut agents = Vec::new();
    for (name, folder) in SESSIONS.into_iter().zip(folders) {
        agents.push((name, agent(stage, heirloom, name, folder)?));
    }
    let last = agents.pop();
    std::thread::scope(|scope| {
        let started: Vec<_> = agents
            .into_iter()
            .map(|(name, mut command)| scope.spawn(move || hooked::step(stage, &mut command, name)))
            .collect();
        started
            .into_iter()
            .try_for_each(|one| one.join().map_err(|_| "a thread broke off".to_owned())?)
    })?;
    let before = stage.service.main_requests().len();
    if let Some((name, mut command)) = last {
        hooked::step(stage, &mut command, name)?;
    }
    let list = ["list", "--kind", "knowledge", "--json"];
    ours(&list, stage.project.path(), "list")?;
    ours(&list, other.path(), "list-other")?;
    check(stage, before)
}

fn check(stage: &Stage, before: usize) -> Result<(), String> {
    let (here, there) = (
        stage.output("list", "out"),
        stage.output("list-other", "out"),
    );
    let requests = stage.service.main_requests();
    let first = requests.get(before).map(|request| request.body.to_string());
    let first = first.ok_or("the last session asked the model nothing")?;
    for (name, is_ours) in [("alpha", true), ("beta", true), ("gamma", false)] {
        let fact = learned(name);
        let has = |text: &str| text.contains(&fact);
        hooked::ensure(
            (has(&here), has(&there)) == (is_ours, !is_ours),
            &format!("what {name} learned is in the wrong project"),
        )?;
        hooked::ensure(
            has(&first) == is_ours,
            &format!(
                "the next session in the worktree: told of {name}: {}",
                has(&first)
            ),
        )?;
    }
    Ok(())
}

/// The agent as its person would start it in `folder`.
fn agent(stage: &Stage, heirloom: &Path, name: &str, folder: &Path) -> Result<Command, String> {
    let program = stage.program();
    let line = program.command_line(&install::folder(program)?);
    let mut command = stage.command(line[0].as_ref());
    let prompt = asked(name);
    command.args(line[1..].iter().map(|word| match word == PROMPT {
        true => &prompt,
        false => word,
    }));
    hooked::with_path(&mut command, program, heirloom)?;
    command.current_dir(folder);
    Ok(command)
}
