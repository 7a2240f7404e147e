//! Drives concurrent sessions of one program with hooks: two worktrees of a project, and another project.

use std::path::Path;
use std::process::Command;

use heirloom_testkit::{RecordedRequest, Script, TempProject, Turn};

use super::iterations::Stage;
use super::program::{PROMPT, Program};
use super::{hooks, install};
use crate::cargo;

/// Sessions in the project, in a worktree, in another project, and in the worktree again.
const SESSIONS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

/// Prompt of a session. A session start lists no facts, so that the last session asks for them.
fn task_prompt(name: &str) -> String {
    match name {
        "delta" => "Where do the alpha module, the beta module and the gamma module live?".into(),
        _ => format!("Fix the {name} login"),
    }
}

fn learned(name: &str) -> String {
    format!("the {name} module lives in {name}.rs")
}

/// Checks that sessions of one project share what they learn and a session of another project does not see it.
pub(crate) fn drive(program: &'static Program, heirloom: &Path) -> Result<(), String> {
    let stage = Stage::set(program, script())?;
    act(&stage, heirloom).map_err(|error| format!("{error} ({})", stage.keep()))
}

fn script() -> Script {
    Script::function(|request: &RecordedRequest| {
        let body_text = request.body.to_string();
        // The context of the last session may contain the facts of the others.
        let name = SESSIONS
            .iter()
            .rev()
            .find(|name| body_text.contains(&task_prompt(name)));
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
        hooks::step(stage, &mut command, name)
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
    if let Some(arguments) = stage.program().preparation {
        let binary = install::folder(stage.program())?.join(stage.program().binary);
        let mut prepare = stage.command(&binary);
        hooks::step(stage, prepare.args(arguments), "prepare")?;
    }
    let last = agents.pop();
    std::thread::scope(|scope| {
        let started: Vec<_> = agents
            .into_iter()
            .map(|(name, mut command)| scope.spawn(move || hooks::step(stage, &mut command, name)))
            .collect();
        started
            .into_iter()
            .try_for_each(|one| one.join().map_err(|_| "a thread broke off".to_owned())?)
    })?;
    let before = stage.service.main_requests().len();
    if let Some((name, mut command)) = last {
        hooks::step(stage, &mut command, name)?;
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
        hooks::ensure(
            (has(&here), has(&there)) == (is_ours, !is_ours),
            &format!("what {name} learned is in the wrong project"),
        )?;
        hooks::ensure(
            has(&first) == is_ours,
            &format!(
                "the next session in the worktree: context has {name}: {}",
                has(&first)
            ),
        )?;
    }
    Ok(())
}

/// Returns the command with which a person starts the agent in `folder`.
fn agent(stage: &Stage, heirloom: &Path, name: &str, folder: &Path) -> Result<Command, String> {
    let program = stage.program();
    let line = program.command_line(&install::folder(program)?);
    let mut command = stage.command(line[0].as_ref());
    let prompt = task_prompt(name);
    command.args(line[1..].iter().map(|word| match word == PROMPT {
        true => &prompt,
        false => word,
    }));
    hooks::with_path(&mut command, program, heirloom)?;
    command.current_dir(folder);
    Ok(command)
}
