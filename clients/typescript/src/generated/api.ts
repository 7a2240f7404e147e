// Generated from clients/openapi.json by `npm run generate`. Do not edit.

export interface paths {
    "/api/analytics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns success rates, durations and tokens over current episodes. */
        get: operations["get_analytics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/compact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compacts a conversation to a model's window. Omitted text is archived before the answer is sent; `expand` returns
         *     it.
         */
        post: operations["compact_conversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conflicts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists open conflicts, newest winner first. */
        get: operations["list_conflicts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conflicts/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resolves a conflict. Requires the role user, admin or orchestrator. */
        post: operations["resolve_conflict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the context for the next prompt. */
        get: operations["get_context"];
        put?: never;
        /** Same as `GET`, for parameters that are too long for a URL. */
        post: operations["build_context"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Logs an error: a repeated one is counted, a resolved one is reopened. */
        post: operations["log_error"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/errors/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resolves an open error. */
        post: operations["resolve_error"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Streams server-sent events: one for each change, by any process. The first message, `ready`, has only an id, the position of the stream. `Last-Event-ID` resumes after that event or position. */
        get: operations["follow_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/expand/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the full text of a shortened output, or omitted messages. */
        get: operations["expand_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists groups by name. */
        get: operations["list_groups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the sections that contexts of a group contain. */
        get: operations["get_group"];
        put?: never;
        /** Adds a note to a group's memory and its file. */
        post: operations["add_group_note"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the newest audit events of the project, newest first. */
        get: operations["list_changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/history/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the versions of a record and its audit events. */
        get: operations["get_record_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists artifacts, newest first. */
        get: operations["list_artifacts"];
        put?: never;
        /** Registers a file. Size and checksum are read from the file unless the request contains both. */
        post: operations["register_artifact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/artifacts/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Compares each artifact with its file: unchanged, changed or missing. */
        get: operations["verify_artifacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/artifacts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Removes the artifact's entry. The file stays, and `undo` restores the entry. */
        delete: operations["retire_artifact"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/episodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists episodes, newest first. */
        get: operations["list_episodes"];
        put?: never;
        /** Appends an episode. */
        post: operations["log_episode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/knowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists knowledge, newest first. */
        get: operations["list_knowledge"];
        put?: never;
        /** Stores a value for a key. A different value from another source is a conflict, the same value a confirmation. */
        post: operations["add_knowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/knowledge/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one knowledge record, current or retired. */
        get: operations["get_knowledge"];
        put?: never;
        post?: never;
        /** Retires the record: lists and contexts no longer contain it. `undo` restores it. */
        delete: operations["retire_knowledge"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/tool": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs one command. A failure of the command itself is also an answer for the model, with `is_error`. */
        post: operations["call_memory_tool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/working": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the working memory of the token's agent; empty if none was stored. */
        get: operations["get_working_memory"];
        /** Replaces the working memory of the token's agent. */
        put: operations["set_working_memory"];
        post?: never;
        /** Deletes the working memory of the token's agent. */
        delete: operations["clear_working_memory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Searches conversation turns, best first. */
        get: operations["search_messages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists notes, newest first. */
        get: operations["list_notes"];
        put?: never;
        /** Adds a note. */
        post: operations["add_note"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the projects of the store that this token opens, by name. */
        get: operations["list_projects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/prune": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retires attempts and artifacts beyond their retention; only lists them without `apply`.
         * @description The settings `retention.episodes_days` and `retention.artifacts_days` apply. Failures without a later success of
         *     their task stay, and so does what a person said, pinned or restored. The server does the same once a day. Not for
         *     the role agent.
         */
        post: operations["prune_records"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/purge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deletes records permanently, for privacy. Requires the role admin. It cannot be undone. */
        post: operations["purge_records"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Searches memory over all kinds, best hits first. */
        get: operations["get_recall"];
        put?: never;
        /** Same as `GET`, for queries that are too long for a URL. */
        post: operations["recall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/receipts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the newest receipts, newest first, without their sections. */
        get: operations["list_receipts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/receipts/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Compares the items of two receipts. */
        get: operations["compare_receipts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/receipts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one receipt with its sections. */
        get: operations["get_receipt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/records": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists records of any kind, newest first. */
        get: operations["list_records"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/records/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one record, current or retired. */
        get: operations["get_record"];
        put?: never;
        post?: never;
        /** Retires the record; `undo` restores it. */
        delete: operations["retire_record"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/records/{id}/mark": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pins, mutes or rates a record. */
        post: operations["mark_record"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists conversations, newest first. */
        get: operations["list_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one conversation without its turns. */
        get: operations["get_session"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the turns of a conversation, oldest first. */
        get: operations["list_messages"];
        put?: never;
        /** Appends a turn; creates the conversation if it does not exist. */
        post: operations["add_message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns an extractive summary of a conversation. */
        get: operations["get_session_summary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the record counts of the project and the size of the store. */
        get: operations["get_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists tasks, newest first. */
        get: operations["list_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns a task with its steps, files and open errors. */
        get: operations["get_task"];
        /** Creates a task, or updates the given fields of an existing one. */
        put: operations["set_task"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a task as done or failed, and logs an episode. */
        post: operations["end_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/steps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Records a step of a task; `done` completes the pending step with the same text. */
        post: operations["record_step"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the tokens of this server, oldest first. Requires the role admin. */
        get: operations["list_tokens"];
        put?: never;
        /** Creates a token. Requires the role admin. */
        post: operations["create_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revokes a token. Requires the role admin. */
        delete: operations["revoke_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tried": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Finds past attempts similar to an approach, successful ones first. */
        get: operations["list_similar_attempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/undo/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reverts the last change of a record, or a whole import; a second call restores it. An agent may undo the file
         *     changes of its own token, each once, unless another one changed the file since.
         */
        post: operations["undo_change"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspace": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the workspace section of prompts. */
        get: operations["get_workspace"];
        put?: never;
        /** Adds an entry to a file of the workspace. */
        post: operations["add_workspace_entry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Position of an added turn. */
        AddedMessage: {
            id: string;
            /** Format: int64 */
            seq: number;
            session_id: string;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
        };
        /** @description Success rates by approach, agent, category and week. */
        Analytics: {
            by_agent: components["schemas"]["AnalyticsGroup"][];
            by_approach: components["schemas"]["AnalyticsGroup"][];
            by_category: components["schemas"]["AnalyticsGroup"][];
            /** @description Calendar weeks in UTC. */
            by_week: components["schemas"]["AnalyticsGroup"][];
            repeated_failures: components["schemas"]["RepeatedFailure"][];
        };
        /** @description Attempts with a common property. */
        AnalyticsGroup: {
            attempts: number;
            failures: number;
            /** Format: int64 */
            median_duration_ms?: number | null;
            /** Format: int64 */
            median_tokens?: number | null;
            /** @description The approach, agent, category or week; `null` if unknown. */
            name?: string | null;
            /**
             * Format: double
             * @description Share of successes among attempts with a known outcome; `null` without any.
             */
            rate?: number | null;
            successes: number;
            /** @description Number of attempts whose result is not known. */
            unknown: number;
        };
        /** @description A record of any kind: its columns and the attributes of its kind. */
        AnyRecord: components["schemas"]["RecordScope"] & {
            /** @description Attributes of its kind. */
            attrs: {
                [key: string]: unknown;
            };
            /** Format: double */
            confidence: number;
            /** Format: date-time */
            created_at: string;
            id: string;
            key?: string | null;
            /**
             * @description knowledge, task, step, error, episode, artifact, output, note or summary.
             * @enum {string}
             */
            kind: "knowledge" | "task" | "step" | "error" | "episode" | "artifact" | "output" | "note" | "summary" | (string & {});
            project: string;
            replaced_by?: string | null;
            /** Format: date-time */
            retired_at?: string | null;
            source: string;
            text: string;
            /** Format: int32 */
            tokens: number;
            /** Format: date-time */
            true_from?: string | null;
            /** Format: date-time */
            true_to?: string | null;
        };
        /** @description A page of a list. */
        AnyRecordList: {
            /** @description The items of this page. */
            items: components["schemas"]["AnyRecord"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        /** @description A file that a task produced. */
        Artifact: {
            agent_id?: string | null;
            /** @description SHA-256. */
            checksum?: string | null;
            /** Format: date-time */
            created_at: string;
            description?: string | null;
            id: string;
            /** @description Relative to the project's root. */
            path: string;
            problem?: string | null;
            project: string;
            /** Format: int64 */
            size_bytes?: number | null;
            /**
             * @description unchanged, changed, missing or unknown; only after a comparison.
             * @enum {string|null}
             */
            status?: "unchanged" | "changed" | "missing" | "unknown" | null | (string & {});
            task_id?: string | null;
            /**
             * @description file, patch, test, document or config.
             * @enum {string|null}
             */
            type?: "file" | "patch" | "test" | "document" | "config" | null | (string & {});
        };
        /** @description A page of a list. */
        ArtifactList: {
            /** @description The items of this page. */
            items: components["schemas"]["Artifact"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        ArtifactRequest: {
            /** @description The agent that produced it. */
            agent_id?: string | null;
            /** @description SHA-256, for files that the server cannot read; together with `size_bytes`. */
            checksum?: string | null;
            description?: string | null;
            /** @description Relative to the project's root. */
            path: string;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /**
             * Format: int64
             * @description Size in bytes, for files that the server cannot read; together with `checksum`.
             */
            size_bytes?: number | null;
            /** @description The task; created if it does not exist. */
            task_id: string;
            /** @description Type of the artifact; `file` by default. */
            type?: ("file" | "patch" | "test" | "document" | "config") | null;
        };
        /** @description Schema of [`CompactRequest`]: its messages have the format of the provider. */
        CompactRequest: {
            agent_id?: string | null;
            format?: ("openai" | "anthropic" | "responses" | "auto") | null;
            /** @description The group of the conversation; requires a session. */
            group?: string | null;
            /** @description An array of messages, or a whole request body, in the format of the provider. */
            messages: components["schemas"]["WindowMessage"][];
            /** @description The model. */
            model?: string | null;
            project?: string | null;
            /** @description The conversation; omitted messages are archived under it. */
            session_id?: string | null;
            /**
             * Format: int32
             * @description Size of the window in tokens; configured by default.
             */
            target_tokens?: number | null;
        };
        /** @description A compacted window. */
        CompactResponse: {
            /** @description Messages to send, in the format of the request. */
            messages: unknown;
            notes: string[];
            /** @description Report of the compaction. */
            report: Record<string, unknown>;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
        };
        /** @description Different values of one key without a decision. */
        Conflict: {
            category: string;
            /** @description True if neither value is used until the conflict is resolved. */
            disputed: boolean;
            /** @description Id of the winner. */
            id: string;
            key?: string | null;
            /** @description Newest first. */
            losers: components["schemas"]["Knowledge"][];
            winner: components["schemas"]["Knowledge"];
        };
        /** @description A page of a list. */
        ConflictList: {
            /** @description The items of this page. */
            items: components["schemas"]["Conflict"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        /** @description A context with its receipt. */
        Context: {
            chars: number;
            notes: string[];
            /** @description The receipt's id; `null` for a context without text. */
            receipt?: string | null;
            sections: components["schemas"]["ContextSection"][];
            text: string;
            tokens: number;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
        };
        /** @description An item that was included in a context or left out. */
        ContextItem: {
            chars: number;
            file?: string | null;
            id?: string | null;
            included: boolean;
            /** @description Reason for inclusion or omission. */
            reason: string;
            /**
             * Format: double
             * @description Calibrated relevance to the question, 0 to 1, if it was compared.
             */
            relevance?: number | null;
            /** Format: double */
            score?: number | null;
            text: string;
            tokens: number;
            /**
             * Format: double
             * @description Worth in the selection, if it competed.
             */
            worth?: number | null;
        };
        ContextParams: {
            /** @description The agent that gets the context. */
            agent_id?: string | null;
            /** @description Maximum number of characters. */
            budget_chars?: number | null;
            /** @description Maximum number of tokens. */
            budget_tokens?: number | null;
            /** @description The agent's group. */
            group?: string | null;
            /** @description The agent with directives: `coder[input:a.md][tail:50]`. */
            invocation?: string | null;
            /** @description The current phase. */
            phase?: string | null;
            /** @description The agent's plan: PLAN or STAGE/PLAN. */
            plan?: string | null;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /** @description Additional search words. */
            query?: string | null;
            /** @description The session that is continued. */
            session_id?: string | null;
            /** @description The current task. */
            task_id?: string | null;
        };
        /** @description A section of a context. */
        ContextSection: {
            chars: number;
            items: components["schemas"]["ContextItem"][];
            name: string;
        };
        /** @description Creates a file. */
        CreateCall: {
            /** @description Calling agent; the token's role by default. */
            agent_id?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            command: "create";
            file_text: string;
            path: string;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
        };
        /** @description A created token. */
        CreatedToken: {
            id: string;
            /** @description The secret. It is shown only once. */
            token: string;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
        };
        /** @description Deletes a file or a folder. */
        DeleteCall: {
            /** @description Calling agent; the token's role by default. */
            agent_id?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            command: "delete";
            path: string;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
        };
        /** @description An item of a receipt. */
        DiffItem: {
            /** @description The record, the file, or the text. */
            name: string;
            section: string;
            text: string;
        };
        EndTaskRequest: {
            agent_id?: string | null;
            /** @description The approach. */
            approach?: string | null;
            /** @description The outcome. */
            outcome?: string | null;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /**
             * @description Final state of a task.
             * @enum {string}
             */
            state: "done" | "failed";
        };
        /** @description Result of ending a task. */
        EndTaskResponse: {
            /** @description Id of the logged episode. */
            episode: string;
            /** @enum {string} */
            state: "open" | "done" | "failed" | (string & {});
            task_id: string;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
        };
        /** @description Result of adding an entry. */
        EntryReport: {
            /** @description False if the file already contained the entry. */
            added: boolean;
            /** @description The file. */
            file: string;
            /** @description The kinds of secrets that were left out. */
            redacted: string[];
            /** @description Id of the file change for `undo`. Missing for entries of a user. */
            undo?: string | null;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
        };
        /** @description One attempt at a task. */
        Episode: {
            /**
             * @description attempted, completed, failed or retried.
             * @enum {string|null}
             */
            action?: "attempted" | "completed" | "failed" | "retried" | null | (string & {});
            agent_id?: string | null;
            approach?: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: int64 */
            duration_ms?: number | null;
            id: string;
            /** Format: int32 */
            iteration?: number | null;
            outcome?: string | null;
            phase?: string | null;
            project: string;
            source: string;
            task_id?: string | null;
            /** Format: int64 */
            tokens_in?: number | null;
            /** Format: int64 */
            tokens_out?: number | null;
        };
        /** @description A page of a list. */
        EpisodeList: {
            /** @description The items of this page. */
            items: components["schemas"]["Episode"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        EpisodeRequest: {
            /**
             * @description Action of an episode.
             * @enum {string}
             */
            action: "attempted" | "completed" | "failed" | "retried";
            /** @description The agent that made the attempt. */
            agent_id?: string | null;
            /** @description The approach. */
            approach?: string | null;
            /** Format: int64 */
            duration_ms?: number | null;
            /** Format: int32 */
            iteration?: number | null;
            /** @description The outcome. */
            outcome?: string | null;
            phase?: string | null;
            plan?: string | null;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            session_id?: string | null;
            /** @description Source; the agent by default. */
            source?: string | null;
            /** @description The task; created if it does not exist. */
            task_id: string;
            /** Format: int64 */
            tokens_in?: number | null;
            /** Format: int64 */
            tokens_out?: number | null;
        };
        /** @description Audit event. */
        EventEntry: {
            /**
             * @description created, replaced, conflict, confirmed, retired, restored, resolved, reopened, imported, reversed, purged or
             *     marked.
             * @enum {string}
             */
            action: "created" | "replaced" | "conflict" | "confirmed" | "retired" | "restored" | "resolved" | "reopened" | "imported" | "reversed" | "purged" | "marked" | (string & {});
            /** Format: date-time */
            at: string;
            /** @description Actor. */
            by: string;
            /** @description Category of knowledge. */
            category?: string | null;
            detail?: string | null;
            /** @description The record. */
            id?: string | null;
            /** @description The import batch. */
            import?: string | null;
            /** @description Key of the record. */
            key?: string | null;
            /**
             * @description Kind of the record; absent with the next three if the record was purged, or an import is meant.
             * @enum {string|null}
             */
            kind?: "knowledge" | "task" | "step" | "error" | "episode" | "artifact" | "output" | "note" | "summary" | null | (string & {});
            /** @description The other record involved. */
            other?: string | null;
            /** @description Task of the record. */
            task_id?: string | null;
        };
        /** @description A page of a list. */
        EventEntryList: {
            /** @description The items of this page. */
            items: components["schemas"]["EventEntry"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        /** @description Archived content of a window. */
        ExpandedContent: {
            file: string;
            id: string;
            /**
             * @description output or messages.
             * @enum {string}
             */
            kind: "output" | "messages" | (string & {});
            messages?: unknown[] | null;
            text?: string | null;
        };
        /** @description A found turn. */
        FoundMessage: components["schemas"]["MessageInfo"] & {
            /** Format: double */
            score: number;
        };
        /** @description A page of a list. */
        FoundMessageList: {
            /** @description The items of this page. */
            items: components["schemas"]["FoundMessage"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        /** @description A group with a folder. */
        GroupFiles: {
            /** @description Existing files of the group. */
            files: string[];
            name: string;
        };
        /** @description A page of a list. */
        GroupFilesList: {
            /** @description The items of this page. */
            items: components["schemas"]["GroupFiles"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        GroupNoteRequest: {
            agent_id?: string | null;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /** @description Section; `Notes` by default. */
            section?: string | null;
            text: string;
        };
        /** @description Inserts a text after a line. */
        InsertCall: {
            /** @description Calling agent; the token's role by default. */
            agent_id?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            command: "insert";
            insert_line: number;
            insert_text: string;
            path: string;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
        };
        /** @description Long-term knowledge. */
        Knowledge: components["schemas"]["RecordScope"] & {
            category: string;
            /**
             * Format: double
             * @description Confidence of the source, from 0 to 1.
             */
            confidence: number;
            /**
             * Format: int64
             * @description Number of confirmations.
             */
            confirmations: number;
            /** Format: date-time */
            created_at: string;
            /** @description True if sources disagree and the conflict is not resolved. */
            disputed: boolean;
            id: string;
            key?: string | null;
            muted: boolean;
            pinned: boolean;
            project: string;
            /** @description True for a value that an agent proposed. */
            proposal: boolean;
            /** @description Reason of a decision. */
            rationale?: string | null;
            /** @description Source of the value. */
            source: string;
            /**
             * Format: date-time
             * @description Time of the last write or confirmation.
             */
            updated_at: string;
            /** @description The value. */
            value: string;
        };
        /** @description A page of a list. */
        KnowledgeList: {
            /** @description The items of this page. */
            items: components["schemas"]["Knowledge"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        /** @description Result of logging an error. */
        LoggedError: components["schemas"]["WriteOutcome"] & {
            resolved_before?: components["schemas"]["PastResolution"] | null;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
        };
        /** @description A turn of a conversation. */
        MessageInfo: {
            /** Format: date-time */
            created_at: string;
            id: string;
            /**
             * @description user, assistant, system, tool_call or tool_result.
             * @enum {string}
             */
            role: "user" | "assistant" | "system" | "tool_call" | "tool_result" | (string & {});
            sender?: string | null;
            /**
             * Format: int64
             * @description Position, from 0.
             */
            seq: number;
            session_id: string;
            text: string;
            /** Format: int32 */
            tokens: number;
        };
        /** @description A page of a list. */
        MessageInfoList: {
            /** @description The items of this page. */
            items: components["schemas"]["MessageInfo"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        MessageRequest: {
            /** @description Agent of the conversation, if it is new. */
            agent_id?: string | null;
            /** @description True for data of a program, such as a mark for removed items: no prompt and no search shows it. */
            machine?: boolean;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /**
             * @description Role of the speaker.
             * @enum {string}
             */
            role: "user" | "assistant" | "system" | "tool" | "tool_call" | "tool_result";
            /** @description Name of the sender, if the role is not enough. */
            sender?: string | null;
            /** @description Task of the conversation, if it is new. */
            task_id?: string | null;
            /** @description Text of the message. */
            text: string;
        };
        NewEntry: {
            /** @description Source; the token's role by default. */
            agent_id?: string | null;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /** @description Solution of an error. */
            solution?: string | null;
            text: string;
            /**
             * @description Type of an entry; it selects the workspace file.
             * @enum {string}
             */
            type: "fact" | "learning" | "error" | "daily" | "feature";
            /** @description True for the user's own workspace (`workspace.user_folder`); not for a token of one project. */
            user?: boolean;
        };
        NewError: {
            /** @description Source; the token's role by default. */
            agent_id?: string | null;
            /** Format: int32 */
            iteration?: number | null;
            phase?: string | null;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            task_id?: string | null;
            text: string;
        };
        NewKnowledge: components["schemas"]["ScopeFields"] & {
            /** @description convention, architecture, decision, fact (the default), or any other word. */
            category?: string | null;
            /**
             * Format: double
             * @description Confidence of the source; 0.8 for agents, otherwise 1.0.
             */
            confidence?: number | null;
            /** @description Key; derived from the text by default. */
            key?: string | null;
            /** @description True for data of a program, such as a value of a store: no prompt and no search shows it. */
            machine?: boolean;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /** @description Reason of a decision. */
            rationale?: string | null;
            /** @description Source; the token's role by default. Values of agents are proposals. */
            source?: string | null;
            /**
             * Format: date-time
             * @description Start of validity.
             */
            true_from?: string | null;
            /**
             * Format: date-time
             * @description End of validity.
             */
            true_to?: string | null;
            /** @description The value. */
            value: string;
        };
        NewMark: {
            /**
             * @description Verdict on a record.
             * @enum {string}
             */
            mark: "pinned" | "not pinned" | "muted" | "not muted" | "useful" | "not useful";
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
        };
        NewStep: {
            /** @description Source; the token's role by default. */
            agent_id?: string | null;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /**
             * @description State of a step.
             * @enum {string}
             */
            state: "pending" | "done";
            text: string;
        };
        NewToken: {
            /** @description Name for people, such as that of the machine that gets it; at most 80 characters. */
            name?: string | null;
            /** @description The only project that it opens; all projects of the store if missing. */
            project?: string | null;
            /**
             * @description Role of a token's holder.
             * @enum {string}
             */
            role: "agent" | "orchestrator" | "user" | "admin";
        };
        /** @description A note. */
        Note: components["schemas"]["RecordScope"] & {
            /** @description Section of the note. */
            category?: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description File that contains it. */
            file?: string | null;
            id: string;
            project: string;
            source: string;
            text: string;
        };
        /** @description A page of a list. */
        NoteList: {
            /** @description The items of this page. */
            items: components["schemas"]["Note"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        NoteRequest: components["schemas"]["ScopeFields"] & {
            /** @description Section; `Notes` by default. */
            category?: string | null;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /** @description Source; the token's role by default. */
            source?: string | null;
            text: string;
        };
        /** @description Resolution of an error. */
        PastResolution: {
            id: string;
            resolution: string;
        };
        /** @description Problem document (RFC 9457). */
        ProblemDocument: {
            /** @description Cause and location. */
            detail: string;
            /** @description Next step. */
            hint?: string | null;
            /** Format: int32 */
            status: number;
            title: string;
            /** @description Always `about:blank`; the status is the type. */
            type: string;
        };
        /** @description A project of the store. */
        Project: {
            /** @description The short name for people. */
            display_name: string;
            name: string;
            /** @description True for the served project. */
            served: boolean;
        };
        /** @description A page of a list. */
        ProjectList: {
            /** @description The items of this page. */
            items: components["schemas"]["Project"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        /** @description Records that were retired; without `apply`, those that would be. */
        PruneReport: {
            applied: boolean;
            /** @description Number of artifacts beyond their retention. */
            artifacts: number;
            /** @description Number of episodes beyond their retention. */
            episodes: number;
            /** @description The records, oldest first, at most 1,000; `POST /api/undo/{id}` restores one. */
            ids: string[];
            /** @description True if more records are beyond their retention: repeat the request. */
            more: boolean;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
        };
        PruneRequest: {
            /** @description Retires the records; otherwise they are only listed. */
            apply?: boolean;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
        };
        /** @description Numbers of deleted items; with `dry_run`, of those that would be deleted. */
        PurgeReport: {
            /** @description Copies of the database, which may still contain the data. */
            copies: number;
            dry_run: boolean;
            /** Format: int64 */
            messages: number;
            /** Format: int64 */
            records: number;
            /** Format: int64 */
            sessions: number;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
        };
        PurgeRequest: {
            /** @description Only reports what would be deleted. */
            dry_run?: boolean;
            /** @description Records to delete, with all their earlier and later versions. */
            ids?: string[];
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /** @description Deletes everything that contains this text. */
            query?: string | null;
            /** @description Deletes this conversation and its records. */
            session_id?: string | null;
        };
        /** @description A search hit. */
        RecallHit: {
            agent_id?: string | null;
            category?: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description Ids of near-duplicates, grouped under this hit. */
            folded?: string[];
            /**
             * @description Grade of the relevance: strong, likely, possible or weak.
             * @enum {string|null}
             */
            grade?: "strong" | "likely" | "possible" | "weak" | null | (string & {});
            id: string;
            key?: string | null;
            /**
             * @description Kind of the record; `message` for a conversation turn.
             * @enum {string}
             */
            kind: "knowledge" | "task" | "step" | "error" | "episode" | "artifact" | "output" | "note" | "summary" | "message" | (string & {});
            /** @description Text with the fix of an error, the reason of a decision or the outcome of an episode, if it has one. */
            meaning?: string | null;
            /** @description Parts of its score, by name. */
            parts?: Record<string, unknown> | null;
            /**
             * Format: double
             * @description Calibrated chance that it is about the query, 0 to 1; missing if the query has only filters.
             */
            relevance?: number | null;
            /** Format: double */
            score: number;
            session_id?: string | null;
            source: string;
            task_id?: string | null;
            text: string;
        };
        RecallParams: {
            /** @description Only by this agent. */
            agent_id?: string | null;
            /**
             * Format: date-time
             * @description Searches memory as of this time.
             */
            as_of?: string | null;
            /** @description Maximum number of tokens of text. */
            budget_tokens?: number | null;
            conversations?: components["schemas"]["WantedConversations"] | null;
            /** @description Includes the parts of each score. */
            explain?: boolean;
            /** @description Maximum number of hits; 10 by default, or as many as fit the budget. */
            k?: number | null;
            /** @description Only these kinds, separated by commas or, in a body, as a list; `message` for conversation turns. */
            kinds?: null | string | ("knowledge" | "task" | "step" | "error" | "episode" | "artifact" | "output" | "note" | "summary" | "message")[];
            /** @description Lists turns among `hits`, as before they had a list of their own. Only for the first version. */
            messages?: boolean;
            /**
             * Format: double
             * @description Relevance from which a hit is returned, 0 to 1; by default weak hits are left out, and 0 returns them too.
             */
            min_relevance?: number | null;
            /** @description Ranks records of this task higher. */
            near_task?: string | null;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /** @description The query; `kind:error task:42 "two words"` filter it. */
            query: string;
            /** @description Only of this session. */
            session_id?: string | null;
            /** @description Only of this task. */
            task_id?: string | null;
        };
        /** @description Search results. */
        RecallResponse: {
            /** @description Turns of conversations, best first. */
            conversations: components["schemas"]["RecallHit"][];
            /** @description The records, best first; ties are ordered oldest first. Conversations do not affect them. */
            hits: components["schemas"]["RecallHit"][];
            /** @description Remarks about the query. */
            notes: string[];
            /**
             * Format: int64
             * @description Duration in microseconds.
             */
            took_us: number;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
            /** @description Number of hits that were left out because their relevance is too low. */
            weak: number;
        };
        /** @description A receipt: the request, the budget, the size, and each item with its reason. */
        Receipt: {
            /** Format: date-time */
            created_at: string;
            id: string;
        } & {
            [key: string]: unknown;
        };
        /** @description Difference between two contexts. */
        ReceiptDiff: {
            came: components["schemas"]["DiffItem"][];
            /** @description Items that are in both. */
            stayed: number;
            went: components["schemas"]["DiffItem"][];
        };
        /** @description A page of a list. */
        ReceiptList: {
            /** @description The items of this page. */
            items: components["schemas"]["Receipt"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        /** @description History of a record. */
        RecordHistory: {
            /** @description Audit events, oldest first. */
            events: components["schemas"]["EventEntry"][];
            /** @description Earlier and later versions, oldest first. */
            records: components["schemas"]["AnyRecord"][];
        };
        /** @description Scope of a record. */
        RecordScope: {
            agent_id?: string | null;
            group?: string | null;
            /** Format: int32 */
            iteration?: number | null;
            phase?: string | null;
            plan?: string | null;
            session_id?: string | null;
            task_id?: string | null;
        };
        /** @description Renames a file or a folder. */
        RenameCall: {
            /** @description Calling agent; the token's role by default. */
            agent_id?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            command: "rename";
            new_path: string;
            old_path: string;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
        };
        /** @description An approach that failed repeatedly and never succeeded. */
        RepeatedFailure: {
            approach: string;
            failures: number;
            /** Format: date-time */
            last_at: string;
            last_outcome?: string | null;
            tasks: string[];
        };
        ResolveErrorRequest: {
            /** @description Source; the token's role by default. */
            agent_id?: string | null;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /** @description The resolution. */
            resolution: string;
        };
        ResolveRequest: {
            /** @description Id of the record to keep. */
            keep: string;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
        };
        /** @description Scope of a record in a request body. */
        ScopeFields: {
            /** @description The agent. */
            agent_id?: string | null;
            /** @description The group. */
            group?: string | null;
            /**
             * Format: int32
             * @description The iteration of the run, from 1.
             */
            iteration?: number | null;
            /** @description The phase of the task. */
            phase?: string | null;
            /** @description The plan. */
            plan?: string | null;
            /** @description The session. */
            session_id?: string | null;
            /** @description The task. */
            task_id?: string | null;
        };
        /** @description Item of a section. */
        SectionItem: {
            file?: string | null;
            text: string;
        };
        /** @description A conversation. */
        SessionInfo: {
            agent_id?: string | null;
            /** Format: date-time */
            ended_at?: string | null;
            id: string;
            project: string;
            /** Format: date-time */
            started_at: string;
            task_id?: string | null;
        };
        /** @description A page of a list. */
        SessionInfoList: {
            /** @description The items of this page. */
            items: components["schemas"]["SessionInfo"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        /** @description Summary of a conversation. */
        SessionSummary: {
            /** @description Number of summarised interactions. */
            interactions: number;
            /** @description Number of interactions included in full. */
            live: number;
            /** @description Lines for older interactions, oldest first. */
            older: string[];
            /** @description One line for each recent interaction, oldest first. */
            recent: string[];
            session_id: string;
        };
        /** @description A past attempt similar to the planned one. */
        SimilarAttempt: components["schemas"]["Episode"] & {
            /** @description Always true: attempts that are only related are left out. */
            alike: boolean;
            /** Format: double */
            score: number;
        };
        /** @description A page of a list. */
        SimilarAttemptList: {
            /** @description The items of this page. */
            items: components["schemas"]["SimilarAttempt"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        /** @description Similar past attempts. */
        SimilarAttempts: components["schemas"]["SimilarAttemptList"] & {
            /** @description True if a similar approach has failed. */
            failed: boolean;
        };
        /** @description State of the project and the store. */
        Status: {
            /** @description Current records by kind. */
            counts: {
                [key: string]: number;
            };
            /** Format: date-time */
            last_write?: string | null;
            project: string;
            /** Format: int32 */
            schema_version: number;
            /** Format: int64 */
            size_bytes: number;
            version: string;
        };
        /** @description Replaces a text that occurs exactly once. */
        StrReplaceCall: {
            /** @description Calling agent; the token's role by default. */
            agent_id?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            command: "str_replace";
            new_str?: string | null;
            old_str: string;
            path: string;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
        };
        /** @description A task. */
        Task: {
            blocked_reason?: string | null;
            branch?: string | null;
            /** @description Id of the record. */
            id: string;
            /** Format: int32 */
            iteration?: number | null;
            phase?: string | null;
            /** Format: int64 */
            pr_number?: number | null;
            project: string;
            source: string;
            /**
             * @description open, done or failed.
             * @enum {string}
             */
            state: "open" | "done" | "failed" | (string & {});
            /** @description Id of the task, as people and agents use it. */
            task_id: string;
            /** @description Given title, otherwise its type and id. */
            title: string;
            type?: string | null;
            /** Format: date-time */
            updated_at: string;
        };
        /** @description A page of a list. */
        TaskList: {
            /** @description The items of this page. */
            items: components["schemas"]["Task"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        TaskRequest: {
            /** @description Reason why it is blocked; an empty text removes it. */
            blocked_reason?: string | null;
            branch?: string | null;
            /** Format: int32 */
            iteration?: number | null;
            phase?: string | null;
            /** Format: int64 */
            pr_number?: number | null;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /** @description Source; the token's role by default. */
            source?: string | null;
            state?: ("open" | "done" | "failed") | null;
            /** @description Title in a person's words; an empty text removes it. */
            title?: string | null;
            /** @description issue, pr, or any other word. */
            type?: string | null;
        };
        /** @description A task with its steps, files and open errors, each list oldest first. */
        TaskResponse: components["schemas"]["Task"] & {
            completed_steps: components["schemas"]["AnyRecord"][];
            files: components["schemas"]["AnyRecord"][];
            open_errors: components["schemas"]["AnyRecord"][];
            pending_steps: components["schemas"]["AnyRecord"][];
        };
        /** @description A token without its secret. */
        Token: {
            /** Format: date-time */
            created_at: string;
            id: string;
            /** @description Name for people, such as that of the machine that has it. */
            name?: string | null;
            /** @description The only project that it opens; all projects of the store if missing. */
            project?: string | null;
            /** @enum {string} */
            role: "agent" | "orchestrator" | "user" | "admin" | (string & {});
        };
        /** @description A page of a list. */
        TokenList: {
            /** @description The items of this page. */
            items: components["schemas"]["Token"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        /** @description Input of a tool call, as the model writes it. */
        ToolCall: components["schemas"]["ViewCall"] | components["schemas"]["CreateCall"] | components["schemas"]["StrReplaceCall"] | components["schemas"]["InsertCall"] | components["schemas"]["DeleteCall"] | components["schemas"]["RenameCall"];
        /** @description Result of a tool call. */
        ToolResult: {
            /** @description Text for the model. */
            content: string;
            /** @description True if the command failed; `content` then contains the reason. */
            is_error: boolean;
            /** @description Id of the file change for `undo`. */
            undo?: string | null;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
        };
        /** @description Shows a folder or a file. */
        ViewCall: {
            /** @description Calling agent; the token's role by default. */
            agent_id?: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            command: "view";
            path: string;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            /** @description First and last line; -1 is the end. */
            view_range?: number[] | null;
        };
        /**
         * @description Turns of conversations in an answer.
         * @enum {string}
         */
        WantedConversations: "best" | "all" | "none";
        /** @description A message with the fields common to all providers; providers may add more. */
        WindowMessage: {
            /** @description A text, or content parts of the provider. */
            content?: unknown;
            /**
             * @description Role of the message.
             * @enum {string}
             */
            role: "user" | "assistant";
        };
        WorkingMemoryRequest: {
            active_constraints?: string[];
            /** @description The agent; the token's role by default. */
            agent_id?: string | null;
            current_plan?: string | null;
            /** @description The project; by default the token's project or the served one. */
            project?: string | null;
            scratchpad?: string[];
            task_context?: {
                [key: string]: unknown;
            };
        };
        /** @description Working memory of an agent. */
        WorkingMemoryState: {
            active_constraints: string[];
            agent_id: string;
            current_plan?: string | null;
            scratchpad: string[];
            task_context: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            updated_at: string;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
        };
        /** @description Section of workspace files as prompts contain it. */
        WorkspaceSection: {
            heading: string;
            items: components["schemas"]["SectionItem"][];
            name: string;
            /** @description Files that could not be read, with the reason. */
            notes: string[];
        };
        /** @description A page of a list. */
        WorkspaceSectionList: {
            /** @description The items of this page. */
            items: components["schemas"]["WorkspaceSection"][];
            /** @description `cursor` of the next page; `null` on the last page. */
            next?: string | null;
        };
        /** @description Result of a write. */
        WriteOutcome: {
            /** @description The record that was created, confirmed or changed. */
            id: string;
            /**
             * @description created, confirmed, replaced, conflict, unchanged, retired, restored, resolved, reopened or marked.
             * @enum {string}
             */
            outcome: "created" | "confirmed" | "replaced" | "conflict" | "unchanged" | "retired" | "restored" | "resolved" | "reopened" | "marked" | "revoked" | (string & {});
            /** @description Kinds of removed secrets, one for each. */
            redacted?: string[];
            /** @description The record that it replaced, or that lost a conflict to it. */
            replaced?: string | null;
            /** @description Unknown fields of the request, which were ignored. */
            warnings?: string[];
            /** @description The winner, if this record lost a conflict. */
            winner?: string | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_analytics: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Only of this task. */
                task_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Analytics"];
                };
            };
        };
    };
    compact_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompactRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompactResponse"];
                };
            };
        };
    };
    list_conflicts: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConflictList"];
                };
            };
        };
    };
    resolve_conflict: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolveRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    get_context: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description The current task. */
                task_id?: string;
                /** @description The current phase. */
                phase?: string;
                /** @description The agent that gets the context. */
                agent_id?: string;
                /** @description The agent's plan: PLAN or STAGE/PLAN. */
                plan?: string;
                /** @description The agent's group. */
                group?: string;
                /** @description The session that is continued. */
                session_id?: string;
                /** @description Additional search words. */
                query?: string;
                /** @description The agent with directives: `coder[input:a.md][tail:50]`. */
                invocation?: string;
                /** @description Maximum number of characters. */
                budget_chars?: number;
                /** @description Maximum number of tokens. */
                budget_tokens?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Context"];
                };
            };
        };
    };
    build_context: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContextParams"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Context"];
                };
            };
        };
    };
    log_error: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewError"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoggedError"];
                };
            };
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoggedError"];
                };
            };
        };
    };
    resolve_error: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolveErrorRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    follow_events: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    expand_content: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description The conversation; its later windows keep the content in full. */
                session_id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExpandedContent"];
                };
            };
        };
    };
    list_groups: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupFilesList"];
                };
            };
        };
    };
    get_group: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceSectionList"];
                };
            };
        };
    };
    add_group_note: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GroupNoteRequest"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    list_changes: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventEntryList"];
                };
            };
        };
    };
    get_record_history: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordHistory"];
                };
            };
        };
    };
    list_artifacts: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Only of this task. */
                task_id?: string;
                /** @description Only of this type. */
                type?: "file" | "patch" | "test" | "document" | "config";
                /** @description Only with this path. */
                path?: string;
                /** @description `next` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArtifactList"];
                };
            };
        };
    };
    register_artifact: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArtifactRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    verify_artifacts: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Only of this task. */
                task_id?: string;
                /** @description Only of this type. */
                type?: "file" | "patch" | "test" | "document" | "config";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArtifactList"];
                };
            };
        };
    };
    retire_artifact: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /**
                 * @description Name of the calling agent in the history; it gives no permission. An agent's token removes only what it
                 *     registered.
                 */
                agent_id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    list_episodes: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Only of this task. */
                task_id?: string;
                /** @description Only by this agent. */
                agent_id?: string;
                /** @description Only with this action. */
                action?: "attempted" | "completed" | "failed" | "retried";
                /** @description Recorded at this time or later. */
                since?: string;
                /** @description Recorded before this time. */
                until?: string;
                /** @description `next` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EpisodeList"];
                };
            };
        };
    };
    log_episode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EpisodeRequest"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    list_knowledge: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Only of this category: convention, architecture, decision, fact, or any other word. */
                category?: string;
                /** @description Only with this key. */
                key?: string;
                /** @description Only keys with this prefix. */
                key_prefix?: string;
                /** @description Only by this source. */
                source?: string;
                /** @description Only of this task. */
                task_id?: string;
                /** @description Only texts that contain this, ignoring case. */
                text?: string;
                /** @description Includes retired records. */
                all?: boolean;
                /** @description `next` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeList"];
                };
            };
        };
    };
    add_knowledge: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewKnowledge"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    get_knowledge: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Knowledge"];
                };
            };
        };
    };
    retire_knowledge: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    call_memory_tool: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolCall"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolResult"];
                };
            };
        };
    };
    get_working_memory: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkingMemoryState"];
                };
            };
        };
    };
    set_working_memory: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkingMemoryRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkingMemoryState"];
                };
            };
        };
    };
    clear_working_memory: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    search_messages: {
        parameters: {
            query: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Search words. */
                query: string;
                /** @description Only in this conversation. */
                session_id?: string;
                /** @description Maximum number of hits. */
                k?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundMessageList"];
                };
            };
        };
    };
    list_notes: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Only of this section. */
                category?: string;
                /** @description Only of this group. */
                group?: string;
                /** @description Only of this task. */
                task_id?: string;
                /** @description `next` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoteList"];
                };
            };
        };
    };
    add_note: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NoteRequest"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    list_projects: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectList"];
                };
            };
        };
    };
    prune_records: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PruneRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PruneReport"];
                };
            };
        };
    };
    purge_records: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PurgeRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PurgeReport"];
                };
            };
        };
    };
    get_recall: {
        parameters: {
            query: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description The query; `kind:error task:42 "two words"` filter it. */
                query: string;
                /** @description Maximum number of hits; 10 by default, or as many as fit the budget. */
                k?: number;
                /** @description Maximum number of tokens of text. */
                budget_tokens?: number;
                /** @description Only these kinds, separated by commas or, in a body, as a list; `message` for conversation turns. */
                kinds?: string;
                /** @description Only of this task. */
                task_id?: string;
                /** @description Only of this session. */
                session_id?: string;
                /** @description Only by this agent. */
                agent_id?: string;
                /** @description Ranks records of this task higher. */
                near_task?: string;
                /** @description Searches memory as of this time. */
                as_of?: string;
                /** @description Relevance from which a hit is returned, 0 to 1; by default weak hits are left out, and 0 returns them too. */
                min_relevance?: number;
                /** @description Includes the parts of each score. */
                explain?: boolean;
                /**
                 * @description Turns of conversations in the answer: `best`, one of each of three conversations, which is the default without
                 *     kinds; `all` that fit; `none`.
                 */
                conversations?: components["schemas"]["WantedConversations"];
                /** @description Lists turns among `hits`, as before they had a list of their own. Only for the first version. */
                messages?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallResponse"];
                };
            };
        };
    };
    recall: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecallParams"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallResponse"];
                };
            };
        };
    };
    list_receipts: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptList"];
                };
            };
        };
    };
    compare_receipts: {
        parameters: {
            query: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description The earlier receipt. */
                first: string;
                /** @description The later receipt. */
                second: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptDiff"];
                };
            };
        };
    };
    get_receipt: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipt"];
                };
            };
        };
    };
    list_records: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Only of this kind. */
                kind?: "knowledge" | "task" | "step" | "error" | "episode" | "artifact" | "output" | "note" | "summary";
                /** @description Only of this category. */
                category?: string;
                /** @description Only in this state: open, resolved, pending, done, failed. */
                state?: "open" | "resolved" | "pending" | "done" | "failed";
                /** @description Only of this task. */
                task_id?: string;
                /** @description Only by this agent. */
                agent_id?: string;
                /** @description Only by this source. */
                source?: string;
                /** @description Includes retired records. */
                all?: boolean;
                /** @description `next` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnyRecordList"];
                };
            };
        };
    };
    get_record: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnyRecord"];
                };
            };
        };
    };
    retire_record: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    mark_record: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMark"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    list_sessions: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Only of this task. */
                task_id?: string;
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionInfoList"];
                };
            };
        };
    };
    get_session: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionInfo"];
                };
            };
        };
    };
    list_messages: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description `next` of the previous page. */
                cursor?: number;
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageInfoList"];
                };
            };
        };
    };
    add_message: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageRequest"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddedMessage"];
                };
            };
        };
    };
    get_session_summary: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummary"];
                };
            };
        };
    };
    get_status: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Status"];
                };
            };
        };
    };
    list_tasks: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Only in this state. */
                state?: "open" | "done" | "failed";
                /** @description `next` of the previous page. */
                cursor?: string;
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskList"];
                };
            };
        };
    };
    get_task: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskResponse"];
                };
            };
        };
    };
    set_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    end_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndTaskRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndTaskResponse"];
                };
            };
        };
    };
    record_step: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewStep"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    list_tokens: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description Maximum number of items. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenList"];
                };
            };
        };
    };
    create_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewToken"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedToken"];
                };
            };
        };
    };
    revoke_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    list_similar_attempts: {
        parameters: {
            query: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
                /** @description The planned approach. */
                approach: string;
                /** @description Only in this task. */
                task_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SimilarAttempts"];
                };
            };
        };
    };
    undo_change: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteOutcome"];
                };
            };
        };
    };
    get_workspace: {
        parameters: {
            query?: {
                /** @description The project; by default the token's project or the served one. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceSection"];
                };
            };
        };
    };
    add_workspace_entry: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEntry"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryReport"];
                };
            };
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryReport"];
                };
            };
        };
    };
}
