//! `heirloom hook`.

use crate::background_work::{start_inbox_sweep, start_judgements};
use crate::hook_installation::settings_have_hooks;
use crate::session_folders::SessionFolder;
use crate::store_access::{
    CliSession, FoundProject, MemoryGate, deliver_events, memory_folder, memory_notice,
    store_event, store_event_if_offline,
};
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::{
    HookAnswer, HookEvent, HookEventKind, HookSpec, PLUGIN_WORD, read_event, render_answer,
};
use heirloom_capture::Hooks;
use heirloom_capture::{HookCall, HookCallLog, HookRequest};
use heirloom_engine::{Engine, count_inbox_files};
use heirloom_model::settings::RedactSettings;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, TransientCause, limits};
use heirloom_redact::Redactor;
use std::io::{self, IsTerminal, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Answer an event of an agent program, from standard input; `heirloom install AGENT` sets these calls up
///
/// Prints the answer in the agent program's own format, or nothing. On any failure the exit code is 0 and a line is
/// written to .heirloom/hooks.log: no agent is blocked by its memory.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent program (claude-code, codex, gemini, opencode, copilot, cursor, windsurf), and the event as the program spells it
    // Unknown words are accepted: an agent program that stops because its hook fails would be worse than a call
    // without effect.
    #[arg(
        value_name = "AGENT EVENT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    words: Vec<String>,
}

/// Interval between two checks of the call's deadline.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// One hook call, shared by the thread that works and the watchdog thread.
struct PendingCall {
    began: Instant,
    words: Vec<String>,
    /// Folder of the project's memory, once it is known.
    memory: OnceLock<PathBuf>,
    progress: Mutex<Progress>,
}

/// State of a hook call.
struct Progress {
    is_answered: bool,
    /// True once the result is logged; no answer is printed after that.
    is_logged: bool,
    /// Time at which the call is ended in any case.
    until: Instant,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    if io::stdin().is_terminal() {
        session.out.talk(
            "heirloom: `hook` reads an event from standard input; `heirloom install AGENT` sets it up",
        );
        return Ok(0);
    }
    let call = Arc::new(PendingCall::new(args.words));
    let mut worker_session = session.fork();
    worker_session.set_short_lived();
    worker_session.suppress_questions();
    let (watched_call, watcher_session) = (Arc::clone(&call), session.fork());
    // Work runs on the main thread: on other threads the allocator requests every page from the system.
    let watcher = std::thread::Builder::new().spawn(move || watched_call.watch(&watcher_session));
    let outcome = match watcher {
        Ok(_) => catch_unwind(AssertUnwindSafe(|| {
            answer_event(&call, &mut worker_session)
        }))
        .unwrap_or_else(|_| Err("it broke off".to_owned())),
        Err(error) => Err(format!("cannot start a thread: {error}")),
    };
    call.finish(session, outcome.err().as_deref());
    Ok(0)
}

impl PendingCall {
    fn new(words: Vec<String>) -> Self {
        let began = Instant::now();
        Self {
            began,
            words,
            memory: OnceLock::new(),
            progress: Mutex::new(Progress {
                is_answered: false,
                is_logged: false,
                until: began + Duration::from_millis(limits::HOOK_DEADLINE_MS),
            }),
        }
    }

    /// Returns the time after which no more of a conversation is read.
    fn reading_deadline(&self) -> Instant {
        self.began + Duration::from_millis(limits::HOOK_ARCHIVE_MS)
    }

    /// A poisoned lock is fine: every state of the progress is valid.
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints the answer, and sets a short deadline for the work after it.
    fn send_answer(&self, answer: &str) {
        let mut progress = self.progress();
        if progress.is_logged {
            return;
        }
        // A closed pipe is ignored: the agent program no longer waits for the answer.
        let mut out = io::stdout().lock();
        drop(out.write_all(answer.as_bytes()).and_then(|()| out.flush()));
        progress.is_answered = true;
        let deadline = Instant::now() + Duration::from_millis(limits::HOOK_AFTER_ANSWER_MS);
        progress.until = progress.until.min(deadline);
    }

