#!/bin/sh
# A small agent that knows only its prompt: it has no memory of its own.
# Its job: make `./check.sh` pass. Its next attempt depends on the earlier attempts in the prompt.
prompt=$(cat)

say() { printf '%s\n' "$*"; }
remember() { printf 'HEIRLOOM_MEMORY: %s\n' "$*"; }
prompt_contains() { printf '%s' "$prompt" | grep -qF "$1"; }

if prompt_contains 'config.ini needs a [server] section'; then
    if prompt_contains 'Pending: Add a greeting'; then
        say "The prompt contains the remaining step: the greeting."
        printf 'greeting = hello\n' >>config.ini
        remember 'STEP_DONE Add a greeting'
        remember 'FILE_MODIFIED config.ini'
    else
        say "The prompt contains the cause of the last failure, so I write the section first."
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
    say "check.sh reports: $message"
    remember "KEY_FACT config.ini needs a [server] section before any key"
    remember 'STEP_PENDING Write config.ini'
    printf '%s\n' "$message" >&2
    exit 1
fi
