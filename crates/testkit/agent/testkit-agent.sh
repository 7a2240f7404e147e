#!/bin/sh
# A scripted agent for tests of the run loop. POSIX sh, so that it needs no build.
#
#   testkit-agent.sh [ACTION…] [PROMPT]
#
# The prompt is the value of -p, --print, --prompt, -m or --message, the content
# of --message-file, or a word that is not an action; without these it is read
# by --read-stdin or --read-env. Actions run from left to right. Unknown options
# are skipped, so a wrapper may add its own (--verbose, --json, --output-format X).
#
# Prompt
#   --read-stdin          the prompt is standard input, to its end
#   --read-env            the prompt is the file named by HEIRLOOM_PROMPT_FILE
#   --record FILE         append the prompt to FILE, then a line "=== end of prompt"
#   --record-args FILE    append the arguments to FILE, one a line, then "=== end of arguments"
#   --record-env FILE     append the HEIRLOOM_* variables to FILE, sorted
# Conditions, for the one action that follows
#   --if TEXT             the prompt contains TEXT
#   --unless TEXT         it does not
#   --on N                the counter is N (see --count)
#   --count FILE          add one to the number in FILE: how often the agent ran
# Output
#   --say LINE            a line        --err LINE   a line on standard error
#   --bytes FORMAT        printf FORMAT, without a newline: --bytes 'a\377b'
#   --cat FILE            an unchanged file
#   --flood MB            MB megabytes of short lines
#   --flood-line MB       MB megabytes without a newline
#   --invalid-utf8        a line with bytes that are not UTF-8
#   --claude TEXT         TEXT as a session in Claude Code's stream-json
#   --codex TEXT          TEXT as a turn in Codex's exec --json
#   --gemini TEXT         TEXT as a session in Gemini CLI's stream-json, in deltas
#   --claude-tool TEXT, --codex-tool TEXT, --gemini-tool TEXT
#                         TEXT as a tool's output, in the same formats
# Behaviour
#   --write FILE          write a line into FILE, below the current folder
#   --sleep S             wait S seconds, which may be a fraction
#   --hang                wait for an hour; ends at once on SIGTERM or SIGINT
#   --ignore-term         from now on ignore SIGTERM and SIGINT
#   --hold-stdout S       start a child that keeps standard output open for S seconds
#   --kill-self SIGNAL    die by a signal: --kill-self KILL
#   --exit N              exit with N; without it 0

takes_value() {
    case $1 in
    -p | --print | --prompt | -m | --message | --message-file) return 0 ;;
    --record | --record-args | --record-env | --if | --unless | --on | --count) return 0 ;;
    --say | --err | --bytes | --cat | --flood | --flood-line) return 0 ;;
    --claude | --codex | --gemini | --claude-tool | --codex-tool | --gemini-tool) return 0 ;;
    --write | --sleep | --hold-stdout | --kill-self | --exit) return 0 ;;
    --output-format | --model | --allowedTools | --read | --append-system-prompt) return 0 ;;
    *) return 1 ;;
    esac
}

# TEXT as the inside of a JSON string.
json() {
    printf '%s' "$1" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/	/\\t/g' |
        awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }'
}

megabytes() { # COUNT, from standard input
    head -c "$(($1 * 1000000))"
}

gemini_deltas() { # TEXT, a few words a delta
    printf '%s' "$1" | awk '
        function send() {
            printf "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"%s\",\"delta\":true}\n", piece
            piece = ""
        }
        NR > 1 { piece = piece "\\n" }
        {
            # By hand: awks disagree on backslashes in gsub.
            for (at = 1; at <= length($0); at++) {
                c = substr($0, at, 1)
                if (c == "\\" || c == "\"") c = "\\" c
                if (c == "\t") c = "\\t"
                piece = piece c
                if (c == " " && length(piece) > 12) send()
            }
        }
        END { if (piece != "") send() }'
}

claude() {
    text=$(json "$1")
    printf '{"type":"system","subtype":"init","cwd":"%s","session_id":"s-1","tools":["Bash"],"model":"scripted"}\n' "$(json "$PWD")"
    printf '{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"scripted","content":[{"type":"text","text":"%s"}],"usage":{"input_tokens":100,"output_tokens":20}},"parent_tool_use_id":null,"session_id":"s-1"}\n' "$text"
    printf '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"%s","session_id":"s-1","total_cost_usd":0.01,"usage":{"input_tokens":100,"output_tokens":20}}\n' "$text"
}

