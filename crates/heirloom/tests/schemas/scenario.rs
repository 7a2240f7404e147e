//! One project in which every command with JSON is called at least once.

use crate::answer_validation::{assert_described, assert_matches, command_of};
use crate::project::{Answer, Project, string};
use heirloom_testkit::sh;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};

/// Commands that print their answer and go on until they are interrupted.
const SERVERS: [&str; 4] = [
    "serve --port 0",
    "ui --port 0 --no-open",
    "mcp --http 0",
    "demo --serve --port 0",
];

/// A project, and the commands whose answers were validated.
pub(crate) struct Scenario {
    project: Project,
    called: BTreeSet<String>,
}

impl Scenario {
    /// Creates a project with memory.
    pub(crate) fn new() -> Self {
        let mut scenario = Self {
            project: Project::git(),
            called: BTreeSet::new(),
        };
        scenario.write("src/lib.rs", "//! A crate.\n");
        scenario.json("init");
        scenario
    }

    /// Calls every command and returns their names.
    pub(crate) fn call_every_command(mut self) -> BTreeSet<String> {
        self.call_memory_commands();
        self.call_conflict_commands();
        self.call_task_commands();
        self.call_session_commands();
        self.call_file_commands();
        self.call_context_commands();
        self.call_transfer_commands();
        self.call_setup_commands();
        self.start_servers();
        self.called
    }

    fn write(&self, name: &str, text: &str) {
        self.project.folder.write(name, text).unwrap();
    }

    /// Runs a command line with `--json`; the answer is validated by [`Project::run`].
    fn expect(&mut self, line: &str, code: i32) -> Answer {
        let mut args = vec!["--json"];
        args.extend(sh(line));
        let answer = self.project.expect(&args, code);
        assert!(!answer.stdout.is_empty(), "{line}: {answer:?}");
        self.called.extend(command_of(&owned(&args)));
        answer
    }

    fn json(&mut self, line: &str) -> Value {
        self.expect(line, 0).json()
    }

    fn id(&mut self, line: &str) -> String {
        string(&self.json(line)["id"])
    }

    /// Runs a command line with standard input.
    fn input(&mut self, line: &str, input: &str) -> Answer {
        let mut args = vec!["--json"];
        args.extend(sh(line));
        let answer = self.project.input(&args, input.as_bytes());
        self.called.extend(command_of(&owned(&args)));
        answer
    }

    fn call_memory_commands(&mut self) {
        let id = self.id("remember 'the port is 5432' --key port --rationale 'the default'");
        self.json("remember 'the port is 5432' --key port");
        self.json("remember 'the token is ghp_Zq81kLmXvB4cRt8WzY1pQs5dFgH2nJ7uTe3A'");
        let lines = "{\"text\": \"one\"}\n{\"kind\": \"note\", \"text\": \"two\"}\n{}\n";
        let answer = self.input("remember --stdin", lines);
        assert_eq!((answer.code, answer.lines().len()), (1, 3), "{answer:?}");
        self.json("remember --user 'small commits'");
        self.json("recall 'the port' --explain");
        self.json("list --all");
        self.json(&format!("show {id}"));
        self.json(&format!("pin {id}"));
        self.json(&format!("mute {id}"));
        self.json(&format!("mute {id} --off"));
        self.json(&format!("useful {id} yes"));
        self.json(&format!("undo {id}"));
        self.json(&format!("share {id}"));
        self.json(&format!("unshare {id}"));
        let gone = self.id("remember 'a mistake'");
        self.json(&format!("forget {gone}"));
        self.json(&format!("undo {gone}"));
        self.json(&format!("history {id}"));
        self.json("history");
        for decision in ["accept", "reject"] {
            let proposal = self.id(&format!("propose 'to {decision}' --source claude"));
            self.json("propose");
            self.json(&format!("{decision} {proposal}"));
        }
        self.json("review");
        self.json("learn --all");
        self.json("prune");
        self.json(&format!("purge --id {gone} --yes"));
    }

    fn call_conflict_commands(&mut self) {
        self.json("remember 'tabs' --key indent --source ann --confidence 0.9");
        self.json("remember 'spaces' --key indent --source bob --confidence 0.8");
        self.json("list --conflicts");
        let open = self.json("conflicts");
        let conflict = &open["conflicts"][0];
        let (id, kept) = (&conflict["id"], &conflict["losers"][0]["id"]);
        let (id, kept) = (string(id), string(kept));
        self.json(&format!("resolve {id} --keep {kept} --as user"));
        self.json(&format!("undo {kept}"));
    }

