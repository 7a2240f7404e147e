//! `crash`: kills every writing command at random points.
//!
//! Acknowledged writes must be present, atomic operations complete or absent, the store and the mirror sound, and
//! the same command must then run to its end. A seed reproduces a run: the same input, and the kill at the same
//! moment within the precision of the clock.

mod bit_flips;
mod export;
mod kill_statistics;
mod rng;
mod scenarios;
mod server_kills;
mod target_process;

use crate::cargo;
use crate::sandbox::{self, Sandbox};
use export::{Export, ensure};
use kill_statistics::{Moment, Tally};
use rng::Rng;
use scenarios::{Observed, Scenario};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use target_process::{ProcessOutput, Victim};

/// Default number of runs of each scenario.
const TIMES_DEFAULT: usize = 200;
/// Number of runs without a kill that measure the typical duration of a command.
const TYPICAL_RUNS: usize = 5;
/// The range of delays before a kill, in typical durations.
const RANGE: f64 = 1.2;
/// Number of failures after which a scenario stops.
const FAILURES_MAX: usize = 5;

const HELP: &str = "\
usage: cargo xtask crash [--times N] [--only SCENARIO] [--seed S] [--delay-us D] [--heirloom PATH]

  --times N        kills of each scenario (200)
  --only SCENARIO  one of remember, observe, import, prune, undo, resolve, run, migration, inbox, group,
                   episode, artifact, shared, workspace, share, mark, session, review, task, forget, restore, purge, hook,
                   archive, transcript, serve (50 kills among clients that write),
                   journal (50 flipped bits in the log of a killed server)
  --seed S         run number I of a campaign has the seed S + I
  --delay-us D     kill after exactly this time; with --times 1 and a seed it repeats one run
  --heirloom PATH  kill this binary instead of building one
";

/// Options of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CrashOptions {
    times: usize,
    only: Option<String>,
    seed: Option<u64>,
    delay: Option<Duration>,
    heirloom: Option<PathBuf>,
}

/// State shared by all runs of all scenarios.
struct Campaign {
    binary: PathBuf,
    folder: PathBuf,
    seed: u64,
    times: usize,
    delay: Option<Duration>,
    has_doctor: bool,
}

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let Some(options) = parse(args)? else {
        print!("{HELP}");
        return Ok(());
    };
    if options.only.as_deref() == Some(SERVE) {
        return serve(&options);
    }
    if options.only.as_deref() == Some(JOURNAL) {
        return flip(&options);
    }
    let mut scenarios = scenarios::all();
    if let Some(only) = &options.only {
        scenarios.retain(|scenario| scenario.name() == only);
        ensure(!scenarios.is_empty(), || {
            format!("no scenario `{only}`\n{HELP}")
        })?;
    }
    let campaign = Campaign::begin(&options)?;
    println!(
        "crash: seed {}, {} kills of each",
        campaign.seed, campaign.times
    );
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    for scenario in &mut scenarios {
        match campaign.scenario(scenario.as_mut())? {
            Ok(tally) => {
                println!("{:10} {tally}", scenario.name());
                rows.push(tally.row(scenario.name()));
                problems.extend(judge(scenario.name(), &tally, campaign.delay.is_some()));
            }
            Err(why) => rows.push(format!("{:10} skipped: {why}", scenario.name())),
        }
    }
    println!("\n{}", kill_statistics::HEADING);
    rows.iter().for_each(|row| println!("{row}"));
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("; "))
    }
}

/// Name of the scenario with clients.
const SERVE: &str = "serve";

fn serve(options: &CrashOptions) -> Result<(), String> {
    let campaign = Campaign::begin(options)?;
    let times = if options.times == TIMES_DEFAULT {
        50
    } else {
        options.times
    };
    println!("crash: seed {}, {times} kills", campaign.seed);
    let desk = Sandbox::fresh(&campaign.binary, &campaign.folder.join(SERVE))?;
    server_kills::run(&desk, times, &mut Rng::new(campaign.seed))?;
    desk.remove()
}

/// Name of the scenario that damages the log left by a kill.
const JOURNAL: &str = "journal";

fn flip(options: &CrashOptions) -> Result<(), String> {
    let campaign = Campaign::begin(options)?;
    let times = if options.times == TIMES_DEFAULT {
        50
    } else {
        options.times
    };
    println!("crash: seed {}, {times} flips", campaign.seed);
    let desk = Sandbox::fresh(&campaign.binary, &campaign.folder.join(JOURNAL))?;
    bit_flips::run(&desk, times, &mut Rng::new(campaign.seed))?;
    desk.remove()
}

