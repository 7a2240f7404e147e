"""Store of LangGraph in the memory of a project."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, cast
from urllib.parse import quote, unquote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from heirloom_client._generated.models import Knowledge
from heirloom_client._sync.memory import Memory
from heirloom_client.errors import HeirloomError, NotFound

logger: logging.Logger = logging.getLogger("heirloom_client")

# Maxima of the API.
PAGE_ITEMS = 1000
HITS_MAX = 1000


class StoreConflict(HeirloomError):
    """A value was not taken over, because a source of higher authority has set the item."""


class HeirloomStore(BaseStore):
    """Store whose items are knowledge of a project.

    An item is a record of the category `category`. Its key is the namespace and the key, percent-encoded and separated
    by `/` (`users/42/food`); its text is the value as JSON. The items are data of the program: `search` of this store,
    a query with the category and the page show them, contexts and other searches do not. `undo` restores earlier
    values.

    - `search` with a `query` ranks with recall, on all of the value; `index` of `put` is not supported, except `None`.
    - `created_at` of an item is the time of its current value.
    - Secrets in values are redacted before they are stored; a warning is logged.
    - TTL is not supported.
    - The asynchronous methods run the blocking ones in a thread.

    Args:
        memory: The client; the caller closes it.
        category: Category of the records.
        agent: Agent of the records.
    """

    supports_ttl: bool = False

    __slots__ = ("_agent", "_category", "_memory")

    def __init__(self, memory: Memory, *, category: str = "langgraph", agent: str | None = None) -> None:
        if not category or any(character.isspace() or character in '":' for character in category):
            raise ValueError("the category is one word without quotes and colons, because it filters a query")
        self._memory = memory
        self._category = category
        self._agent = agent

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Executes operations in their order."""
        listed = list(ops)
        for op in listed:
            validate_op_namespace(op)
        return [self._execute(op) for op in listed]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Executes operations in their order, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _execute(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, PutOp):
            self._put(op)
            return None
        return self._list_namespaces(op)

    def _find(self, namespace: tuple[str, ...], key: str) -> Knowledge | None:
        page = self._memory.api.list_knowledge(category=self._category, key=encode_key(namespace, key), limit=1)
        return page.items[0] if page.items else None

    def _get(self, op: GetOp) -> Item | None:
        record = self._find(op.namespace, op.key)
        if record is None:
            return None
        value = decode_value(record.value)
        return Item(
            namespace=op.namespace, key=op.key, value=value, created_at=record.created_at, updated_at=record.updated_at
        )

    def _put(self, op: PutOp) -> None:
        if op.ttl is not None:
            raise NotImplementedError("HeirloomStore does not support TTL")
        if op.index is not None:
            raise NotImplementedError("HeirloomStore indexes all of a value: `index` cannot be set")
        if op.value is None:
            record = self._find(op.namespace, op.key)
            if record is not None:
                self._retire(record.id)
            return
        key = encode_key(op.namespace, op.key)
        outcome = self._memory.remember(
            json.dumps(op.value, ensure_ascii=False),
            category=self._category,
            key=key,
            agent=self._agent,
            machine=True,
        )
        if outcome.winner is not None:
            raise StoreConflict(f"`{key}` was set by a source of higher authority (record {outcome.winner})")
        if outcome.redacted:
            logger.warning("secrets were redacted in the value of `%s`: %s", key, ", ".join(outcome.redacted))

    def _retire(self, record_id: str) -> None:
        try:
            self._memory.forget(record_id)
        except NotFound:
            logger.debug("record %s was already retired", record_id)

    def _records(self, prefix: tuple[str, ...]) -> Iterator[Knowledge]:
        """All items below a namespace, newest first."""
        cursor: str | None = None
        key_prefix = "".join(f"{encode_label(label)}/" for label in prefix) or None
        while True:
            page = self._memory.api.list_knowledge(
                category=self._category, key_prefix=key_prefix, cursor=cursor, limit=PAGE_ITEMS
            )
            yield from page.items
            cursor = page.next
            if cursor is None:
                return

    def _search(self, op: SearchOp) -> list[SearchItem]:
        found = (
            self._ranked(op)
            if op.query
            else (_search_item(record, None) for record in self._records(op.namespace_prefix))
        )
        matching = (item for item in found if item is not None and matches_filter(item.value, op.filter))
        return [item for _, item in zip(range(op.offset + op.limit), matching, strict=False)][op.offset :]

    def _ranked(self, op: SearchOp) -> Iterator[SearchItem | None]:
        records = {record.id: record for record in self._records(op.namespace_prefix)}
        # The query is quoted by the category filter only: other filters that it contains hold too.
        hits = self._memory.recall(
            f"category:{self._category} {op.query}", k=HITS_MAX, kinds=["knowledge"], min_relevance=0.0
        )
        for hit in hits:
            # Near-duplicates are grouped under one hit.
            for record_id in [hit.id, *(hit.folded or [])]:
                record = records.pop(record_id, None)
                if record is not None:
                    yield _search_item(record, hit.relevance if hit.relevance is not None else hit.score)
        # Items that recall did not rank come last, without a score.
        for record in records.values():
            yield _search_item(record, None)

    def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        prefix = _literal_prefix(op.match_conditions or ())
        namespaces: set[tuple[str, ...]] = set()
        for record in self._records(prefix):
            decoded = decode_key(record.key)
            if decoded is not None and all(matches_namespace(each, decoded[0]) for each in op.match_conditions or ()):
                namespaces.add(decoded[0][: op.max_depth])
        return sorted(namespaces)[op.offset : op.offset + op.limit]