codex() {
    printf '{"type":"thread.started","thread_id":"t-1"}\n{"type":"turn.started"}\n'
    printf '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"%s"}}\n' "$(json "$1")"
    printf '{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":0,"output_tokens":20}}\n'
}

gemini() {
    printf '{"type":"init","session_id":"g-1","model":"scripted"}\n'
    gemini_deltas "$1"
    printf '{"type":"result","status":"success","stats":{"total_tokens":120,"input_tokens":100,"output_tokens":20,"duration_ms":5,"tool_calls":0}}\n'
}

tool() { # FORMAT TEXT
    text=$(json "$2")
    case $1 in
    --claude-tool) printf '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"%s","is_error":false}]},"parent_tool_use_id":null,"session_id":"s-1"}\n' "$text" ;;
    --codex-tool) printf '{"type":"item.completed","item":{"id":"item_9","type":"command_execution","command":"cat notes.txt","aggregated_output":"%s","exit_code":0,"status":"completed"}}\n' "$text" ;;
    --gemini-tool) printf '{"type":"tool_result","tool_id":"tool_1","status":"success","output":"%s"}\n' "$text" ;;
    esac
}

hang() {
    # `wait` lets a trap run at once; a sleep in the foreground would not. The
    # child must not keep our output open after this script exits.
    sleep 3600 >/dev/null 2>&1 &
    child=$!
    trap 'kill "$child" 2>/dev/null; exit 143' TERM
    trap 'kill "$child" 2>/dev/null; exit 130' INT
    wait "$child"
}

hang_on() {
    while :; do sleep 0.2; done
}

has() { # TEXT: whether the prompt contains it, literally
    case $prompt in
    *"$1"*) return 0 ;;
    *) return 1 ;;
    esac
}

run() { # ACTION VALUE
    case $1 in
    --record) printf '%s\n=== end of prompt\n' "$prompt" >>"$2" ;;
    --record-args) printf '%s=== end of arguments\n' "$arguments" >>"$2" ;;
    --record-env) env | grep '^HEIRLOOM_' | sort >>"$2" ;;
    --count)
        counter=$(($(cat "$2" 2>/dev/null || echo 0) + 1))
        echo "$counter" >"$2"
        ;;
    --say) printf '%s\n' "$2" ;;
    --err) printf '%s\n' "$2" >&2 ;;
    # shellcheck disable=SC2059  # the format is the point
    --bytes) printf "$2" ;;
    --cat) cat "$2" ;;
    --flood) yes 'one more line of output that says nothing at all' | megabytes "$2" ;;
    --flood-line) tr '\0' x </dev/zero | megabytes "$2" ;;
    --invalid-utf8) printf 'broken \377\376\300 bytes\n' ;;
    --claude) claude "$2" ;;
    --codex) codex "$2" ;;
    --gemini) gemini "$2" ;;
    --claude-tool | --codex-tool | --gemini-tool) tool "$1" "$2" ;;
    --write) printf 'written by the scripted agent\n' >>"$2" ;;
    --sleep) sleep "$2" ;;
    --hang) if [ "$ignoring" = 1 ]; then hang_on; else hang; fi ;;
    --ignore-term) ignoring=1 && trap '' TERM INT ;;
    --hold-stdout) sleep "$2" & ;;
    --kill-self) kill -"$2" $$ ;;
    --exit) exit "$2" ;;
    esac
}

# First pass: the prompt.
prompt= arguments= counter=0 ignoring=0 expects=
newline='
'
for word; do
    arguments=$arguments$word$newline
    if [ -n "$expects" ]; then
        case $expects in
        -p | --print | --prompt | -m | --message) prompt=$word ;;
        --message-file) prompt=$(cat "$word") ;;
        esac
        expects=
    elif takes_value "$word"; then
        expects=$word
    else
        case $word in
        --read-stdin) prompt=$(cat) ;;
        --read-env) prompt=$(cat "$HEIRLOOM_PROMPT_FILE") ;;
        -*) ;;
        *) prompt=$word ;;
        esac
    fi
done

# Second pass: the actions.
wanted=1
while [ $# -gt 0 ]; do
    action=$1 value=
    shift
    if takes_value "$action"; then
        value=${1-}
        [ $# -gt 0 ] && shift
    fi
    case $action in
    --if) has "$value" || wanted=0 ;;
    --unless) has "$value" && wanted=0 ;;
    --on) [ "$counter" = "$value" ] || wanted=0 ;;
    *)
        [ "$wanted" = 1 ] && run "$action" "$value"
        wanted=1
        ;;
    esac
done
exit 0