fn judge(name: &str, tally: &Tally, one_delay: bool) -> Option<String> {
    if tally.failed > 0 {
        return Some(format!("{name}: {} runs failed", tally.failed));
    }
    (!one_delay && !tally.is_meaningful())
        .then(|| format!("{name}: too few kills met a process at work: {tally}"))
}

impl Campaign {
    fn begin(options: &CrashOptions) -> Result<Self, String> {
        let binary = match &options.heirloom {
            Some(path) => {
                (path.canonicalize()).map_err(|error| sandbox::io_error("find", path, &error))?
            }
            None => sandbox::build_heirloom()?,
        };
        let folder = cargo::target_dir()?.join("crash");
        let probe = Sandbox::fresh(&binary, &folder.join("probe"))?;
        let has_doctor = probe.has_command("doctor")?;
        probe.remove()?;
        if !has_doctor {
            println!("crash: this binary has no `doctor`; `status` checks the store");
        }
        Ok(Self {
            binary,
            folder,
            seed: options.seed.unwrap_or_else(rng::any_seed),
            times: options.times,
            delay: options.delay,
            has_doctor,
        })
    }

    /// Performs all runs of one scenario; returns the reason if it has none.
    fn scenario(&self, scenario: &mut dyn Scenario) -> Result<Result<Tally, String>, String> {
        let name = scenario.name();
        let started = Instant::now();
        let base = Sandbox::fresh(&self.binary, &self.folder.join(format!("{name}-base")))?;
        if let Some(why) = scenario.prepare(&base)? {
            base.remove()?;
            return Ok(Err(why));
        }
        let mut range = self.typical_duration(&base, scenario)?.mul_f64(RANGE);
        let mut tally = Tally::default();
        for number in 0..self.times {
            let seed = self.seed.wrapping_add(number as u64);
            let root = self.folder.join(format!("{name}-{seed}"));
            let mut rng = Rng::new(seed);
            let share = rng.share();
            let delay = self.delay.unwrap_or(range.mul_f64(share));
            let desk = base.copy_to(&root)?;
            let victim = scenario.victim(&mut rng);
            match self.run_once(scenario, &desk, &victim, delay, &mut tally) {
                Ok(moment) => {
                    tally.note(moment, share);
                    desk.remove()?;
                }
                Err(problem) => {
                    tally.note(Moment::During, share);
                    tally.failed += 1;
                    println!("{}", failure(name, seed, delay, &problem, desk.root()));
                }
            }
            if tally.failed == FAILURES_MAX {
                println!("{name}: enough of it");
                break;
            }
            // The machine was slower during the measurement of the typical duration.
            if tally.is_late() {
                range = range.mul_f64(0.9);
            }
        }
        base.remove()?;
        tally.took = started.elapsed();
        Ok(Ok(tally))
    }

    /// Measures the typical duration of the command without a kill.
    fn typical_duration(
        &self,
        base: &Sandbox,
        scenario: &mut dyn Scenario,
    ) -> Result<Duration, String> {
        let mut times = Vec::new();
        for number in 0..TYPICAL_RUNS {
            let desk = base.copy_to(&base.sibling_path("typical"))?;
            let victim = scenario.victim(&mut Rng::new(number as u64));
            let output = victim.run_to_end(&desk)?;
            scenario.check(&desk, &output, &Export::read(&desk)?)?;
            times.push(output.took);
            desk.remove()?;
        }
        times.sort();
        Ok(times[TYPICAL_RUNS / 2])
    }

    /// Kills the command once and checks the state after the kill and after a complete repetition.
    fn run_once(
        &self,
        scenario: &dyn Scenario,
        desk: &Sandbox,
        victim: &Victim,
        delay: Duration,
        tally: &mut Tally,
    ) -> Result<Moment, String> {
        let output = victim.run(desk, Some(delay))?;
        scenario.inspect(desk);
        let known = Export::read(desk).map_err(|error| format!("after the kill: {error}"))?;
        let found = (scenario.check(desk, &output, &known))
            .map_err(|problem| format!("after the kill: {problem}"))?;
        (self.check_sound(desk)).map_err(|problem| format!("after the kill: {problem}"))?;
        tally.acknowledged += found.acknowledged;
        scenario.prepare_again(desk)?;
        let again = (scenario.run_again(desk, victim))
            .map_err(|problem| format!("once more: {problem}"))?;
        let after = Export::read(desk).map_err(|error| format!("once more: {error}"))?;
        (scenario.check_again(desk, &again, &known, &after))
            .map_err(|problem| format!("once more: {problem}"))?;
        (self.check_sound(desk)).map_err(|problem| format!("once more: {problem}"))?;
        tally.left += self.count_temporary_files(desk)?;
        Ok(moment(&output, found))
    }

