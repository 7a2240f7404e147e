#!/bin/sh
# A small agent that can only do what it is told in its prompt: it has no memory of its own.
# Its job: make `./check.sh` pass. What it tries depends on what the prompt says was tried before.
prompt=$(cat)

say() { printf '%s\n' "$*"; }
remember() { printf 'HEIRLOOM_MEMORY: %s\n' "$*"; }
knows() { printf '%s' "$prompt" | grep -qF "$1"; }

if knows 'config.ini needs a [server] section'; then
    if knows 'Pending: Add a greeting'; then
        say "The prompt says what is left: the greeting."
        printf 'greeting = hello\n' >>config.ini
        remember 'STEP_DONE Add a greeting'
        remember 'FILE_MODIFIED config.ini'
    else
        say "The prompt says why the last try failed, so I write the section first."
        printf '[server]\nport = 8080\n' >config.ini
        remember 'STEP_DONE Write config.ini'
        remember 'STEP_PENDING Add a greeting'
        remember 'DECISION Write the port under [server] BECAUSE the checker reads it only there'
        remember 'FILE_MODIFIED config.ini'
        exit 0
    fi
else
    say "I know nothing about this project, so I guess: one line with the port."
    printf 'port = 8080\n' >config.ini
fi

if message=$(sh ./check.sh 2>&1); then
    say "check.sh passes."
    printf 'HEIRLOOM_STATUS: COMPLETE config.ini is accepted\n'
else
    say "check.sh says: $message"
    remember "KEY_FACT config.ini needs a [server] section before any key"
    remember 'STEP_PENDING Write config.ini'
    printf '%s\n' "$message" >&2
    exit 1
fi
