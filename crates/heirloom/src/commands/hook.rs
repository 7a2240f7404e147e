//! `heirloom hook`.

use crate::open::Session;
use heirloom_engine::hooks::{HookEvent, Host, Moment, Wanted, read_event, render};
use heirloom_engine::redact::Redactor;
use heirloom_engine::{HookCall, HookCalls, HookRequest};
use heirloom_model::settings::RedactSettings;
use heirloom_model::{Fault, Timestamp, limits};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

/// Answer an event of an agent program, from standard input; `heirloom install AGENT` sets these calls up
///
/// Prints the answer in the agent program's own form, or nothing. Whatever goes wrong, the exit code is 0 and a line
/// stands in .heirloom/hooks.log: no agent waits for its memory.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent program (claude-code, codex, gemini), and the event as that spells it
    // Anything is taken: a program that stops because of its hook would be worse than a call that does nothing.
    #[arg(
        value_name = "AGENT EVENT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    words: Vec<String>,
}

/// What the thread says that works.
enum Word {
    /// What is to be printed.
    Answer(String),
    /// How it ended.
    Done(Result<(), String>),
}

/// What is known before anything is opened.
struct Job {
    session: Session,
    words: Vec<String>,
    /// The folder of the project's memory, as soon as it is known.
    memory: Arc<OnceLock<PathBuf>>,
    /// When it reads no more of a conversation.
    until: Instant,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let began = Instant::now();
    if io::stdin().is_terminal() {
        session.out.talk(
            "heirloom: `hook` reads an event from standard input; `heirloom install AGENT` sets it up",
        );
        return Ok(0);
    }
    let memory = Arc::new(OnceLock::new());
    let mut own = session.again();
    own.is_waited_for();
    let job = Job {
        session: own,
        words: args.words.clone(),
        memory: Arc::clone(&memory),
        until: began + Duration::from_millis(limits::HOOK_ARCHIVE_MS),
    };
    let (send, receive) = mpsc::channel();
    // In a thread of its own, so that nothing it waits for makes the agent wait: it goes with the process.
    let started = std::thread::Builder::new().spawn(move || {
        let outcome = answered(job, &|answer| drop(send.send(Word::Answer(answer))));
        drop(send.send(Word::Done(outcome)));
    });
    let outcome = match started {
        Ok(_) => listen(&receive, began),
        Err(error) => Err(format!("cannot start a thread: {error}")),
    };
    let problem = outcome.err();
    if let (Some(memory), Ok(clock)) = (memory.get(), session.clock()) {
        let call = HookCall {
            at: clock.now(),
            host: args.words.first().cloned().unwrap_or_default(),
            event: args.words.get(1).cloned().unwrap_or_default(),
            took_us: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
            failed: problem.is_some(),
        };
        put_down(memory, session, &call, problem.as_deref());
    }
    Ok(0)
}

/// Prints the answer as soon as it comes, and waits a little for what is done behind it.
fn listen(receive: &mpsc::Receiver<Word>, began: Instant) -> Result<(), String> {
    let mut until = began + Duration::from_millis(limits::HOOK_DEADLINE_MS);
    let mut is_answered = false;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match receive.recv_timeout(left) {
            Ok(Word::Answer(answer)) => {
                // Who does not listen any more needs no answer.
                let mut out = io::stdout().lock();
                drop(out.write_all(answer.as_bytes()).and_then(|()| out.flush()));
                is_answered = true;
                until = until.min(Instant::now() + Duration::from_millis(limits::HOOK_BEHIND_MS));
            }
            Ok(Word::Done(outcome)) => return outcome,
            Err(mpsc::RecvTimeoutError::Timeout) if is_answered => {
                return Err("answered; what is written behind that was not done in time".to_owned());
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                return Err(format!("no answer within {} ms", limits::HOOK_DEADLINE_MS));
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err("it broke off".to_owned()),
        }
    }
}

/// Puts the call down, and what went wrong; where the project's folder cannot be written, in the person's own.
fn put_down(memory: &Path, session: &Session, call: &HookCall, problem: Option<&str>) {
    let calls = HookCalls::of(memory);
    // Without a list of calls `doctor` knows less.
    drop(calls.put(call));
    let Some(problem) = problem else { return };
    let line = format!("{} {}: {problem}", call.host, call.event);
    let line = match Redactor::new(&RedactSettings::default()) {
        Ok(redactor) => redactor.redact(&line).into_owned(),
        Err(_) => return,
    };
    if calls.log(call.at, &line).is_ok() {
        return;
    }
    let own = session.env.data_dir().filter(|folder| folder.is_dir());
    if let Some(own) = own {
        // Nobody is left to tell.
        drop(HookCalls::of(&own).log(call.at, &format!("{}: {line}", memory.display())));
    }
}