    /// Counts the temporary files that a kill left; `doctor --repair` must remove those in the memory folder
    /// once they are old enough.
    fn count_temporary_files(&self, desk: &Sandbox) -> Result<usize, String> {
        let outside = sandbox::file_names(&desk.temp()).len();
        let left = temporary_files(desk);
        if !left.is_empty() && self.has_doctor {
            for name in &left {
                sandbox::make_old(&desk.memory().join(name))?;
            }
            desk.call_ok(&["doctor", "--repair", "--json"])?;
            let still = temporary_files(desk);
            ensure(still.is_empty(), || format!("nothing takes {still:?} away"))?;
        }
        Ok(outside + left.len())
    }

    /// Checks the store with `heirloom doctor`.
    fn check_sound(&self, desk: &Sandbox) -> Result<(), String> {
        if self.has_doctor {
            return desk.call_ok(&["doctor", "--json"]).map(drop);
        }
        let status = desk.json(&["status", "--json"])?;
        ensure(status["health"] == "ok", || {
            format!("the store is damaged: {}", status["findings"])
        })
    }
}

/// Returns the temporary files in a project's memory folder.
fn temporary_files(desk: &Sandbox) -> Vec<String> {
    let mut names = sandbox::file_names(&desk.memory());
    names.retain(|name| name.starts_with('.') && name != ".gitignore");
    names
}

fn moment(output: &ProcessOutput, found: Observed) -> Moment {
    match (output.was_killed(), found.effect) {
        (false, _) => Moment::After,
        (true, true) => Moment::During,
        (true, false) => Moment::Before,
    }
}

/// Formats a failed run: the command that repeats it, and the folder to inspect.
fn failure(name: &str, seed: u64, delay: Duration, problem: &str, folder: &Path) -> String {
    format!(
        "LOST {name}: {problem}\n  again: cargo xtask crash --only {name} --times 1 --seed {seed} --delay-us {}\n  see {}",
        delay.as_micros(),
        folder.display()
    )
}

/// Parses the options; `None` if help was requested.
fn parse(args: &[String]) -> Result<Option<CrashOptions>, String> {
    let mut options = CrashOptions {
        times: TIMES_DEFAULT,
        only: None,
        seed: None,
        delay: None,
        heirloom: None,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--help" || arg == "-h" {
            return Ok(None);
        }
        let mut value = || args.next().ok_or(format!("{arg} wants a value"));
        match arg.as_str() {
            "--times" => {
                options.times = usize::try_from(number(arg, value()?)?).unwrap_or(usize::MAX);
            }
            "--seed" => options.seed = Some(number(arg, value()?)?),
            "--delay-us" => {
                options.delay = Some(Duration::from_micros(number(arg, value()?)?));
            }
            "--only" => options.only = Some(value()?.clone()),
            "--heirloom" => options.heirloom = Some(value()?.into()),
            other => return Err(format!("what is `{other}`?\n{HELP}")),
        }
    }
    Ok(Some(options))
}

fn number(option: &str, given: &str) -> Result<u64, String> {
    (given.parse()).map_err(|_| format!("{option} wants a whole number, got `{given}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Option<CrashOptions>, String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args)
    }

    #[test]
    fn parse_arguments_accepts_options_and_refuses_others() {
        let text = parsed("--times 3 --only run --seed 9 --delay-us 1500 --heirloom h");
        let wanted = CrashOptions {
            times: 3,
            only: Some("run".to_owned()),
            seed: Some(9),
            delay: Some(Duration::from_micros(1_500)),
            heirloom: Some("h".into()),
        };
        assert_eq!(text, Ok(Some(wanted)));
        assert_eq!(parsed("").unwrap().unwrap().times, 200);
        assert_eq!(parsed("-h"), Ok(None));
        for bad in ["--times", "--times x", "--seed -1", "--only", "more"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn failure_names_the_command_that_repeats_it() {
        let delay = Duration::from_micros(77);
        let text = failure("undo", 5, delay, "gone", Path::new("/tmp/x"));
        let line = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("again: cargo xtask crash "));
        let options = parsed(line.unwrap()).unwrap().unwrap();
        let again = (
            options.only.as_deref(),
            options.times,
            options.seed,
            options.delay,
        );
        assert_eq!(again, (Some("undo"), 1, Some(5), Some(delay)));
        assert!(text.contains("see /tmp/x"));
    }

    #[test]
    fn help_lists_every_scenario() {
        for scenario in scenarios::all() {
            assert!(HELP.contains(scenario.name()), "{}", scenario.name());
        }
    }
}
