//! `crash`: every command that writes, killed at random points.
//!
//! Whatever it had acknowledged must be there, what happens as a whole must have happened or not, the store
//! and the mirror must be sound, and the same command must then run to its end. A seed brings a run back: the
//! same input, and the kill at the same moment as far as time can be told.

mod known;
mod rng;
mod scenarios;
mod serving;
mod tally;
mod victim;

use crate::cargo;
use crate::desk::{self, Desk};
use known::{Known, ensure};
use rng::Rng;
use scenarios::{Found, Scenario};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tally::{Moment, Tally};
use victim::{Said, Victim};

/// Runs of each scenario unless told.
const TIMES_DEFAULT: usize = 200;
/// Runs without a kill that tell how long a command takes.
const TYPICAL_RUNS: usize = 5;
/// The range of delays before a kill, in typical durations.
const RANGE: f64 = 1.2;
/// Failures of one scenario after which the rest of it is left out.
const FAILURES_MAX: usize = 5;

const HELP: &str = "\
usage: cargo xtask crash [--times N] [--only SCENARIO] [--seed S] [--delay-us D] [--heirloom PATH]

  --times N        kills of each scenario (200)
  --only SCENARIO  one of remember, observe, import, prune, undo, resolve, run, migration, inbox, group,
                   episode, artifact, shared, workspace, share, mark, session, review, task, forget, restore, purge, hook,
                   archive, transcript, serve (50 kills among clients that write)
  --seed S         run number I of a campaign has the seed S + I
  --delay-us D     kill after exactly this time; with --times 1 and a seed it repeats one run
  --heirloom PATH  kill this binary instead of building one
";

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Options {
    times: usize,
    only: Option<String>,
    seed: Option<u64>,
    delay: Option<Duration>,
    heirloom: Option<PathBuf>,
}

/// What all runs of all scenarios share.
struct Campaign {
    binary: PathBuf,
    folder: PathBuf,
    seed: u64,
    times: usize,
    delay: Option<Duration>,
    has_doctor: bool,
}

/// Runs the chore; the error is what to tell the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let Some(options) = parse(args)? else {
        print!("{HELP}");
        return Ok(());
    };
    if options.only.as_deref() == Some(SERVE) {
        return serve(&options);
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
    println!("\n{}", tally::HEADING);
    rows.iter().for_each(|row| println!("{row}"));
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("; "))
    }
}

/// The scenario that has clients.
const SERVE: &str = "serve";

