"""The store of LangGraph, with the real package."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, TypedDict
from uuid import uuid4

import pytest
from langgraph.config import get_store
from langgraph.graph import END, START, StateGraph  # pyright: ignore[reportMissingTypeStubs]
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from heirloom_client import LocalServer, Memory
from heirloom_client.langgraph import HeirloomStore, StoreConflict, decode_key, encode_key


@pytest.fixture
def store(sync_memory: Memory) -> Generator[HeirloomStore, None, None]:
    """A store with a category of its own."""
    yield HeirloomStore(sync_memory, category=f"store-{uuid4().hex}")


VALUES: list[dict[str, Any]] = [
    {"text": "I like pizza"},
    {"n": 1.5, "i": -3, "t": True, "none": None, "list": [1, [2, {"a": []}]], "empty": {}},
    {"unicode": "é ü 日本 😀 \u2028 \u202e", "control": "a\nb\tc\r\n \u0000", "quotes": "\"'\\"},
    {"spaces": "  leading and trailing  "},
    {},
]


@pytest.mark.parametrize("value", VALUES)
def test_values_are_returned_as_they_were(store: HeirloomStore, value: dict[str, Any]) -> None:
    store.put(("users", "42"), "k", value)
    item = store.get(("users", "42"), "k")
    assert item is not None
    assert (item.value, item.namespace, item.key) == (value, ("users", "42"), "k")
    assert item.created_at.tzinfo is not None


@pytest.mark.parametrize(
    "label", ["with space", "a/b", "%2F", "Ünï", "UPPER", "_", "*", "x\n", " ", "a:b", '"', "  two"]
)
def test_labels_and_keys_are_distinct(store: HeirloomStore, label: str) -> None:
    store.put((label, "n"), label, {"label": label})
    assert decode_key(encode_key((label, "n"), label)) == ((label, "n"), label)
    item = store.get((label, "n"), label)
    assert item is not None
    assert item.value == {"label": label}
    assert store.get((label.swapcase() + "x", "n"), label) is None
    assert store.list_namespaces() == [(label, "n")]
    assert [item.key for item in store.search((label,))] == [label]


def test_put_replaces_and_delete_removes(store: HeirloomStore) -> None:
    store.put(("a",), "k", {"v": 1})
    store.put(("a",), "k", {"v": 2})
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {"v": 2}
    store.delete(("a",), "k")
    assert store.get(("a",), "k") is None
    store.delete(("a",), "k")
    assert store.search(("a",)) == []
    store.put(("a",), "k", {"v": 3})
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {"v": 3}


def fill(store: HeirloomStore | InMemoryStore) -> None:
    rows: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
        (("users", "1"), "food", {"text": "Pizza with olives", "kind": "food", "rating": 5, "tags": {"hot": True}}),
        (("users", "1"), "drink", {"text": "Green tea", "kind": "drink", "rating": 3}),
        (("users", "10"), "food", {"text": "Sushi", "kind": "food", "rating": 4}),
        (("users", "1", "old"), "food", {"text": "Bread", "kind": "food", "rating": 1}),
        (("docs",), "readme", {"text": "How to build the parser", "kind": "doc"}),
    ]
    for namespace, key, value in rows:
        store.put(namespace, key, value)


FILTERS: list[dict[str, Any] | None] = [
    None,
    {"kind": "food"},
    {"kind": "food", "rating": {"$gte": 4}},
    {"rating": {"$gt": 1, "$lt": 5}},
    {"kind": {"$ne": "food"}},
    {"kind": {"$eq": "drink"}},
    {"tags": {"hot": True}},
    {"missing": None},
]


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("prefix", [("users", "1"), ("users",), ("users", "10"), ("nobody",)])
def test_search_finds_what_the_in_memory_store_finds(
    store: HeirloomStore, prefix: tuple[str, ...], filter: dict[str, Any] | None
) -> None:
    reference = InMemoryStore()
    fill(reference)
    fill(store)
    expected = {(item.namespace, item.key) for item in reference.search(prefix, filter=filter)}
    found = store.search(prefix, filter=filter)
    assert {(item.namespace, item.key) for item in found} == expected
    assert all(item.score is None for item in found)


def test_search_has_limit_and_offset(store: HeirloomStore) -> None:
    for number in range(7):
        store.put(("pages",), f"k{number}", {"n": number})
    pages = [store.search(("pages",), limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert {item.key for page in pages for item in page} == {f"k{number}" for number in range(7)}


def test_search_with_query_ranks_by_relevance(store: HeirloomStore) -> None:
    fill(store)
    found = store.search(("users",), query="Which pizza does the user like?", limit=2)
    assert found[0].value["text"] == "Pizza with olives"
    assert found[0].score is not None
    assert store.search(("docs",), query="pizza")[0].key == "readme"
    assert len(store.search(("users",), query="pizza", filter={"kind": "drink"})) == 1


def test_unknown_operator_is_an_error(store: HeirloomStore) -> None:
    fill(store)
    with pytest.raises(ValueError, match="unsupported operator"):
        store.search(("users",), filter={"rating": {"$near": 1}})


@pytest.mark.parametrize(
    "conditions",
    [
        {},
        {"prefix": ("users",)},
        {"prefix": ("users", "*", "old")},
        {"suffix": ("old",)},
        {"prefix": ("*", "1"), "max_depth": 2},
        {"max_depth": 1},
        {"limit": 2},
        {"limit": 2, "offset": 1},
    ],
)
def test_namespaces_are_those_of_the_in_memory_store(store: HeirloomStore, conditions: dict[str, Any]) -> None:
    reference = InMemoryStore()
    fill(reference)
    fill(store)
    assert store.list_namespaces(**conditions) == reference.list_namespaces(**conditions)


def test_batch_keeps_the_order_of_results(store: HeirloomStore) -> None:
    results = store.batch(
        [
            PutOp(("b",), "k", {"v": 1}),
            GetOp(("b",), "k"),
            SearchOp(("b",)),
            ListNamespacesOp(),
            PutOp(("b",), "k", None),
            GetOp(("b",), "k"),
        ]
    )
    assert results[0] is None
    assert getattr(results[1], "value") == {"v": 1}  # noqa: B009
    assert results[3] == [("b",)]
    assert results[4:] == [None, None]
    with pytest.raises(InvalidNamespaceError):
        store.batch([GetOp(("a.b",), "k")])


def test_unsupported_options_are_errors(store: HeirloomStore) -> None:
    with pytest.raises(NotImplementedError):
        store.put(("a",), "k", {}, ttl=5)
    with pytest.raises(NotImplementedError, match="index"):
        store.put(("a",), "k", {}, index=False)
    assert store.get(("a",), "k") is None


def test_value_of_higher_authority_is_not_replaced(server: LocalServer, sync_memory: Memory) -> None:
    category = f"store-{uuid4().hex}"
    HeirloomStore(sync_memory, category=category).put(("a",), "k", {"v": "orchestrator"})
    with Memory.local(server.project_dir, role="agent") as memory:
        store = HeirloomStore(memory, category=category)
        with pytest.raises(StoreConflict, match="a/k"):
            store.put(("a",), "k", {"v": "agent"})
        item = store.get(("a",), "k")
        assert item is not None
        assert item.value == {"v": "orchestrator"}


def test_redacted_value_remains_json(store: HeirloomStore, caplog: pytest.LogCaptureFixture) -> None:
    secrets = {
        "password": "hunter2-very-secret-9182",
        "command": 'export API_TOKEN=Zx81kd92mfQ0aLw7pRt5 && curl -H "Authorization: Bearer abcdef0123456789abcdef01"',
        "url": "postgres://app:s3cr3tPassw0rd@db/main",
        "plain": "kept",
    }
    store.put(("a",), "k", secrets)
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value["plain"] == "kept"
    assert "hunter2" not in str(item.value)
    assert "s3cr3tPassw0rd" not in str(item.value)
    assert "redacted" in caplog.text


@pytest.mark.anyio
async def test_asynchronous_methods(store: HeirloomStore) -> None:
    await store.aput(("async",), "k", {"v": 1})
    item = await store.aget(("async",), "k")
    assert item is not None
    assert item.value == {"v": 1}
    assert [found.key for found in await store.asearch(("async",))] == ["k"]
    assert await store.alist_namespaces() == [("async",)]
    await store.adelete(("async",), "k")
    assert await store.aget(("async",), "k") is None


class State(TypedDict):
    user: str
    said: str
    answer: str


def remember_food(state: State) -> dict[str, Any]:
    get_store().put(("users", state["user"]), f"said-{time.monotonic_ns()}", {"text": state["said"]})
    return {}


def answer(state: State) -> dict[str, Any]:
    found = get_store().search(("users", state["user"]), query="what does the user eat?", limit=1)
    return {"answer": found[0].value["text"]}


def build_graph(store: HeirloomStore) -> Any:
    graph: Any = StateGraph(State)
    graph.add_node("remember", remember_food)
    graph.add_node("answer", answer)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", "answer")
    graph.add_edge("answer", END)
    return graph.compile(store=store)


def test_compiled_graph_uses_the_store(store: HeirloomStore) -> None:
    graph = build_graph(store)
    result = graph.invoke({"user": "42", "said": "I eat sushi on Fridays", "answer": ""})
    assert result["answer"] == "I eat sushi on Fridays"
    assert len(store.search(("users", "42"))) == 1


@pytest.mark.anyio
async def test_compiled_graph_uses_the_store_asynchronously(store: HeirloomStore) -> None:
    async def remember_later(state: State) -> dict[str, Any]:
        await get_store().aput(("users", state["user"]), "food", {"text": state["said"]})
        item = await get_store().aget(("users", state["user"]), "food")
        return {"answer": item.value["text"] if item else ""}

    graph: Any = StateGraph(State)
    graph.add_node("remember", remember_later)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", END)
    result = await graph.compile(store=store).ainvoke({"user": "7", "said": "I eat bread", "answer": ""})
    assert result["answer"] == "I eat bread"


def test_values_are_found_by_the_store_and_in_no_context(store: HeirloomStore, sync_memory: Memory) -> None:
    store.put(("users", "7"), "pet", {"animal": "a quokka called Bilby"})
    assert [item.key for item in store.search(("users",), query="quokka")] == ["pet"]
    assert "quokka" not in sync_memory.context(query="which animal is the quokka").text