    fn call_task_commands(&mut self) {
        self.json("task set 42 --type issue --branch fix --pr 7 --blocked 'needs a key'");
        self.json("step pending 'write the test' --task 42");
        self.json("step done 'write the test' --task 42");
        self.json("error log 'cannot open /tmp/a1: no such file' --task 42");
        self.json("error resolve 'cannot open' --with 'create the folder'");
        let again = self.json("error log 'cannot open /tmp/b2: no such file' --task 42");
        assert!(again["resolved_before"].is_object(), "{again}");
        self.json("episode log --task 42 --action failed --approach mocks --duration-ms 5");
        self.json("episode list");
        self.json("tried mocks");
        self.json("artifact add src/lib.rs --task 42 --type file --description 'the crate'");
        self.json("artifact list");
        self.json("artifact verify");
        self.json("task show 42");
        self.json("outcome --task 42 --status FAILED --error 'it broke' --approach mocks");
        self.json("task done 42 --approach 'a real server' --outcome passes");
        self.json("task fail 43");
        self.json("task list");
        self.json("analytics");
        let list = self.json("artifact list");
        let artifact = string(&list["artifacts"][0]["id"]);
        self.json(&format!("artifact remove {artifact}"));
        self.json("output put 'all is well' --plan p --agent coder --meta score=3");
        self.json("output get --plan p --agent coder");
        self.json("output list");
    }

    fn call_session_commands(&mut self) {
        self.input(
            "session add --session s --role user",
            "why does the deploy fail?",
        );
        self.input(
            "session add --session s --role assistant",
            "the queue is busy",
        );
        self.json("session show s");
        self.json("session summary s");
        self.json("session search deploy");
        self.json("session export s");
        let history = json!(conversation());
        let report = self.project.file("report.json");
        let line = format!(
            "compact --session w --target-tokens 9000 --report {}",
            report.display()
        );
        let answer = self.input(&line, &history.to_string());
        assert_eq!(answer.code, 0, "{answer:?}");
        let report: Value =
            serde_json::from_str(&self.project.folder.read("report.json").unwrap()).unwrap();
        assert_matches("compact-report.json", &report, &owned(&["compact"]));
        self.json("session export w --windows");
        let (shortened, dropped) = (&report["shortened"][0]["id"], &report["dropped"][0]["id"]);
        for id in [shortened, dropped] {
            let id = string(id);
            self.json(&format!("expand {id}"));
        }
        self.write(
            "chat.json",
            &json!({"messages": conversation()}).to_string(),
        );
        self.json("bench window --in chat.json");
        self.write(
            "docs.jsonl",
            "{\"id\": \"a\", \"conversation\": \"c\", \"text\": \"the parser\"}\n",
        );
        self.write(
            "queries.jsonl",
            "{\"id\": \"q\", \"conversation\": \"c\", \"text\": \"parser\", \"category\": \"easy\", \"gold\": [\"a\"]}\n",
        );
        self.json("bench recall --docs docs.jsonl --queries queries.jsonl --out ranked.jsonl");
    }

    fn call_file_commands(&mut self) {
        for entry in ["daily", "error", "fact", "feature", "learning"] {
            self.json(&format!("workspace {entry} 'a line for {entry}'"));
        }
        self.json("workspace show");
        self.json("workspace sync");
        self.json("group note main 'the queue is slow' --agent ann");
        self.json("group show main");
        self.json("group list");
        self.write(
            ".heirloom/commands/hi.toml",
            "description = \"greets\"\ntemplate = \"say !{echo hi} to {{arg1}}\"\n",
        );
        self.json("cmd new mine --template 'hello'");
        self.json("cmd list");
        self.json("cmd show hi");
        self.json("cmd trust hi --yes");
        self.json("trust --yes");
        self.json("cmd run hi ann --yes");
        self.input("redact", "ghp_Zq81kLmXvB4cRt8WzY1pQs5dFgH2nJ7uTe3A\n");
        self.write("leak.txt", "ghp_Zq81kLmXvB4cRt8WzY1pQs5dFgH2nJ7uTe3A\n");
        self.json("redact --check leak.txt");
        let update = json!({"type": "update_memory", "group": "main", "payload": {"content": "x"}});
        self.write(".heirloom/inbox/one.json", &update.to_string());
        self.expect("watch --once", 0);
    }

