//! `heirloom hook`.

use crate::open::Session;
use heirloom_engine::hooks::{HookEvent, Host, Moment, Wanted, read_event, render};
use heirloom_engine::redact::Redactor;
use heirloom_engine::{HookCall, HookCalls, HookRequest};
use heirloom_model::settings::RedactSettings;
use heirloom_model::{Fault, Timestamp, limits};
use std::io::{self, IsTerminal, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
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

/// Between two looks at whether the time of a call is over.
const WATCH: Duration = Duration::from_millis(50);

/// One call, as the thread that works and the one that watches it see it.
struct Call {
    began: Instant,
    words: Vec<String>,
    /// The folder of the project's memory, as soon as it is known.
    memory: OnceLock<PathBuf>,
    progress: Mutex<Progress>,
}

/// How far a call is.
struct Progress {
    is_answered: bool,
    /// Whether it was put down how it ended: from then on nothing is said.
    is_over: bool,
    /// When it is over, whatever it is at.
    until: Instant,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    if io::stdin().is_terminal() {
        session.out.talk(
            "heirloom: `hook` reads an event from standard input; `heirloom install AGENT` sets it up",
        );
        return Ok(0);
    }
    let call = Arc::new(Call::new(args.words));
    let mut own = session.again();
    own.is_waited_for();
    let (watched, its_own) = (Arc::clone(&call), session.again());
    // The work stays in the first thread: in any other the allocator asks the system for each page.
    let watcher = std::thread::Builder::new().spawn(move || watched.watch(&its_own));
    let outcome = match watcher {
        Ok(_) => catch_unwind(AssertUnwindSafe(|| answered(&call, &mut own)))
            .unwrap_or_else(|_| Err("it broke off".to_owned())),
        Err(error) => Err(format!("cannot start a thread: {error}")),
    };
    call.end(session, outcome.err().as_deref());
    Ok(0)
}

impl Call {
    fn new(words: Vec<String>) -> Self {
        let began = Instant::now();
        Self {
            began,
            words,
            memory: OnceLock::new(),
            progress: Mutex::new(Progress {
                is_answered: false,
                is_over: false,
                until: began + Duration::from_millis(limits::HOOK_DEADLINE_MS),
            }),
        }
    }

    /// When it reads no more of a conversation.
    fn reads_until(&self) -> Instant {
        self.began + Duration::from_millis(limits::HOOK_ARCHIVE_MS)
    }

    /// What is true of a call stays true when a thread breaks off.
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints the answer; what is done behind it has a little time.
    fn tell(&self, answer: &str) {
        let mut progress = self.progress();
        if progress.is_over {
            return;
        }
        // Who does not listen any more needs no answer.
        let mut out = io::stdout().lock();
        drop(out.write_all(answer.as_bytes()).and_then(|()| out.flush()));
        progress.is_answered = true;
        let behind = Instant::now() + Duration::from_millis(limits::HOOK_BEHIND_MS);
        progress.until = progress.until.min(behind);
    }

    /// Ends the process when its time is over, so that nothing the call waits for makes the agent wait.
    fn watch(&self, session: &Session) {
        loop {
            let left = {
                let progress = self.progress();
                progress.until.saturating_duration_since(Instant::now())
            };
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(WATCH));
        }
        let is_answered = self.progress().is_answered;
        self.end(
            session,
            Some(&if is_answered {
                "answered; what is written behind that was not done in time".to_owned()
            } else {
                format!("no answer within {} ms", limits::HOOK_DEADLINE_MS)
            }),
        );
        #[expect(
            clippy::disallowed_methods,
            reason = "what the other thread waits for may never come; what it had to say is flushed"
        )]
        std::process::exit(0);
    }

    /// Puts the call down, whichever thread ends it first.
    fn end(&self, session: &Session, problem: Option<&str>) {
        let mut progress = self.progress();
        if std::mem::replace(&mut progress.is_over, true) {
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
        put_down(memory, session, &call, problem);
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
fn answered(call: &Call, session: &mut Session) -> Result<(), String> {
    let (bytes, is_whole) = input().map_err(|error| format!("cannot read the event: {error}"))?;
    let [host, name] = [0, 1].map(|n| call.words.get(n).cloned().unwrap_or_default());
    let host = Host::named(&host);
    let event = host
        .map(|host| read_event(host, &bytes))
        .unwrap_or_default();
    drop(bytes);
    session.begin_in(event.cwd.as_deref());
    let Some(place) = session.hook_place() else {
        return Ok(());
    };
    // Only the first time counts, and this is it.
    drop(call.memory.set(place.folder.clone()));
    let host = host.ok_or("no such agent program: claude-code, codex and gemini have hooks")?;
    if let Some(problem) = event.problem.as_ref().filter(|_| is_whole) {
        return Err(format!("the event cannot be read: {problem}"));
    }
    let Some(wanted) = host.event(&name) else {
        return Ok(());
    };
    with_memory(call, session, place, (host, wanted, &event)).map_err(|fault| fault.message)
}

fn with_memory(
    call: &Call,
    session: &mut Session,
    place: heirloom_engine::places::Place,
    (host, wanted, event): (Host, &Wanted, &HookEvent),
) -> Result<(), Fault> {
    let found = session.found_at(place)?;
    if !found.config.settings().enabled {
        return Ok(());
    }
    let mut engine = session.engine(&found)?;
    if wanted.moment == Moment::SessionStarts {
        // What waits outside of the store is taken in once a session; if it cannot be, it waits on.
        drop(engine.sweep_inbox());
        drop(engine.sync_workspace());
        engine = engine.with_user(session.user_memory());
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
        until: call.reads_until(),
    };
    let answer = engine.hook(&request)?;
    call.tell(&render(host, wanted, &answer));
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
