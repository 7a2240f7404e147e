"""The examples of the README, each run as a program against a real server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_model import FakeProvider, anthropic_message, anthropic_tool_use, openai_response, openai_text

from heirloom_client import LocalServer

README = (Path(__file__).resolve().parent.parent / "README.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)

# A part of what each example prints, and the answers of its model.
EXPECTED: list[tuple[str, list[dict[str, Any]]]] = [
    ("Staging is read-only on Fridays", []),
    ("Why is the checkout flaky?", []),
    ("{", []),
    ("'answer': 'I eat sushi on Fridays'", []),
    ("It is the clock", [openai_response(openai_text("It is the clock"))]),
    (
        "Noted",
        [
            anthropic_message(
                anthropic_tool_use(1, command="create", path="/memories/readme.md", file_text="Staging is read-only")
            ),
            anthropic_message({"type": "text", "text": "Noted"}),
        ],
    ),
]


def test_all_examples_are_expected() -> None:
    assert len(EXAMPLES) == len(EXPECTED)
    quick_start = EXAMPLES[0].strip().splitlines()
    assert len(quick_start) <= 10


@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_example_runs(server: LocalServer, tmp_path: Path, number: int) -> None:
    expected, answers = EXPECTED[number]
    with FakeProvider(answers) as provider:
        environment = {
            **os.environ,
            "HEIRLOOM_URL": server.url,
            "HEIRLOOM_TOKEN": server.token,
            "OPENAI_BASE_URL": provider.url,
            "OPENAI_API_KEY": "none",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
            "ANTHROPIC_BASE_URL": provider.url,
            "ANTHROPIC_API_KEY": "none",
        }
        done = subprocess.run(
            [sys.executable, "-c", EXAMPLES[number]], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
    assert len(provider.requests) == len(answers)
