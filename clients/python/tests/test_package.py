"""The generated code, the types and the built package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent.parent
TYPED_PERCENT_MIN = 95.0


def run(*command: str, cwd: Path = HERE, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a command; `path` is a folder whose programs are found first."""
    environment = {**os.environ, "PATH": os.pathsep.join([str(path), os.environ["PATH"]])} if path else None
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def test_generated_code_equals_a_new_generation() -> None:
    done = run(sys.executable, "generate.py", "--check")
    assert done.returncode == 0, done.stderr


def test_types_are_correct() -> None:
    done = run(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson")
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["generalDiagnostics"] == []
    assert report["summary"]["filesAnalyzed"] > 20


def test_style_is_that_of_the_configuration() -> None:
    for command in (["check"], ["format", "--check"]):
        done = run(sys.executable, "-m", "ruff", *command, "src", "tests", "generate.py")
        assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel in a new environment that sees the packages of the tests; returns its `site-packages`."""
    target = tmp_path_factory.mktemp("wheel")
    venv.create(target / "venv", with_pip=False, symlinks=True)
    site = next((target / "venv").glob("lib/python*/site-packages"))
    (site / "parent.pth").write_text(sysconfig.get_path("purelib"))
    code = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    built = run(sys.executable, "-c", code, str(target))
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(target / built.stdout.split()[-1]) as wheel:
        wheel.extractall(site)
    return site


def test_wheel_has_types_and_few_requirements(installed: Path) -> None:
    assert (installed / "heirloom_client" / "py.typed").is_file()
    metadata = next(installed.glob("*.dist-info/METADATA")).read_text()
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert required == ["Requires-Dist: httpx<1,>=0.27"]


def test_public_interface_is_typed(installed: Path, tmp_path: Path) -> None:
    # `--verifytypes` takes the `python` of the search path and ignores `--pythonpath`.
    done = run(
        *(sys.executable, "-m", "pyright", "--verifytypes", "heirloom_client", "--ignoreexternal", "--outputjson"),
        cwd=tmp_path,
        path=installed.parents[2] / "bin",
    )
    completeness = json.loads(done.stdout)["typeCompleteness"]
    assert completeness["exportedSymbolCounts"]["withKnownType"] > 150
    unknown = [
        symbol["name"] for symbol in completeness["symbols"] if not symbol["isTypeKnown"] and symbol["isExported"]
    ]
    assert completeness["completenessScore"] * 100 >= TYPED_PERCENT_MIN, unknown


def test_client_imports_without_the_adapters(installed: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import heirloom_client as package;"
        "assert package.__file__.startswith(sys.argv[1]);"
        "print([name for name in ('langgraph', 'agents', 'anthropic', 'pydantic') if name in sys.modules])"
    )
    assert run(sys.executable, "-c", code, str(installed)).stdout.strip() == "[]"