    /// Ends the process at its deadline, so that a blocked call does not block the agent.
    fn watch(&self, session: &CliSession) {
        loop {
            let left = {
                let progress = self.progress();
                progress.until.saturating_duration_since(Instant::now())
            };
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(POLL_INTERVAL));
        }
        let is_answered = self.progress().is_answered;
        self.finish(
            session,
            Some(&if is_answered {
                "answered; the writes after the answer were not finished in time".to_owned()
            } else {
                format!("no answer within {} ms", limits::HOOK_DEADLINE_MS)
            }),
        );
        #[expect(
            clippy::disallowed_methods,
            reason = "the other thread may be blocked forever; its output is flushed"
        )]
        std::process::exit(0);
    }

    /// Logs the call; only the first thread that calls this has an effect.
    fn finish(&self, session: &CliSession, problem: Option<&str>) {
        let mut progress = self.progress();
        if std::mem::replace(&mut progress.is_logged, true) {
            return;
        }
        let (Some(memory), Ok(clock)) = (self.memory.get(), session.clock()) else {
            return;
        };
        let call = HookCall {
            at: clock.now(),
            host: self.words.first().cloned().unwrap_or_default(),
            event: self.words.get(1).cloned().unwrap_or_default(),
            took_us: u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
            failed: problem.is_some(),
        };
        log_call(memory, session, &call, problem);
    }
}

/// Logs the call and its problem; the problem goes to the user's data folder if the project's cannot be written.
fn log_call(memory: &Path, session: &CliSession, call: &HookCall, problem: Option<&str>) {
    let calls = HookCallLog::in_folder(memory);
    // Best effort: without the list of calls `doctor` only has less data.
    drop(calls.append(call));
    let Some(problem) = problem else { return };
    let line = format!("{} {}: {problem}", call.host, call.event);
    let line = match Redactor::new(&RedactSettings::default()) {
        Ok(redactor) => redactor.redact(&line).into_owned(),
        Err(_) => return,
    };
    if calls.append_error(call.at, &line).is_ok() {
        return;
    }
    let own = session.env.data_dir().filter(|folder| folder.is_dir());
    if let Some(own) = own {
        // Best effort: there is no further place to report to.
        drop(
            HookCallLog::in_folder(&own)
                .append_error(call.at, &format!("{}: {line}", memory.to_escaped())),
        );
    }
}

/// Answers the event on standard input, then does the remaining writes; does nothing without a project.
fn answer_event(call: &PendingCall, session: &mut CliSession) -> Result<(), String> {
    let (bytes, is_complete) =
        read_event_input().map_err(|error| format!("cannot read the event: {error}"))?;
    let [host, name] = [0, 1].map(|n| call.words.get(n).cloned().unwrap_or_default());
    let host = AgentProgram::hook_program(&host);
    let mut event = host
        .map(|host| read_event(host, &bytes))
        .unwrap_or_default();
    let kind = host
        .and_then(|host| host.hook_spec(&name))
        .map(|spec| spec.kind);
    let host_name = call.words.first().map_or("", String::as_str);
    let folder = SessionFolder::read(&session.env, host_name, kind, &event);
    session.start_in_folder(folder.path());
    event.is_of_script =
        host.is_some_and(|host| host.is_run_by_script(|name| session.env.get(name)));
    let Some(place) = session.project_place() else {
        return Ok(());
    };
    folder.update();
    // Of two calls for one event only the one by the program's own settings is answered.
    let is_plugin_call = call.words.get(2).is_some_and(|word| word == PLUGIN_WORD);
    let preferred = host.filter(|_| is_plugin_call).or(event.other_sender);
    if preferred.is_some_and(|program| settings_have_hooks(program, &session.env, &place.root)) {
        return Ok(());
    }
    // Check the folder first: not even the log is written through a link that leads out of the project.
    let memory = memory_folder(&place).map_err(|fault| fault.message)?;
    let found = session.load_project(place);
    // Settings that cannot be read are reported below.
    let foreign = found.as_ref().ok();
    let foreign = foreign.and_then(|found| foreign_memory_notice(session, found));
    if foreign.is_none() {
        // The cell is empty here, so setting it cannot fail.
        drop(call.memory.set(memory));
    }
    let host = host.ok_or("no such agent program: `heirloom install --help` lists them")?;
    if let Some(problem) = event.parse_error.as_ref().filter(|_| is_complete) {
        return Err(format!("the event cannot be read: {problem}"));
    }
    let Some(wanted) = host.hook_spec(&name) else {
        return Ok(());
    };
    let found = found.map_err(|fault| fault.message)?;
    if !found.config.settings().enabled {
        return Ok(());
    }
    if let Some(notice) = foreign {
        send_notice(call, host, wanted, notice);
        return Ok(());
    }
    let stored = store_event_if_offline(session, &found, &call.words, &bytes);
    if stored.map_err(|fault| fault.message)? {
        return Ok(());
    }
    let Err(fault) = with_memory(call, session, &found, (host, wanted, &event)) else {
        return Ok(());
    };
    if fault.transient_cause == Some(TransientCause::Unavailable) && !call.progress().is_answered {
        return store_event(session, &found, &call.words, &bytes).map_err(|fault| fault.message);
    }
    Err(fault.message)
}

