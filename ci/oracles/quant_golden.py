#!/usr/bin/env python3
"""Writes engine/model/golden/weight_types.txt, with which weight_type_test.cc compares: pip install gguf==0.19.0; python3 quant_golden.py

One line a case: type, its blocks in hex, then the float32 values that llama.cpp's own Python package (the oracle) makes
of them, in hex too. Blocks are random bytes, so that every bit of every layout matters; their scales are chosen.
"""
import pathlib

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

OUT = pathlib.Path(__file__).parents[2] / "engine/model/golden/weight_types.txt"
# Where a block holds float16 scales and minima, in bytes from its beginning.
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
          "Q5_0": [0], "Q5_1": [0, 2]}
# Ordinary, negative, with every bit of the fraction, subnormal, largest, zero.
CHOSEN = [0.01, -0.0371, 1.9990234375, 5.9604644775390625e-08, 65504.0, 0.0]


def blocks(name, n, rng):
    size = GGML_QUANT_SIZES[GGMLQuantizationType[name]][1]
    raw = rng.integers(0, 256, (n, size), dtype=np.uint8)
    for place, offset in enumerate(SCALES.get(name, [])):
        scales = np.array([CHOSEN[(i + 2 * place) % len(CHOSEN)] for i in range(n)], np.float16)
        raw[:, offset:offset + 2] = scales[:, None].view(np.uint8)
    if name in ("F16", "BF16"):  # no exponent of ones: weights are finite
        raw[:, 1] &= 0xBF if name == "BF16" else 0xFB
    return raw.reshape(-1)


def main():
    rng = np.random.default_rng(7)
    lines = []
    for name, n in {"F16": 64, "BF16": 64, "Q8_0": 6, "Q4_0": 6, "Q4_1": 6, "Q4_K": 3, "Q5_K": 3, "Q6_K": 3,
                    "Q5_0": 6, "Q5_1": 6}.items():
        raw = blocks(name, n, rng)
        values = quants.dequantize(raw, GGMLQuantizationType[name]).astype(np.float32)
        assert np.isfinite(values).all()
        lines.append(f"{name} {raw.tobytes().hex()} {values.tobytes().hex()}\n")
    OUT.write_text("".join(lines))


if __name__ == "__main__":
    main()
