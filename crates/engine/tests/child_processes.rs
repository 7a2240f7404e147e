//! Tests of child processes, including misbehaving ones.
#![expect(
    clippy::disallowed_methods,
    reason = "the files of a test are thrown away"
)]
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_agents::process::child_process::{
    ChildExit, Chunk, EndStatus, LaunchSpec, PumpLimits, program_version, spawn,
};
use heirloom_model::limits::{DRAIN_GRACE_MS, TERMINATE_GRACE_MS};
use heirloom_model::{ErrorKind, Fault};
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

fn spec(script: &str, stdin: Option<&[u8]>) -> LaunchSpec {
    LaunchSpec {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        cwd: std::env::temp_dir(),
        env: vec![("HEIRLOOM_TEST".into(), "from outside".into())],
        stdin: stdin.map(<[u8]>::to_vec),
    }
}

fn quick(timeout_ms: u64) -> PumpLimits {
    PumpLimits {
        timeout: Some(Duration::from_millis(timeout_ms)),
        terminate_grace: Duration::from_millis(200),
        drain_grace: Duration::from_millis(200),
        tick: Duration::from_millis(20),
        ..PumpLimits::default()
    }
}

/// Output and result of a script.
struct Seen {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    ticks: usize,
    ended: ChildExit,
    took: Duration,
}