fn with_memory(
    call: &PendingCall,
    session: &mut CliSession,
    found: &FoundProject,
    (host, wanted, event): (AgentProgram, &HookSpec, &HookEvent),
) -> Result<(), Fault> {
    let mut engine = session.engine(found)?;
    if wanted.kind == HookEventKind::SessionStart {
        // A failure leaves the files for the next time.
        drop(engine.workspace().sync());
        engine = engine.with_user(session.user_memory());
    }
    let shorten = if found.config.flag("hooks.shorten_outputs") {
        Some(found.config.window()?)
    } else {
        None
    };
    let request = HookRequest {
        host,
        spec: wanted,
        event,
        shorten: shorten.as_ref(),
        anchor_every: found.config.small("hooks.anchor_every"),
        teach: found.config.flag("hooks.teach"),
        ask: found.config.flag("hooks.ask"),
        deadline: call.reading_deadline(),
    };
    let mut answer = Hooks::new(&engine).handle(&request)?;
    if wanted.kind == HookEventKind::SessionStart {
        answer.notice = undecided_files_notice(&engine);
    }
    call.send_answer(&render_answer(host, wanted, &answer));
    let ended = Hooks::new(&engine).record_after_answer(&request)?;
    start_judgements(found, &ended);
    if wanted.kind == HookEventKind::SessionStart && count_inbox_files(engine.folder())? > 0 {
        start_inbox_sweep(found);
    }
    deliver_events(session, found);
    engine.mirror().refresh().map(drop)
}

/// Returns the line for the person about a memory that is not used, because it did not come from this installation.
fn foreign_memory_notice(session: &CliSession, found: &FoundProject) -> Option<String> {
    let gate = MemoryGate::new(session);
    // A folder that cannot be examined is reported when its memory is opened.
    let trust = gate.memory_trust(found).ok()?;
    match gate.require_trust(found) {
        Ok(_) => None,
        Err(_) => Some(memory_notice(&trust)),
    }
}

/// Returns the line for the person about files that came with the project and are not used yet.
fn undecided_files_notice(engine: &Engine) -> Option<String> {
    let files = engine.workspace().undecided_files();
    let first = files.first()?;
    let others = match files.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "Heirloom: this project brings {}{others} that you did not write, and does not use it: `heirloom trust` shows it",
        first.shown
    ))
}

/// Tells the person at the start of a session why nothing is remembered here.
fn send_notice(call: &PendingCall, host: AgentProgram, spec: &HookSpec, notice: String) {
    if spec.kind == HookEventKind::SessionStart {
        let answer = HookAnswer {
            notice: Some(notice),
            ..HookAnswer::default()
        };
        call.send_answer(&render_answer(host, spec, &answer));
    }
}

/// Reads the event up to the size limit; the flag is true if that is the whole input. The rest is read and dropped:
/// otherwise the writer would get a broken pipe.
fn read_event_input() -> io::Result<(Vec<u8>, bool)> {
    let most = limits::HOOK_INPUT_BYTES_MAX as u64;
    let mut stdin = io::stdin().lock();
    let mut bytes = Vec::new();
    (&mut stdin).take(most).read_to_end(&mut bytes)?;
    let more = io::copy(&mut stdin, &mut io::sink())?;
    Ok((bytes, more == 0))
}