def encode_label(label: str) -> str:
    """Encodes a label of a namespace, or a key, so that it contains no `/`, no space and no control character."""
    return quote(label, safe="~:@+,;=!$&'()*")


def encode_key(namespace: tuple[str, ...], key: str) -> str:
    """Returns the key of the record of an item."""
    return "/".join(encode_label(part) for part in (*namespace, key))


def decode_key(key: str | None) -> tuple[tuple[str, ...], str] | None:
    """Returns namespace and key of a record; `None` if it is no item."""
    if not key or "/" not in key:
        return None
    *namespace, last = (unquote(part) for part in key.split("/"))
    return tuple(namespace), last


def decode_value(text: str) -> dict[str, Any]:
    """Decodes a value. Text that another program wrote under the key, or that is no JSON any more after a redaction, is
    `{"text": …}`."""
    try:
        value: object = json.loads(text)
    except ValueError:
        value = text
    return cast(dict[str, Any], value) if isinstance(value, dict) else {"text": text}


def _search_item(record: Knowledge, score: float | None) -> SearchItem | None:
    decoded = decode_key(record.key)
    if decoded is None:
        return None
    created_at: datetime = record.created_at
    return SearchItem(decoded[0], decoded[1], decode_value(record.value), created_at, record.updated_at, score)


def _literal_prefix(conditions: Sequence[MatchCondition]) -> tuple[str, ...]:
    """The labels before the first wildcard of a prefix condition."""
    for condition in conditions:
        if condition.match_type == "prefix":
            path = [str(label) for label in condition.path]
            return tuple(path[: path.index("*")] if "*" in path else path)
    return ()


def matches_namespace(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """True if a namespace begins or ends with the path of a condition; `*` stands for any label."""
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(expected in ("*", label) for expected, label in zip(path, part, strict=True))


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, operand: value == operand,
    "$ne": lambda value, operand: value != operand,
    "$gt": lambda value, operand: float(value) > float(operand),
    "$gte": lambda value, operand: float(value) >= float(operand),
    "$lt": lambda value, operand: float(value) < float(operand),
    "$lte": lambda value, operand: float(value) <= float(operand),
}


def matches_filter(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    """True if a value has all fields of a filter, with the operators of LangGraph's stores."""
    return all(_matches(value.get(name), expected) for name, expected in (filter or {}).items())


def _matches(value: object, expected: object) -> bool:
    if isinstance(expected, dict):
        conditions = cast(dict[str, object], expected)
        if any(name.startswith("$") for name in conditions):
            return all(_apply(name, value, operand) for name, operand in conditions.items())
        fields = cast(dict[str, object], value) if isinstance(value, dict) else None
        return fields is not None and all(_matches(fields.get(name), item) for name, item in conditions.items())
    if isinstance(expected, (list, tuple)):
        wanted = cast(Sequence[object], expected)
        items = cast(Sequence[object], value) if isinstance(value, (list, tuple)) else None
        return (
            items is not None
            and len(items) == len(wanted)
            and all(_matches(item, each) for item, each in zip(items, wanted, strict=True))
        )
    return value == expected


def _apply(operator: str, value: object, operand: object) -> bool:
    compare = _OPERATORS.get(operator)
    if compare is None:
        raise ValueError(f"unsupported operator: {operator}")
    if value is None and operator not in ("$eq", "$ne"):
        return False
    return compare(value, operand)