    fn call_context_commands(&mut self) {
        self.json("context --task 42 --query port");
        self.json("context 'coder[input:src/*.rs]' --budget-tokens 400");
        let list = self.json("receipts list");
        let id = |at: usize| string(&list["receipts"][at]["id"]);
        let (one, two) = (id(0), id(1));
        self.json(&format!("receipts show {one}"));
        self.json(&format!("receipts diff {one} {two}"));
        let answer = self.input(
            "observe --task 42",
            "HEIRLOOM_MEMORY: KEY_FACT it was observed\nHEIRLOOM_MEMORY: NONSENSE x\n",
        );
        assert_eq!(answer.code, 0, "{answer:?}");
        let script = "echo 'HEIRLOOM_MEMORY: KEY_FACT it ran'; echo 'HEIRLOOM_MEMORY: NONSENSE x'; echo 'HEIRLOOM_STATUS: COMPLETE done'";
        let args = sh("--json run --task 44 --iterations 1 -- sh -c");
        let args = [&args[..], &[script]].concat();
        let answer = self.project.expect(&args, 0);
        assert!(answer.lines().len() > 4, "{answer:?}");
        self.called.extend(command_of(&owned(&args)));
        self.json("demo");
    }

    fn call_transfer_commands(&mut self) {
        let exported = self.expect("export --format jsonl --all", 0).stdout;
        self.write("memory.jsonl", &exported);
        self.json("import jsonl memory.jsonl");
        self.write("shared/db.md", "# Database\n\n- port: 5432\n");
        self.json("import shared shared");
        self.json("import shared shared --index");
        self.json("export --format radium");
        let transcript = json!({
            "type": "user", "uuid": "u", "sessionId": "t", "cwd": self.project.path(),
            "timestamp": "2026-05-01T10:00:00Z", "message": {"role": "user", "content": "hello"},
        });
        self.write("talk.jsonl", &format!("{transcript}\n"));
        self.json("import claude talk.jsonl");
    }

    fn call_setup_commands(&mut self) {
        self.json("status");
        self.json("config");
        self.json("config --show-origin");
        self.json("install claude-code --yes");
        self.json("status");
        self.json("uninstall claude-code --yes");
        self.json("reembed");
        let copy = self.project.file("copy.db");
        let copy = copy.display();
        self.json(&format!("backup {copy}"));
        self.json(&format!("restore {copy}"));
        self.json("doctor");
        self.json("doctor --repair");
        let token = self.id("token create --role agent --name ci");
        self.json("token list");
        self.json(&format!("token revoke {token}"));
        // The same commands under the name that servers with several projects use.
        let token = self.id("fleet token create --role agent");
        self.json("fleet token list");
        self.json(&format!("fleet token revoke {token}"));
        self.json("init --import --dry-run --yes");
        self.json("transfer --from . --to copy");
    }

    fn start_servers(&mut self) {
        for line in SERVERS {
            let mut args = vec!["--json"];
            args.extend(sh(line));
            let mut child = self.project.command(&args).spawn().unwrap();
            let mut printed = String::new();
            let mut output = BufReader::new(child.stdout.take().unwrap());
            output.read_line(&mut printed).unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!printed.is_empty(), "{line}");
            assert_described(&owned(&args), &printed, "");
            self.called.extend(command_of(&owned(&args)));
        }
    }
}

/// Builds a conversation that is long enough to be compacted.
fn conversation() -> Vec<Value> {
    let mut all = vec![
        json!({"role": "system", "content": "You are careful."}),
        json!({"role": "user", "content": "find out why the deploy fails"}),
    ];
    for n in 0..40 {
        let call = json!({"id": format!("c{n}"), "type": "function",
            "function": {"name": "bash", "arguments": format!("{{\"command\":\"cat deploy_{n}.rs\"}}")}});
        all.push(
            json!({"role": "assistant", "content": format!("step {n}"), "tool_calls": [call]}),
        );
        let line = |at: usize| format!("{n}.{at}: src/deploy_{n}.rs finds queue_{at} busy\n");
        let content: String = (0..150).map(line).collect();
        all.push(json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": content}));
    }
    all
}

fn owned(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}
