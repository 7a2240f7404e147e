//! `crowd`: many processes write to one store concurrently, while others read it and back it up.
//!
//! Every write must be acknowledged and present afterwards, no process may report a locked store, and no writer
//! may starve.

mod readers;
mod report;
mod writers;

use crate::cargo;
use crate::sandbox::{self, Sandbox};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;
use writers::WriterReport;

const HELP: &str = "\
usage: cargo xtask crowd [--processes N] [--writes N] [--separate] [--greedy N] [--heirloom PATH]

  --processes N    writers at the same time (40)
  --writes N       writes of each, one after the answer to the one before (50)
  --separate       a process for each write; else each writer is one `remember --stdin`
  --greedy N       besides them N processes that write in bulk without a pause (0)
  --heirloom PATH  this binary instead of building one
";

/// Options of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CrowdOptions {
    processes: usize,
    writes: usize,
    separate: bool,
    greedy: usize,
    heirloom: Option<PathBuf>,
}

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let Some(options) = parse(args)? else {
        print!("{HELP}");
        return Ok(());
    };
    let binary = match &options.heirloom {
        Some(path) => path
            .canonicalize()
            .map_err(|error| sandbox::io_error("find", path, &error))?,
        None => sandbox::build_heirloom()?,
    };
    let root = cargo::target_dir()?.join("crowd");
    let desk = Sandbox::fresh(&binary, &root)?;
    let backs_up = desk.has_command("backup")?;
    if !backs_up {
        println!("crowd: no backup meanwhile, this binary has no such command");
    }
    // The first write creates the database, which is not measured here.
    desk.call_ok(&["remember", "the first one"])?;
    let started = Instant::now();
    let (written, readers) = crowd(&desk, &options, backs_up)?;
    let took = started.elapsed();
    print!("{}", report::text(&written, &readers, took));
    check(&desk, &options, &written)?;
    desk.remove()
}

/// Runs the writers, and the readers until the last writer is done.
fn crowd(
    desk: &Sandbox,
    options: &CrowdOptions,
    backs_up: bool,
) -> Result<(Vec<WriterReport>, Vec<readers::ReaderReport>), String> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let mut questions = vec!["context", "list"];
        questions.extend(backs_up.then_some("backup"));
        let reading: Vec<_> = questions
            .into_iter()
            .map(|what| {
                let done = &done;
                scope.spawn(move || readers::read_until(desk, what, done))
            })
            .collect();
        let greedy: Vec<_> = (0..options.greedy)
            .map(|number| {
                let done = &done;
                scope.spawn(move || writers::write_in_bulk(desk, number, done))
            })
            .collect();
        let written = writers::write_all(desk, options);
        done.store(true, Ordering::SeqCst);
        let readers: Result<Vec<_>, String> = reading.into_iter().map(joined).collect();
        for bulk in greedy {
            println!("a greedy writer wrote {} records", joined(bulk)?);
        }
        Ok((written?, readers?))
    })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, Result<T, String>>) -> Result<T, String> {
    (thread.join()).unwrap_or_else(|_| Err("a thread of the crowd panicked".to_owned()))
}

/// Checks that each acknowledged text is present once and that the store is sound.
fn check(desk: &Sandbox, options: &CrowdOptions, written: &[WriterReport]) -> Result<(), String> {
    let wanted = options.processes * options.writes;
    let acknowledged: usize = written.iter().map(|one| one.ids.len()).sum();
    let listed = desk.json(&["list", "--json"])?;
    let known: std::collections::HashSet<&str> = listed["records"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|record| record["id"].as_str())
        .collect();
    let lost: usize = (written.iter().flat_map(|one| &one.ids))
        .filter(|id| !known.contains(id.as_str()))
        .count();
    println!("records      {acknowledged} of {wanted} acknowledged, {lost} lost");
    let health = desk.json(&["status", "--json"])?["health"].clone();
    if acknowledged == wanted && lost == 0 && health == "ok" {
        return Ok(());
    }
    Err(format!(
        "acknowledged {acknowledged} of {wanted}, lost {lost}, health {health}; see {}",
        desk.root().display()
    ))
}

/// Parses the options; `None` if help was requested.
fn parse(args: &[String]) -> Result<Option<CrowdOptions>, String> {
    let mut options = CrowdOptions {
        processes: 40,
        writes: 50,
        separate: false,
        greedy: 0,
        heirloom: None,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut number = || -> Result<usize, String> {
            let given = args.next().ok_or(format!("{arg} wants a number"))?;
            (given.parse()).map_err(|_| format!("{arg} wants a whole number, got `{given}`"))
        };
        match arg.as_str() {
            "--processes" => options.processes = number()?,
            "--writes" => options.writes = number()?,
            "--greedy" => options.greedy = number()?,
            "--separate" => options.separate = true,
            "--heirloom" => {
                options.heirloom = Some(args.next().ok_or("--heirloom wants a path")?.into());
            }
            "--help" | "-h" => return Ok(None),
            other => return Err(format!("what is `{other}`?\n{HELP}")),
        }
    }
    if options.processes == 0 || options.writes == 0 {
        return Err("a crowd has at least one process and one write".to_owned());
    }
    Ok(Some(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Option<CrowdOptions>, String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args)
    }

    #[test]
    fn parse_arguments_accepts_options_and_refuses_others() {
        let options =
            parsed("--processes 3 --writes 4 --separate --greedy 1 --heirloom h").unwrap();
        let wanted = CrowdOptions {
            processes: 3,
            writes: 4,
            separate: true,
            greedy: 1,
            heirloom: Some("h".into()),
        };
        assert_eq!(options, Some(wanted));
        let usual = parsed("").unwrap().unwrap();
        assert_eq!(
            (usual.processes, usual.writes, usual.separate),
            (40, 50, false)
        );
        assert_eq!(parsed("--help"), Ok(None));
        for bad in [
            "--processes",
            "--writes x",
            "--processes 0",
            "--heirloom",
            "more",
        ] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
