#!/usr/bin/env node
// Runs the binary of the platform package, which npm installed as an optional dependency.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];

function fail(message) {
  process.stderr.write(`heirloom: ${message}\n`);
  process.exit(1);
}

function findBinary() {
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.includes(platform)) {
    fail(
      `npm has no binary for ${platform}; it has ${PLATFORMS.join(', ')}.\n` +
        '  hint: build it from the sources with `cargo install`',
    );
  }
  const name = `@heirloom/${platform}`;
  const file = process.platform === 'win32' ? 'heirloom.exe' : 'heirloom';
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch (error) {
    const { version } = require('../package.json');
    fail(
      `the package ${name}, which contains the binary, is not installed (${error.code}).\n` +
        '  It is an optional dependency: npm leaves it out with --omit=optional or --no-optional,\n' +
        '  and if node_modules or a lockfile was made on another platform.\n' +
        `  hint: run \`npm install ${name}@${version}\`, or remove node_modules and the lockfile and install again`,
    );
  }
}

const child = spawn(findBinary(), process.argv.slice(2), { stdio: 'inherit' });
const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;

for (const signal of ['SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGINT', 'SIGUSR2']) {
  if (constants.signals[signal] === undefined) continue;
  process.on(signal, () => {
    // A terminal sends Ctrl-C to both processes: the child would receive it twice.
    const isFromTerminal = hasTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT');
    if (!isFromTerminal) child.kill(signal);
  });
}

child.on('error', (error) => fail(`the binary cannot be started: ${error.message}`));
child.on('exit', (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  // End by the same signal, so that the caller sees it.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Signals without a default action of the process, as on Windows.
  setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 100);
});
