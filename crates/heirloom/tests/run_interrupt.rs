//! `heirloom run`: interrupts and kills, and the state after them.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{ProjectFixture, is_running, send, strings, wait, wait_until};
use std::process::Child;
use std::thread;
use std::time::{Duration, SystemTime};

/// Starts a run whose agent is a shell script; the agent writes its process id to `pid` outside the project.
fn start_run(fixture: &ProjectFixture, options: &[&str], script: &str) -> Child {
    let _old = std::fs::remove_file(fixture.outside_path("pid"));
    let pid = fixture.outside_path("pid");
    let script = format!(
        "echo $$ >'{0}.new'; mv '{0}.new' '{0}'; {script}",
        pid.display()
    );
    fixture
        .heirloom(&[&["run", "--json"], options, &["--", "sh", "-c", &script]].concat())
        .spawn()
        .unwrap()
}

fn agent_pid(fixture: &ProjectFixture) -> i64 {
    wait_until("the agent to start", || {
        fixture.outside_path("pid").exists()
    });
    fixture.read_outside("pid").trim().parse().unwrap()
}

/// Returns true if a process of the agent's group is running.
fn is_group_running(pid: i64) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return false;
    };
    entries.flatten().any(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let after = stat.rsplit(')').next().unwrap_or_default();
        let fields: Vec<_> = after.split_whitespace().collect();
        fields.len() > 2 && fields[0] != "Z" && fields[2].parse() == Ok(pid)
    })
}

fn has_record(fixture: &ProjectFixture, text: &str) -> bool {
    fixture.texts("knowledge").iter().any(|known| known == text)
}

#[test]
fn signal_is_durable_once_read() {
    let fixture = ProjectFixture::plain();
    let mut child = start_run(
        &fixture,
        &[],
        "echo 'HEIRLOOM_MEMORY: KEY_FACT said before the crash'; exec sleep 600",
    );
    let agent = agent_pid(&fixture);
    wait_until("the record", || {
        has_record(&fixture, "said before the crash")
    });
    child.kill().unwrap();
    child.wait().unwrap();
    send("KILL", -agent);
    assert!(has_record(&fixture, "said before the crash"));
    fixture.assert_healthy();
    // The next run continues normally.
    let result = fixture
        .run(&["--iterations", "1"], &["--say", "ok"])
        .expect(0);
    assert!(result.text().contains("said before the crash"));
    assert_eq!(
        strings(&fixture.mirror()["key_facts"]),
        ["said before the crash"]
    );
}

/// Interrupts a run whose agent executes `script`; checks the common conditions.
fn check_interrupt(signal: &str, script: &str) -> driver::CallResult {
    let fixture = ProjectFixture::plain();
    let child = start_run(
        &fixture,
        &["--task", "T"],
        &format!(
            "echo 'HEIRLOOM_MEMORY: KEY_FACT heard'; echo 'HEIRLOOM_MEMORY: STEP_PENDING open'; {script}"
        ),
    );
    let agent = agent_pid(&fixture);
    wait_until("the record", || has_record(&fixture, "heard"));
    send(signal, i64::from(child.id()));
    let result = wait(child).expect(130);
    assert_eq!(
        result.ending()["reason"],
        "interrupted",
        "{}",
        result.text()
    );
    wait_until("the agent's group to end", || !is_group_running(agent));
    assert!(!is_running(agent));
    let mirror = fixture.mirror();
    assert_eq!(strings(&mirror["key_facts"]), ["heard"]);
    assert_eq!(strings(&mirror["tasks"]["T"]["pending_steps"]), ["open"]);
    // An interrupt is not an error of the task.
    assert_eq!(mirror["errors"].as_array().unwrap().len(), 0);
    fixture.assert_healthy();
    let next = fixture
        .run(&["--task", "T", "--iterations", "1"], &["--say", "ok"])
        .expect(0);
    assert_eq!(next.named("iteration_started")[0]["iteration"], 2);
    result
}

#[test]
fn sigint_ends_agent_and_saves() {
    check_interrupt("INT", "exec sleep 600");
}

#[test]
fn sigterm_ends_agent_and_saves() {
    check_interrupt("TERM", "exec sleep 600");
}

#[test]
fn sighup_ends_agent_and_saves() {
    check_interrupt("HUP", "exec sleep 600");
}

#[test]
fn agent_that_ignores_sigint_is_killed_with_children() {
    let result = check_interrupt(
        "INT",
        "trap '' TERM INT; sleep 600 & sleep 600; sleep 600; sleep 600",
    );
    assert!(result.took < Duration::from_secs(30), "{:?}", result.took);
}

