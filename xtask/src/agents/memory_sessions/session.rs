//! Sessions of a program in a small Python project, with scripted turns.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heirloom_testkit::{RecordedRequest, Script, Turn};
use serde_json::Value;

use super::work_tools::WorkTools;
use crate::agents::hooks::{ensure, json_answer, step, with_path};
use crate::agents::install;
use crate::agents::iterations::Stage;
use crate::agents::program::PROMPT;

/// File with the calculation that is wrong.
pub(super) const PRICING: &str = "src/shop/pricing.py";

/// Files of the project. Of the two tests one needs a variable, the other one fails by the calculation.
const FILES: [(&str, &str); 5] = [
    ("src/shop/__init__.py", ""),
    (
        PRICING,
        "def discount(cents, percent):\n    return int(cents * (100 - percent) / 100)\n",
    ),
    (
        "src/shop/db.py",
        "import os\n\n\ndef url():\n    return os.environ['SHOP_DB_URL']\n",
    ),
    (
        "tests/test_shop.py",
        "import unittest\n\nfrom shop import db, pricing\n\n\nclass ShopTest(unittest.TestCase):\n    \
         def test_connects(self):\n        self.assertTrue(db.url())\n\n    \
         def test_discount_rounds_half_up(self):\n        self.assertEqual(pricing.discount(555, 10), 500)\n",
    ),
    (".gitignore", "__pycache__/\n"),
];

/// Turns of the model in the session that runs.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnQueue(Arc<Mutex<VecDeque<Turn>>>);

impl TurnQueue {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Turn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a script that takes its turns from here.
    pub(super) fn script(&self) -> Script {
        let turns = self.clone();
        Script::function(move |_: &RecordedRequest| {
            let next = turns.lock().pop_front();
            next.unwrap_or_else(|| Turn::text("Nothing is left to do."))
        })
    }
}

/// A project with hooks of one program, and the turns of its model.
pub(super) struct MemoryProject<'s> {
    stage: &'s Stage,
    heirloom: &'s Path,
    turns: &'s TurnQueue,
    /// Tools of the program.
    pub(super) tools: WorkTools,
}

impl<'s> MemoryProject<'s> {
    /// Writes the files of the project and installs the hooks.
    pub(super) fn create(
        stage: &'s Stage,
        heirloom: &'s Path,
        turns: &'s TurnQueue,
    ) -> Result<Self, String> {
        let text = |error: std::io::Error| format!("cannot write the project: {error}");
        for (name, content) in FILES {
            stage.project.write(name, content).map_err(text)?;
        }
        stage.project.run_git(&["add", "."]).map_err(text)?;
        let commit = ["commit", "--quiet", "--message", "shop"];
        stage.project.run_git(&commit).map_err(text)?;
        let tools = WorkTools::of(stage.program(), stage.project.path())?;
        let ours =
            |args: &[&str], name: &str| step(stage, stage.command(heirloom).args(args), name);
        ours(&["init", "--yes"], "init")?;
        ours(&["install", stage.program().name, "--yes"], "install")?;
        Ok(Self {
            stage,
            heirloom,
            turns,
            tools,
        })
    }

    /// Runs one session with a prompt and the turns of the model; returns its requests.
    pub(super) fn run_session(
        &self,
        name: &str,
        prompt: &str,
        turns: Vec<Turn>,
    ) -> Result<Vec<RecordedRequest>, String> {
        let before = self.stage.service.main_requests().len();
        *self.turns.lock() = turns.into();
        let program = self.stage.program();
        let line = program.command_line(&install::folder(program)?);
        let mut command = self.stage.command(line[0].as_ref());
        command.args(line[1..].iter().map(|word| match word == PROMPT {
            true => prompt,
            false => word,
        }));
        with_path(&mut command, program, self.heirloom)?;
        command.args(self.tools.arguments);
        step(self.stage, &mut command, name)?;
        let left = self.turns.lock().len();
        ensure(
            left == 0,
            &format!("session {name} ended with {left} turns left"),
        )?;
        let mut requests = self.stage.service.main_requests();
        Ok(requests.split_off(before))
    }

    /// Undoes what the sessions changed in the working tree.
    pub(super) fn restore_files(&self) -> Result<(), String> {
        let restored = self.stage.project.run_git(&["checkout", "--", "."]);
        restored.map(drop).map_err(|error| error.to_string())
    }

    /// Returns a file of the project.
    pub(super) fn read(&self, file: &str) -> String {
        self.stage.project.read(file).unwrap_or_default()
    }

    /// Returns the JSON output of a `heirloom` command.
    pub(super) fn answer(&self, args: &[&str], name: &str) -> Result<Value, String> {
        json_answer(self.stage, self.heirloom, args, name)
    }
}