/// Tells the answer to the event on standard input, and does what is left behind it; nothing where there is no project.
fn answered(mut job: Job, tell: &dyn Fn(String)) -> Result<(), String> {
    let (bytes, is_whole) = input().map_err(|error| format!("cannot read the event: {error}"))?;
    let [host, name] = [0, 1].map(|n| job.words.get(n).cloned().unwrap_or_default());
    let host = Host::named(&host);
    let event = host
        .map(|host| read_event(host, &bytes))
        .unwrap_or_default();
    drop(bytes);
    job.session.begin_in(event.cwd.as_deref());
    let Some(place) = job.session.hook_place() else {
        return Ok(());
    };
    // Only the first time counts, and this is it.
    drop(job.memory.set(place.folder.clone()));
    let host = host.ok_or("no such agent program: claude-code, codex and gemini have hooks")?;
    if let Some(problem) = event.problem.as_ref().filter(|_| is_whole) {
        return Err(format!("the event cannot be read: {problem}"));
    }
    let Some(wanted) = host.event(&name) else {
        return Ok(());
    };
    with_memory(&mut job, place, (host, wanted, &event), tell).map_err(|fault| fault.message)
}

fn with_memory(
    job: &mut Job,
    place: heirloom_engine::places::Place,
    (host, wanted, event): (Host, &Wanted, &HookEvent),
    tell: &dyn Fn(String),
) -> Result<(), Fault> {
    let found = job.session.found_at(place)?;
    if !found.config.settings().enabled {
        return Ok(());
    }
    let mut engine = job.session.engine(&found)?;
    if wanted.moment == Moment::SessionStarts {
        // What waits outside of the store is taken in once a session; if it cannot be, it waits on.
        drop(engine.sweep_inbox());
        drop(engine.sync_workspace());
        engine = engine.with_user(job.session.user_memory());
    }
    let shorten = if found.config.flag("hooks.shorten_outputs") {
        Some(found.config.window()?)
    } else {
        None
    };
    let request = HookRequest {
        host,
        wanted,
        event,
        shorten: shorten.as_ref(),
        until: job.until,
    };
    let answer = engine.hook(&request)?;
    tell(render(host, wanted, &answer));
    engine.hook_answered(&request)
}

/// The event's bytes to the cap, and whether that is all of them. The rest is read too: who writes into a pipe that
/// nobody reads gets an error.
fn input() -> io::Result<(Vec<u8>, bool)> {
    let most = limits::HOOK_INPUT_BYTES_MAX as u64;
    let mut stdin = io::stdin().lock();
    let mut bytes = Vec::new();
    (&mut stdin).take(most).read_to_end(&mut bytes)?;
    let more = io::copy(&mut stdin, &mut io::sink())?;
    Ok((bytes, more == 0))
}

/// How the calls of hooks went.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Calls {
    /// How many are known.
    pub(crate) calls: usize,
    /// The newest.
    pub(crate) last: Option<(Timestamp, String)>,
    /// Of these, in milliseconds, half took no longer.
    pub(crate) p50_ms: f64,
    /// And ninety-nine in a hundred.
    pub(crate) p99_ms: f64,
    /// How many failed.
    pub(crate) failures: usize,
}

/// What the list of calls says of a project.
pub(crate) fn calls(memory: &Path) -> Calls {
    let mut all = HookCalls::of(memory).read();
    let last = all
        .last()
        .map(|call| (call.at, format!("{} {}", call.host, call.event)));
    let failures = all.iter().filter(|call| call.failed).count();
    all.sort_by_key(|call| call.took_us);
    let share = |hundredths: usize| {
        let place = (all.len() * hundredths / 100).min(all.len().saturating_sub(1));
        #[expect(clippy::cast_precision_loss, reason = "a time of some milliseconds")]
        all.get(place)
            .map_or(0.0, |call| call.took_us as f64 / 1_000.0)
    };
    Calls {
        calls: all.len(),
        last,
        p50_ms: share(50),
        p99_ms: share(99),
        failures,
    }
}