impl Seen {
    fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

fn run(script: &str, stdin: Option<&[u8]>, limits: &PumpLimits) -> Seen {
    let started = Instant::now();
    let (mut stdout, mut stderr, mut ticks) = (Vec::new(), Vec::new(), 0);
    let running = spawn(&spec(script, stdin)).unwrap();
    let ended = running.pump(limits, &mut |chunk| match chunk {
        Chunk::Stdout(bytes) => stdout.extend_from_slice(bytes),
        Chunk::Stderr(bytes) => stderr.extend_from_slice(bytes),
        Chunk::Tick => ticks += 1,
    });
    Seen {
        stdout,
        stderr,
        ticks,
        ended,
        took: started.elapsed(),
    }
}

/// Returns the state letter of a process; empty if it does not exist.
fn state(pid: &str) -> String {
    let pid = pid.trim();
    if Path::new("/proc/self/stat").exists() {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        return after_name.trim().chars().take(1).collect();
    }
    let shown = Command::new("ps").args(["-o", "stat=", "-p", pid]).output();
    let shown = shown.unwrap().stdout;
    String::from_utf8_lossy(&shown).trim().to_owned()
}

/// Returns true if a process exists and is not a zombie.
fn is_alive(pid: &str) -> bool {
    let state = state(pid);
    !state.is_empty() && !state.starts_with('Z')
}

fn assert_dies(pid: &str) {
    for _ in 0..100 {
        if !is_alive(pid) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("process {pid} is still there");
}

#[test]
fn pump_reports_end_status() {
    let check = |script, expected| {
        let seen = run(script, None, &quick(20_000));
        assert_eq!(seen.ended.status, expected, "{script}");
        assert!(!seen.ended.cut_off, "{script}");
        assert!(seen.took < Duration::from_secs(5), "{script}");
    };
    check("true", EndStatus::Exit(0));
    check("exit 7", EndStatus::Exit(7));
    check("kill -9 $$", EndStatus::Signal(9));
    check("kill -TERM $$", EndStatus::Signal(15));
}

#[test]
fn pump_delivers_both_streams_and_environment() {
    let seen = run(
        "echo out $HEIRLOOM_TEST; echo err >&2",
        None,
        &quick(20_000),
    );
    assert_eq!(seen.stdout(), "out from outside\n");
    assert_eq!(seen.stderr, b"err\n");
}

#[test]
fn pump_silent_child_gives_only_ticks() {
    let seen = run("sleep 0.2", None, &quick(20_000));
    assert!(seen.stdout.is_empty() && seen.stderr.is_empty());
    assert!(seen.ticks >= 2, "{} ticks", seen.ticks);
    assert!(seen.ended.duration_ms >= 200);
}

#[test]
fn pump_notices_exit_immediately() {
    let limits = PumpLimits {
        tick: Duration::from_secs(10),
        ..PumpLimits::default()
    };
    let seen = run("echo done", None, &limits);
    assert!(seen.took < Duration::from_secs(2), "{:?}", seen.took);
}

#[test]
fn spawn_writes_and_closes_stdin() {
    let input = "all of it\n".repeat(100_000);
    let seen = run("wc -c", Some(input.as_bytes()), &quick(20_000));
    assert_eq!(seen.stdout().trim(), "1000000");
    assert_eq!(run("wc -c", None, &quick(20_000)).stdout().trim(), "0");
    assert_eq!(run("wc -c", Some(b""), &quick(20_000)).stdout().trim(), "0");
}

#[test]
fn spawn_child_ignoring_stdin_does_not_block() {
    let input = vec![b'x'; 4 << 20];
    let seen = run("exit 3", Some(&input), &quick(20_000));
    assert_eq!(seen.ended.status, EndStatus::Exit(3));
    let seen = run("exec 0<&-; echo closed", Some(&input), &quick(20_000));
    assert_eq!(seen.stdout(), "closed\n");
}

#[test]
fn pump_delivers_invalid_utf8_unchanged() {
    let seen = run(r"printf 'a\377\000\200b'", None, &quick(20_000));
    assert_eq!(seen.stdout, b"a\xff\0\x80b");
}

#[test]
fn pump_flood_uses_bounded_memory() {
    let (mut bytes, mut largest) = (0_usize, 0);
    let running = spawn(&spec("head -c 200000000 /dev/zero", None)).unwrap();
    let ended = running.pump(&quick(60_000), &mut |chunk| {
        if let Chunk::Stdout(part) = chunk {
            bytes += part.len();
            largest = largest.max(part.len());
        }
    });
    assert_eq!((bytes, ended.status), (200_000_000, EndStatus::Exit(0)));
    assert!(largest <= 64 << 10);
}

#[test]
fn pump_slow_sink_gets_all_output() {
    // All output fits into the pipe and the queued chunks, so the child exits early.
    let mut bytes = 0;
    let mut limits = quick(20_000);
    limits.drain_grace = Duration::from_millis(30);
    let running = spawn(&spec("head -c 600000 /dev/zero", None)).unwrap();
    let ended = running.pump(&limits, &mut |chunk| {
        if let Chunk::Stdout(part) = chunk {
            bytes += part.len();
            std::thread::sleep(Duration::from_millis(25));
        }
    });
    assert_eq!((bytes, ended.status), (600_000, EndStatus::Exit(0)));
}

#[test]
fn pump_hanging_child_times_out() {
    let seen = run("echo before; sleep 60", None, &quick(150));
    assert_eq!(seen.ended.status, EndStatus::TimedOut);
    assert_eq!(seen.stdout(), "before\n");
    assert!(seen.took < Duration::from_secs(3), "{:?}", seen.took);
}

#[test]
fn pump_endless_flood_times_out() {
    let seen = run("exec cat /dev/zero >&2", None, &quick(150));
    assert_eq!(seen.ended.status, EndStatus::TimedOut);
    assert!(seen.took < Duration::from_secs(5), "{:?}", seen.took);
}

#[test]
fn pump_delivers_output_after_termination_signal() {
    let script = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    let mut limits = quick(500);
    limits.terminate_grace = Duration::from_secs(5);
    let seen = run(script, None, &limits);
    assert_eq!(seen.ended.status, EndStatus::TimedOut);
    assert_eq!(seen.stdout(), "ready\nbye\n");
}

#[test]
fn pump_kills_child_ignoring_termination() {
    let script = "trap '' TERM; sleep 60 & echo $!; while :; do sleep 1; done";
    let seen = run(script, None, &quick(200));
    assert_eq!(seen.ended.status, EndStatus::TimedOut);
    assert!(seen.took < Duration::from_secs(3), "{:?}", seen.took);
    assert_dies(&seen.stdout());
}

#[test]
fn pump_ends_stopped_child() {
    let seen = run("kill -STOP $$", None, &quick(200));
    assert_eq!(seen.ended.status, EndStatus::TimedOut);
    assert!(seen.took < Duration::from_secs(3), "{:?}", seen.took);
}

#[test]
fn pump_cuts_off_remaining_processes_with_open_pipes() {
    let seen = run("sleep 60 & echo $!; exit 5", None, &quick(20_000));
    assert_eq!(seen.ended.status, EndStatus::Exit(5));
    assert!(seen.ended.cut_off);
    assert!(seen.took < Duration::from_secs(3), "{:?}", seen.took);
    assert_dies(&seen.stdout());
}

#[test]
fn pump_process_outside_group_causes_no_delay() {
    let setsid = Command::new("setsid").arg("true").status();
    assert!(setsid.is_ok(), "install util-linux: {setsid:?}");
    let seen = run("setsid sleep 5 & exit 0", None, &quick(20_000));
    assert_eq!(seen.ended.status, EndStatus::Exit(0));
    assert!(seen.ended.cut_off);
    assert!(seen.took < Duration::from_secs(3), "{:?}", seen.took);
}

#[test]
fn pump_leaves_quiet_background_process_running() {
    let seen = run("sleep 3 >/dev/null 2>&1 & echo $!", None, &quick(20_000));
    assert!(!seen.ended.cut_off);
    assert!(seen.took < Duration::from_secs(2), "{:?}", seen.took);
    assert!(is_alive(&seen.stdout()));
}

#[test]
fn pump_interrupt_ends_group() {
    let limits = quick(20_000);
    let interrupt = limits.interrupt.clone();
    let mut seen = Vec::new();
    let running = spawn(&spec("sleep 60 & echo $!; wait", None)).unwrap();
    let started = Instant::now();
    let ended = running.pump(&limits, &mut |chunk| {
        if let Chunk::Stdout(bytes) = chunk {
            seen.extend_from_slice(bytes);
            interrupt.store(true, Ordering::Relaxed);
        }
    });
    assert_eq!(ended.status, EndStatus::Interrupted);
    assert!(started.elapsed() < Duration::from_secs(3));
    assert_dies(&String::from_utf8_lossy(&seen));
}

#[test]
fn pump_interrupt_before_start_counts() {
    let limits = quick(20_000);
    limits.interrupt.store(true, Ordering::Relaxed);
    let seen = run("sleep 60", None, &limits);
    assert_eq!(seen.ended.status, EndStatus::Interrupted);
    assert!(seen.took < Duration::from_secs(3));
}

#[test]
fn pump_leaves_no_zombie() {
    let running = spawn(&spec("exit 0", None)).unwrap();
    let pid = running.pid().to_string();
    running.pump(&quick(20_000), &mut |_| {});
    assert_eq!(state(&pid), "");
}

#[test]
fn drop_ends_child() {
    let running = spawn(&spec("sleep 60", None)).unwrap();
    let pid = running.pid().to_string();
    assert!(is_alive(&pid));
    drop(running);
    assert_dies(&pid);
}

#[test]
fn spawn_failure_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    script("plain", "echo", 0o644);
    script("lost", "#!/no/such/interpreter\n", 0o755);
    let fault = |program: &str, args: &[&str], cwd: &Path| -> Fault {
        let spec = LaunchSpec {
            program: program.into(),
            args: args.iter().map(Into::into).collect(),
            cwd: cwd.to_owned(),
            env: Vec::new(),
            stdin: None,
        };
        spawn(&spec).map(|running| running.pid()).unwrap_err()
    };
    let check = |program: &str, args: &[&str], kind: ErrorKind, part: &str| {
        let fault = fault(program, args, folder.path());
        assert_eq!(fault.kind, kind, "{program}: {fault}");
        assert!(fault.message.contains(part), "{program}: {fault}");
    };
    let long = "x".repeat(200_000);
    let missing = "no-such-agent-here";
    check(
        missing,
        &[],
        ErrorKind::NotFound,
        "`no-such-agent-here` is not in PATH",
    );
    check(
        "./missing",
        &[],
        ErrorKind::NotFound,
        "`./missing` does not exist",
    );
    check("./lost", &[], ErrorKind::NotFound, "interpreter");
    check("./plain", &[], ErrorKind::Failed, "may not be executed");
    check("/", &[], ErrorKind::Failed, "is a folder");
    check("/bin/sh", &[&long], ErrorKind::Usage, "too long");
    check("/bin/sh", &["a\0b"], ErrorKind::Usage, "NUL");
    let nowhere = fault("/bin/sh", &[], &folder.path().join("gone"));
    assert_eq!(nowhere.kind, ErrorKind::NotFound);
    assert!(nowhere.message.contains("gone"), "{nowhere}");
}

#[test]
fn program_version_of_programs() {
    let here = std::env::temp_dir();
    let git = program_version(OsStr::new("git"), &here);
    assert!(git.is_some_and(|version| version.contains('.')));
    assert_eq!(
        program_version(OsStr::new("no-such-agent-here"), &here),
        None
    );
    assert_eq!(program_version(OsStr::new("false"), &here), None);
}

#[test]
fn pump_limits_default_to_limits() {
    let limits = PumpLimits::default();
    let rendered = (limits.terminate_grace, limits.drain_grace);
    let (terminate, drain) = (TERMINATE_GRACE_MS, DRAIN_GRACE_MS);
    assert_eq!(
        rendered,
        (
            Duration::from_millis(terminate),
            Duration::from_millis(drain)
        )
    );
}