fn serve(options: &Options) -> Result<(), String> {
    let campaign = Campaign::begin(options)?;
    let times = if options.times == TIMES_DEFAULT {
        50
    } else {
        options.times
    };
    println!("crash: seed {}, {times} kills", campaign.seed);
    let desk = Desk::fresh(&campaign.binary, &campaign.folder.join(SERVE))?;
    serving::run(&desk, times, &mut Rng::new(campaign.seed))?;
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
    fn begin(options: &Options) -> Result<Self, String> {
        let binary = match &options.heirloom {
            Some(path) => {
                (path.canonicalize()).map_err(|error| desk::about("find", path, &error))?
            }
            None => desk::build_heirloom()?,
        };
        let folder = cargo::target_dir()?.join("crash");
        let probe = Desk::fresh(&binary, &folder.join("probe"))?;
        let has_doctor = probe.has_command("doctor")?;
        probe.remove()?;
        if !has_doctor {
            println!("crash: this binary has no doctor, `status` says whether the store is sound");
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

    /// All runs of one scenario, or why there are none.
    fn scenario(&self, scenario: &mut dyn Scenario) -> Result<Result<Tally, String>, String> {
        let name = scenario.name();
        let started = Instant::now();
        let base = Desk::fresh(&self.binary, &self.folder.join(format!("{name}-base")))?;
        if let Some(why) = scenario.prepare(&base)? {
            base.remove()?;
            return Ok(Err(why));
        }
        let mut range = self.typical(&base, scenario)?.mul_f64(RANGE);
        let mut tally = Tally::default();
        for number in 0..self.times {
            let seed = self.seed.wrapping_add(number as u64);
            let root = self.folder.join(format!("{name}-{seed}"));
            let mut rng = Rng::new(seed);
            let share = rng.share();
            let delay = self.delay.unwrap_or(range.mul_f64(share));
            let desk = base.copy_to(&root)?;
            let victim = scenario.victim(&mut rng);
            match self.one(scenario, &desk, &victim, delay, &mut tally) {
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
            // The machine was slower when the typical duration was measured.
            if tally.is_late() {
                range = range.mul_f64(0.9);
            }
        }
        base.remove()?;
        tally.took = started.elapsed();
        Ok(Ok(tally))
    }

    /// How long the command typically takes when nobody kills it.
    fn typical(&self, base: &Desk, scenario: &mut dyn Scenario) -> Result<Duration, String> {
        let mut times = Vec::new();
        for number in 0..TYPICAL_RUNS {
            let desk = base.copy_to(&base.beside("typical"))?;
            let victim = scenario.victim(&mut Rng::new(number as u64));
            let said = victim.done(&desk)?;
            scenario.check(&desk, &said, &Known::read(&desk)?)?;
            times.push(said.took);
            desk.remove()?;
        }
        times.sort();
        Ok(times[TYPICAL_RUNS / 2])
    }

    /// One kill, and what must hold after it and after the same command ran again to its end.
    fn one(
        &self,
        scenario: &dyn Scenario,
        desk: &Desk,
        victim: &Victim,
        delay: Duration,
        tally: &mut Tally,
    ) -> Result<Moment, String> {
        let said = victim.run(desk, Some(delay))?;
        scenario.look(desk);
        let known = Known::read(desk).map_err(|error| format!("after the kill: {error}"))?;
        let found = (scenario.check(desk, &said, &known))
            .map_err(|problem| format!("after the kill: {problem}"))?;
        (self.is_sound(desk)).map_err(|problem| format!("after the kill: {problem}"))?;
        tally.acknowledged += found.acknowledged;
        scenario.before_again(desk)?;
        let again =
            (scenario.again(desk, victim)).map_err(|problem| format!("once more: {problem}"))?;
        let after = Known::read(desk).map_err(|error| format!("once more: {error}"))?;
        (scenario.check_again(desk, &again, &known, &after))
            .map_err(|problem| format!("once more: {problem}"))?;
        (self.is_sound(desk)).map_err(|problem| format!("once more: {problem}"))?;
        tally.left += self.left_behind(desk)?;
        Ok(moment(&said, found))
    }

    /// Counts the temporary files that a kill left; `doctor --repair` must take those beside the memory away
    /// when they are old enough to be nobody's.
    fn left_behind(&self, desk: &Desk) -> Result<usize, String> {
        let outside = desk::names(&desk.temp()).len();
        let left = left_overs(desk);
        if !left.is_empty() && self.has_doctor {
            for name in &left {
                desk::age(&desk.memory().join(name))?;
            }
            desk.done(&["doctor", "--repair", "--json"])?;
            let still = left_overs(desk);
            ensure(still.is_empty(), || format!("nothing takes {still:?} away"))?;
        }
        Ok(outside + left.len())
    }

    /// The store is whole, as the program itself sees it.
    fn is_sound(&self, desk: &Desk) -> Result<(), String> {
        if self.has_doctor {
            return desk.done(&["doctor", "--json"]).map(drop);
        }
        let status = desk.json(&["status", "--json"])?;
        ensure(status["health"] == "ok", || {
            format!("the store is damaged: {}", status["findings"])
        })
    }
}

/// The temporary files beside a project's memory.
fn left_overs(desk: &Desk) -> Vec<String> {
    let mut names = desk::names(&desk.memory());
    names.retain(|name| name.starts_with('.') && name != ".gitignore");
    names
}

fn moment(said: &Said, found: Found) -> Moment {
    match (said.was_killed(), found.effect) {
        (false, _) => Moment::After,
        (true, true) => Moment::During,
        (true, false) => Moment::Before,
    }
}

/// What to print of a failed run: how to repeat it, and where to look.
fn failure(name: &str, seed: u64, delay: Duration, problem: &str, folder: &Path) -> String {
    format!(
        "LOST {name}: {problem}\n  again: cargo xtask crash --only {name} --times 1 --seed {seed} --delay-us {}\n  see {}",
        delay.as_micros(),
        folder.display()
    )
}

/// The options; none if help was asked for.
fn parse(args: &[String]) -> Result<Option<Options>, String> {
    let mut options = Options {
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

    fn parsed(line: &str) -> Result<Option<Options>, String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args)
    }

    #[test]
    fn arguments() {
        let told = parsed("--times 3 --only run --seed 9 --delay-us 1500 --heirloom h");
        let wanted = Options {
            times: 3,
            only: Some("run".to_owned()),
            seed: Some(9),
            delay: Some(Duration::from_micros(1_500)),
            heirloom: Some("h".into()),
        };
        assert_eq!(told, Ok(Some(wanted)));
        assert_eq!(parsed("").unwrap().unwrap().times, 200);
        assert_eq!(parsed("-h"), Ok(None));
        for bad in ["--times", "--times x", "--seed -1", "--only", "more"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_failure_says_how_to_repeat_it() {
        let delay = Duration::from_micros(77);
        let told = failure("undo", 5, delay, "gone", Path::new("/tmp/x"));
        let line = told
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
        assert!(told.contains("see /tmp/x"));
    }

    #[test]
    fn every_scenario_is_in_the_help() {
        for scenario in scenarios::all() {
            assert!(HELP.contains(scenario.name()), "{}", scenario.name());
        }
    }
}
