"""Driver of mem0's library: one JSON request a line on standard input, one JSON answer a line."""

import json
import os
import sys

from mem0 import Memory

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print is no answer
store = os.environ["COMPARE_STORE"]
memory = Memory.from_config({
    "vector_store": {"provider": "qdrant", "config": {"path": store, "on_disk": True, "embedding_model_dims": 1536, "collection_name": "facts"}},
    "history_db_path": store + ".history.db",
})


def answered(verb, *arguments):
    """Carries out one request."""
    if verb == "ready":
        return True
    if verb == "add":
        name, text = arguments
        return len(memory.add(text, user_id="ann", metadata={"name": name}, infer=False)["results"])
    if verb == "search":
        question, k = arguments
        found = memory.search(question, filters={"user_id": "ann"}, top_k=k)["results"]
        return [hit["metadata"]["name"] for hit in found]
    found = memory.get_all(filters={"user_id": "ann"}, top_k=100_000)["results"]
    return [hit["memory"] for hit in found]


for line in sys.stdin:
    answers.write(json.dumps(answered(*json.loads(line))) + "\n")
    answers.flush()
