#!/usr/bin/env python3
"""Records docs/session.svg: the commands of commands.txt, run in a terminal of 80 columns.

    docs/session/record.py --heirloom target/release/heirloom

The project is a temporary folder with the memory enabled. Its only content is conversation.jsonl, stored where Claude
Code stores its conversations. Nothing of the output is edited; the pauses between commands are added.
"""

import argparse
import fcntl
import html
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import termios

COLUMNS, ROWS = 80, 24
CELL_WIDTH, LINE_HEIGHT, MARGIN, BAR = 8.4, 19, 16, 34
PAUSE_S = 1.6
FOLDER = pathlib.Path(__file__).resolve().parent

STYLE = """
.bg{fill:#fbfbfa;stroke:#d5d5d0}.bar{fill:#ececea}.dot{fill:#c9c9c4}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:#24292f}
.title{fill:#6a6a64}.prompt{fill:#1a7f37;font-weight:bold}.command{fill:#0b3d91;font-weight:bold}.comment{fill:#6a6a64}
@media(prefers-color-scheme:dark){.bg{fill:#16181d;stroke:#33363d}.bar{fill:#22252b}.dot{fill:#4a4e57}text{fill:#d7dae0}
.title{fill:#9aa0aa}.prompt{fill:#6cc784}.command{fill:#8ab4f8}.comment{fill:#9aa0aa}}
.step{animation:appear .3s backwards}@keyframes appear{from{opacity:0}}
@media(prefers-reduced-motion:reduce){.step{animation:none}}
"""


def run_in_terminal(command, folder, env):
    """Returns what a command prints to a terminal."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    child = subprocess.Popen(
        ["sh", "-c", command], cwd=folder, env=env, stdin=other, stdout=other, stderr=other, start_new_session=True
    )
    os.close(other)
    printed = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:  # Linux reports the end of a terminal as an error
            break
        if not piece:
            break
        printed += piece
    os.close(main)
    if child.wait() != 0:
        raise SystemExit(f"{command}: exit code {child.returncode}\n{printed.decode()}")
    text = printed.decode().replace("\r\n", "\n").rstrip("\n")
    text = re.sub(r"[^\n]*\r\x1b\[2K", "", text)  # a progress bar that the program erased
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).split("\n")


def wrapped(line):
    """Breaks a line where the terminal does."""
    return [line[at : at + COLUMNS] for at in range(0, len(line), COLUMNS)] or [""]


def prepared(root, heirloom):
    """Creates the project and the stored conversation; returns its folder and the environment of the commands."""
    project, home, programs = root / "shop", root / "home", root / "bin"
    for folder in (project, programs):
        folder.mkdir(parents=True)
    shutil.copy(heirloom, programs / "heirloom")
    env = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    stored = home / ".claude/projects" / str(project).replace("/", "-")
    stored.mkdir(parents=True)
    text = (FOLDER / "conversation.jsonl").read_text().replace("{project}", str(project))
    (stored / "7c1f4a52-9d1e-4f0e-8a35-2f6f0f3f7a10.jsonl").write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=project, env=env, check=True)
    subprocess.run(["heirloom", "init"], cwd=project, env=env, check=True, capture_output=True)
    return project, env


def recorded(heirloom):
    """Runs the commands; returns one list of (class, text) lines for each step."""
    commands = (FOLDER / "commands.txt").read_text().splitlines()
    steps = []
    with tempfile.TemporaryDirectory() as root:
        project, env = prepared(pathlib.Path(root), heirloom)
        for command in commands:
            steps.append([("command", command)])
            steps.append([("output", row) for line in run_in_terminal(command, project, env) for row in wrapped(line)])
    return steps


def spans(kind, text):
    """Returns the markup of one row."""
    if kind == "output":
        return html.escape(text, quote=False)
    command, mark, comment = text.partition("  #")
    markup = '<tspan class="prompt">$</tspan> '
    markup += f'<tspan class="command">{html.escape(command, quote=False)}</tspan>'
    return markup + (f'<tspan class="comment">{html.escape(mark + comment, quote=False)}</tspan>' if mark else "")


def svg(steps):
    """Renders the steps; all of them are visible where animations are not supported."""
    row_count = sum(len(step) for step in steps)
    if row_count > ROWS:
        raise SystemExit(f"{row_count} rows do not fit a terminal of {ROWS}: shorten commands.txt")
    width, height = round(COLUMNS * CELL_WIDTH + 2 * MARGIN), BAR + ROWS * LINE_HEIGHT + MARGIN
    commands = "; ".join(step[0][1].partition("  #")[0].strip() for step in steps if step[0][0] == "command")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        "<title>Terminal session of Heirloom</title>",
        f"<desc>{html.escape(commands, quote=False)}</desc>",
        f"<style>{STYLE}</style>",
        f'<rect class="bg" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        f'<path class="bar" d="M1 {BAR - 6}V9a8 8 0 0 1 8-8H{width - 9}a8 8 0 0 1 8 8V{BAR - 6}z"/>',
        *(f'<circle class="dot" cx="{18 + 18 * n}" cy="14.5" r="5.5"/>' for n in range(3)),
        f'<text class="title" x="{width / 2}" y="19" text-anchor="middle">~/shop</text>',
    ]
    row, delay = 0, 0.0
    for step in steps:
        parts.append(f'<g class="step" style="animation-delay:{delay:.1f}s">')
        for kind, text in step:
            y = BAR + LINE_HEIGHT * row + 14
            if text or kind == "command":
                parts.append(f'<text x="{MARGIN}" y="{y}" xml:space="preserve">{spans(kind, text)}</text>')
            row += 1
        parts.append("</g>")
        delay += 0.5 if step[0][0] == "command" else PAUSE_S
    return "\n".join([*parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heirloom", required=True, type=pathlib.Path, help="the binary to run")
    parser.add_argument("--out", type=pathlib.Path, default=FOLDER.parent / "session.svg")
    args = parser.parse_args()
    args.out.write_text(svg(recorded(args.heirloom)))
    print(f"wrote {args.out}, {args.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
