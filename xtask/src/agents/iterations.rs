//! One program, three iterations through `heirloom run`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use heirloom_testkit::{ModelService, Script, TempProject};
use serde_json::Value;

use crate::cargo;

use super::model_script::{ITERATIONS, NOTES};
use super::program::Program;
use super::{install, model_script, rules, run_checks};

/// Timeout of a run, which takes some seconds.
const RUN_TIMEOUT: Duration = Duration::from_secs(180);

/// Proxy address without a listener.
const CLOSED_PROXY: &str = "http://127.0.0.1:9";

/// Result of driving one program.
#[derive(Debug)]
pub(crate) struct LoopRun {
    /// The program.
    pub(crate) program: &'static Program,
    /// Number of requests that the model answered.
    pub(crate) requests: usize,
    /// Time of the run.
    pub(crate) elapsed: Duration,
    /// The first failed check.
    pub(crate) outcome: Result<(), String>,
}

/// A fresh project, home and model service for one program.
pub(crate) struct Stage {
    /// The project, with `notes.txt`.
    pub(crate) project: TempProject,
    /// The home folder.
    pub(crate) home: PathBuf,
    /// The model.
    pub(crate) service: ModelService,
    program: &'static Program,
}

impl Stage {
    /// Sets the stage below `target/agents/work`: not in the system's temp
    /// folder, where Codex refuses to keep its home.
    pub(crate) fn set(program: &'static Program, script: Script) -> Result<Stage, String> {
        let work = cargo::target_dir()?.join("agents/work");
        let text = |error: std::io::Error| format!("cannot set the stage: {error}");
        let project = TempProject::git_in(&work).map_err(text)?;
        project.write("notes.txt", NOTES).map_err(text)?;
        project.run_git(&["add", "."]).map_err(text)?;
        project
            .run_git(&["commit", "--quiet", "--message", "notes"])
            .map_err(text)?;
        let home = work.join("home").join(program.name);
        if home.exists() {
            fs::remove_dir_all(&home).map_err(text)?;
        }
        let service = ModelService::start(script).map_err(text)?;
        for (name, content) in program.home_files(&service) {
            let path = home.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&home)).map_err(text)?;
            fs::write(path, content).map_err(text)?;
        }
        Ok(Stage {
            project,
            home,
            service,
            program,
        })
    }

    /// The program.
    pub(crate) fn program(&self) -> &'static Program {
        self.program
    }

    /// A command in the project that knows only the stage: no key, no setting
    /// and no proxy of the developer's machine.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project.path())
            .stdin(Stdio::null())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.home)
            .env("LANG", "C.UTF-8")
            // Not `dumb`: with it aider prints plainly without being told to.
            .env("TERM", "xterm-256color")
            .env("NO_PROXY", "127.0.0.1,localhost")
            .env("no_proxy", "127.0.0.1,localhost")
            .envs(self.program.environment(&self.service, &self.home));
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
            command.env(name, CLOSED_PROXY);
        }
        command
    }

    /// Runs a command to its end with its output in `NAME.out` and `NAME.err`
    /// of the home folder; kills it after [`RUN_TIMEOUT`].
    pub(crate) fn run(&self, command: &mut Command, name: &str) -> Result<ExitStatus, String> {
        let file = |ending: &str| {
            let path = self.home.join(format!("{name}.{ending}"));
            File::create(&path).map_err(|error| format!("cannot create {path:?}: {error}"))
        };
        let mut child = command
            .stdout(file("out")?)
            .stderr(file("err")?)
            .spawn()
            .map_err(|error| format!("cannot start `{}`: {error}", cargo::describe(command)))?;
        let deadline = Instant::now() + RUN_TIMEOUT;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                Ok(None) => {
                    // Either may fail if it has just ended by itself.
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("`{name}` did not end within {RUN_TIMEOUT:?}"));
                }
                Err(error) => return Err(format!("cannot wait for `{name}`: {error}")),
            }
        }
    }

    /// Returns the output of the command called `name`.
    pub(crate) fn output(&self, name: &str, ending: &str) -> String {
        let path = self.home.join(format!("{name}.{ending}"));
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Keeps the project and names the folders, to look at a failure.
    pub(crate) fn keep(self) -> String {
        let home = self.home.display().to_string();
        format!("left in {} and {home}", self.project.keep().display())
    }
}

/// Builds `heirloom` for development and returns its path.
pub(crate) fn build_heirloom() -> Result<PathBuf, String> {
    cargo::run(&mut cargo::command(["build", "--package", "heirloom"]))?;
    let binary = cargo::target_dir()?
        .join("debug")
        .join(cargo::exe("heirloom"));
    if binary.is_file() {
        Ok(binary)
    } else {
        Err(format!("cargo built no {}", binary.display()))
    }
}

/// Drives the program for three iterations and checks what came of it.
pub(crate) fn three_iterations(program: &'static Program, heirloom: &Path) -> LoopRun {
    let started = Instant::now();
    let (requests, outcome) = match Stage::set(program, model_script::script(program)) {
        Err(error) => (0, Err(error)),
        Ok(stage) => {
            let outcome = act(&stage, heirloom);
            let requests = stage.service.main_requests().len();
            let outcome = outcome.map_err(|error| format!("{error} ({})", stage.keep()));
            (requests, outcome)
        }
    };
    LoopRun {
        program,
        requests,
        elapsed: started.elapsed(),
        outcome,
    }
}

fn act(stage: &Stage, heirloom: &Path) -> Result<(), String> {
    let program = stage.program;
    let step = |command: &mut Command, name: &str| {
        let status = stage.run(command, name)?;
        if status.success() {
            return Ok(());
        }
        let words = stage.output(name, "err");
        let last = words.lines().last().unwrap_or("no output");
        Err(format!("heirloom {name}: {status}: {last}"))
    };
    step(stage.command(heirloom).args(["init", "--yes"]), "init")?;
    rules::write_rule(stage)?;
    let mut run = stage.command(heirloom);
    run.args(["run", "--agent", program.name])
        .args(["--task", "42", "--type", "issue", "--phase", "IMPLEMENT"])
        .args(["--iterations", &ITERATIONS.to_string(), "--"])
        .args(program.command_line(&install::folder(program)?));
    step(&mut run, "run")?;
    let mut list = stage.command(heirloom);
    step(list.args(["list", "--kind", "knowledge", "--json"]), "list")?;
    run_checks::requests(program, &stage.service.main_requests())?;
    let listed: Value = serde_json::from_str(&stage.output("list", "out"))
        .map_err(|error| format!("`heirloom list --json` printed no JSON: {error}"))?;
    run_checks::records(&listed)
}
