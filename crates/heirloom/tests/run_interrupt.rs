//! `heirloom run`: interrupted, killed, and what is whole afterwards.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{Desk, lives, send, strings, until, wait};
use std::process::Child;
use std::thread;
use std::time::{Duration, SystemTime};

/// Runs a shell script as the agent; it says where it is by writing `pid` outside of the project.
fn begin(desk: &Desk, options: &[&str], script: &str) -> Child {
    let _old = std::fs::remove_file(desk.aside("pid"));
    let pid = desk.aside("pid");
    let script = format!(
        "echo $$ >'{0}.new'; mv '{0}.new' '{0}'; {script}",
        pid.display()
    );
    desk.heirloom(&[&["run", "--json"], options, &["--", "sh", "-c", &script]].concat())
        .spawn()
        .unwrap()
}

fn agent_pid(desk: &Desk) -> i64 {
    until("the agent to start", || desk.aside("pid").exists());
    desk.noted("pid").trim().parse().unwrap()
}

/// Whether any process of the agent's group is there.
fn group_lives(pid: i64) -> bool {
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

fn knows(desk: &Desk, text: &str) -> bool {
    desk.texts("knowledge").iter().any(|known| known == text)
}

#[test]
fn a_signal_is_durable_when_it_is_read() {
    let desk = Desk::plain();
    let mut child = begin(
        &desk,
        &[],
        "echo 'HEIRLOOM_MEMORY: KEY_FACT said before the crash'; exec sleep 600",
    );
    let agent = agent_pid(&desk);
    until("the record", || knows(&desk, "said before the crash"));
    child.kill().unwrap();
    child.wait().unwrap();
    send("KILL", -agent);
    assert!(knows(&desk, "said before the crash"));
    desk.healthy();
    // The next run goes on as if nothing had happened.
    let ran = desk.run(&["--iterations", "1"], &["--say", "ok"]).expect(0);
    assert!(ran.text().contains("said before the crash"));
    assert_eq!(
        strings(&desk.mirror()["key_facts"]),
        ["said before the crash"]
    );
}

/// Interrupts a run whose agent does `script`; checks what must hold in any case.
fn interrupt(signal: &str, script: &str) -> driver::Ran {
    let desk = Desk::plain();
    let child = begin(
        &desk,
        &["--task", "T"],
        &format!(
            "echo 'HEIRLOOM_MEMORY: KEY_FACT heard'; echo 'HEIRLOOM_MEMORY: STEP_PENDING open'; {script}"
        ),
    );
    let agent = agent_pid(&desk);
    until("the record", || knows(&desk, "heard"));
    send(signal, i64::from(child.id()));
    let ran = wait(child).expect(130);
    assert_eq!(ran.ending()["reason"], "interrupted", "{}", ran.text());
    until("the agent's group to end", || !group_lives(agent));
    assert!(!lives(agent));
    let mirror = desk.mirror();
    assert_eq!(strings(&mirror["key_facts"]), ["heard"]);
    assert_eq!(strings(&mirror["tasks"]["T"]["pending_steps"]), ["open"]);
    // An interrupt is no error of the task.
    assert_eq!(mirror["errors"].as_array().unwrap().len(), 0);
    desk.healthy();
    let next = desk
        .run(&["--task", "T", "--iterations", "1"], &["--say", "ok"])
        .expect(0);
    assert_eq!(next.named("iteration_started")[0]["iteration"], 2);
    ran
}

#[test]
fn ctrl_c_ends_the_agent_and_saves() {
    interrupt("INT", "exec sleep 600");
}

#[test]
fn a_request_to_end_does_the_same() {
    interrupt("TERM", "exec sleep 600");
}

#[test]
fn a_closed_terminal_does_the_same() {
    interrupt("HUP", "exec sleep 600");
}

#[test]
fn an_agent_that_ignores_requests_is_killed_with_its_children() {
    let ran = interrupt(
        "INT",
        "trap '' TERM INT; sleep 600 & sleep 600; sleep 600; sleep 600",
    );
    assert!(ran.took < Duration::from_secs(30), "{:?}", ran.took);
}

#[test]
fn what_the_agent_says_while_it_ends_is_heard() {
    let desk = Desk::plain();
    let child = begin(
        &desk,
        &[],
        "trap 'echo HEIRLOOM_MEMORY: KEY_FACT last words; exit 0' TERM; echo 'HEIRLOOM_MEMORY: KEY_FACT heard'; while :; do sleep 0.05; done",
    );
    agent_pid(&desk);
    until("the record", || knows(&desk, "heard"));
    send("INT", i64::from(child.id()));
    wait(child).expect(130);
    assert_eq!(
        strings(&desk.mirror()["key_facts"]),
        ["heard", "last words"]
    );
}

#[test]
fn a_terminal_that_signals_the_whole_group_ends_it_too() {
    // A shell with job control puts the program into a group of its own, as a terminal would see it.
    let desk = Desk::plain();
    let pid = desk.aside("heirloom-pid");
    let inner = format!(
        "echo $$ >'{}'; exec '{}' run --json -- sh -c 'echo HEIRLOOM_MEMORY: KEY_FACT heard; exec sleep 600'",
        pid.display(),
        env!("CARGO_BIN_EXE_heirloom")
    );
    let command = desk.heirloom(&[]);
    let mut shell = std::process::Command::new("setsid");
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
        .args(["sh", "-c", &inner])
        .current_dir(desk.root())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let child = shell.spawn().unwrap();
    until("the record", || knows(&desk, "heard"));
    let group: i64 = desk.noted("heirloom-pid").trim().parse().unwrap();
    send("INT", -group);
    let ran = wait(child);
    assert_eq!(ran.ending()["reason"], "interrupted");
    desk.healthy();
}

/// Numbers that look random, from a seed that can be printed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// Ends a run at many moments by `signal`; the store and the mirror are whole each time.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a seed that differs from run to run, and is printed"
)]
fn rounds(signal: &str, interrupted: i32, count: u64) {
    let seed = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_nanos() as u64
        | 1;
    println!("seed {seed}");
    let mut dice = Dice(seed);
    let desk = Desk::git();
    let mut cut = 0;
    let script = "i=0; while [ $i -lt 40 ]; do i=$((i + 1)); echo \"HEIRLOOM_MEMORY: KEY_FACT fact $HEIRLOOM_ITERATION $i\"; echo \"HEIRLOOM_MEMORY: STEP_PENDING step $i\"; echo x >>file.$i; done";
    for round in 0..count {
        let child = begin(&desk, &["--iterations", "3", "--task", "T"], script);
        let pid = i64::from(child.id());
        let after = dice.below(400);
        thread::sleep(Duration::from_millis(after));
        send(signal, pid);
        let ran = wait(child);
        let context = format!(
            "seed {seed}, round {round}, after {after} ms: {}",
            ran.stderr
        );
        cut += u64::from(ran.code == interrupted);
        let before_listening = ran.text().is_empty();
        assert!(
            ran.code == interrupted || ran.code == 0 || before_listening,
            "{}: {context}",
            ran.code
        );
        if let Ok(agent) = desk.noted("pid").trim().parse::<i64>() {
            if signal == "KILL" {
                send("KILL", -agent);
            }
            until(&context, || !group_lives(agent));
        }
        desk.healthy();
        if let Ok(text) = desk.project.read(".heirloom/memory.json") {
            let mirror: serde_json::Value =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {context}"));
            assert_eq!(mirror["tasks"]["T"]["id"], "T", "{context}");
        }
        let left = std::fs::read_dir(desk.root().join(".heirloom"))
            .unwrap()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().contains("corrupt"));
        assert_eq!(left.count(), 0, "{context}");
    }
    assert!(
        cut > 0,
        "seed {seed}: every round ended before it was interrupted"
    );
    // Whatever was cut, the next run is a normal one.
    desk.run(
        &["--iterations", "1", "--task", "T"],
        &["--say", "HEIRLOOM_STATUS: COMPLETE"],
    )
    .expect(0);
    desk.healthy();
}

#[test]
fn ctrl_c_at_any_moment_leaves_all_whole() {
    rounds("INT", 130, 20);
}

#[test]
fn a_crash_at_any_moment_leaves_all_whole() {
    rounds("KILL", 128 + 9, 15);
}