#[test]
fn signals_printed_during_shutdown_are_recorded() {
    let fixture = ProjectFixture::plain();
    let child = start_run(
        &fixture,
        &[],
        "trap 'echo HEIRLOOM_MEMORY: KEY_FACT last words; exit 0' TERM; echo 'HEIRLOOM_MEMORY: KEY_FACT heard'; while :; do sleep 0.05; done",
    );
    agent_pid(&fixture);
    wait_until("the record", || has_record(&fixture, "heard"));
    send("INT", i64::from(child.id()));
    wait(child).expect(130);
    assert_eq!(
        strings(&fixture.mirror()["key_facts"]),
        ["heard", "last words"]
    );
}

#[test]
fn sigint_to_process_group_interrupts_run() {
    // A separate process group, as a shell with job control creates it.
    let fixture = ProjectFixture::plain();
    let pid = fixture.outside_path("heirloom-pid");
    let inner = format!(
        "echo $$ >'{}'; exec '{}' run --json -- sh -c 'echo HEIRLOOM_MEMORY: KEY_FACT heard; exec sleep 600'",
        pid.display(),
        env!("CARGO_BIN_EXE_heirloom")
    );
    let command = fixture.heirloom(&[]);
    let mut shell = std::process::Command::new("setsid");
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
        .args(["sh", "-c", &inner])
        .current_dir(fixture.root())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let child = shell.spawn().unwrap();
    wait_until("the record", || has_record(&fixture, "heard"));
    let group: i64 = fixture.read_outside("heirloom-pid").trim().parse().unwrap();
    send("INT", -group);
    let result = wait(child);
    assert_eq!(result.ending()["reason"], "interrupted");
    fixture.assert_healthy();
}

/// Pseudo-random numbers from a seed that is printed.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// Sends `signal` to a run at random moments; the store and the mirror must be valid each time.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a seed that differs from run to run, and is printed"
)]
fn check_random_moments(signal: &str, interrupted: i32, count: u64) {
    let seed = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_nanos() as u64
        | 1;
    println!("seed {seed}");
    let mut random = RandomNumbers(seed);
    let fixture = ProjectFixture::git();
    let mut interrupted_count = 0;
    let script = "i=0; while [ $i -lt 40 ]; do i=$((i + 1)); echo \"HEIRLOOM_MEMORY: KEY_FACT fact $HEIRLOOM_ITERATION $i\"; echo \"HEIRLOOM_MEMORY: STEP_PENDING step $i\"; echo x >>file.$i; done";
    for round in 0..count {
        let child = start_run(&fixture, &["--iterations", "3", "--task", "T"], script);
        let pid = i64::from(child.id());
        let after = random.below(400);
        thread::sleep(Duration::from_millis(after));
        send(signal, pid);
        let result = wait(child);
        let context = format!(
            "seed {seed}, round {round}, after {after} ms: {}",
            result.stderr
        );
        interrupted_count += u64::from(result.code == interrupted);
        let before_listening = result.text().is_empty();
        assert!(
            result.code == interrupted || result.code == 0 || before_listening,
            "{}: {context}",
            result.code
        );
        if let Ok(agent) = fixture.read_outside("pid").trim().parse::<i64>() {
            if signal == "KILL" {
                send("KILL", -agent);
            }
            wait_until(&context, || !is_group_running(agent));
        }
        fixture.assert_healthy();
        if let Ok(text) = fixture.project.read(".heirloom/memory.json") {
            let mirror: serde_json::Value =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {context}"));
            assert_eq!(mirror["tasks"]["T"]["id"], "T", "{context}");
        }
        let left = std::fs::read_dir(fixture.root().join(".heirloom"))
            .unwrap()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().contains("corrupt"));
        assert_eq!(left.count(), 0, "{context}");
    }
    assert!(
        interrupted_count > 0,
        "seed {seed}: every round ended before it was interrupted"
    );
    // The next run is normal in any case.
    fixture
        .run(
            &["--iterations", "1", "--task", "T"],
            &["--say", "HEIRLOOM_STATUS: COMPLETE"],
        )
        .expect(0);
    fixture.assert_healthy();
}

#[test]
fn sigint_at_random_moment_keeps_store_and_mirror_valid() {
    check_random_moments("INT", 130, 20);
}

#[test]
fn kill_at_random_moment_keeps_store_and_mirror_valid() {
    check_random_moments("KILL", 128 + 9, 15);
}
