#!/usr/bin/env python3
"""Writes engine/model/golden/smollm2_laws.txt, with which engine/cpu/smollm2_test.cc compares: python3 law_golden.py HF_DIRECTORY

HF_DIRECTORY is the one of make_variants.py, whose float32 weights are those of the published Q4_1 file; the oracle is float64
(numpy_llama.py). One line a text: how many tokens its prompt has and the first of them; then, of the others and of the greedy
continuation, every token with its ln p and the likeliest token there with its ln p.
"""
import pathlib
import sys

import numpy as np
from numpy_llama import NumpyLlama

OUT = pathlib.Path(__file__).parents[2] / "engine/model/golden/smollm2_laws.txt"
TEXTS = ["The capital of France is", "def fibonacci(n):\n    if n < 2:\n        return n\n", "Das Wasser \u6c34 \U0001f30a 1,024:"]
N_GREEDY = 24
LEAST_GAP = 1e-3  # in ln p, between the two likeliest: float32 must find the same one


def line_of(model, text):
    ids = model.encode(text)
    n_prompt = len(ids)
    while len(ids) < n_prompt + N_GREEDY:
        law = model.log_probs(ids)[-1]
        second, first = np.argsort(law)[-2:]
        if law[first] - law[second] < LEAST_GAP:
            sys.exit(f"law_golden.py: {text!r} comes to a near tie; take another text")
        ids.append(int(first))
    laws = model.log_probs(ids)
    words = [str(n_prompt), str(ids[0])]
    for law, token in zip(laws, ids[1:]):
        best = int(law.argmax())
        words += [str(token), f"{law[token]:.7f}", str(best), f"{law[best]:.7f}"]
    return " ".join(words)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    model = NumpyLlama(sys.argv[1])
    OUT.write_text("".join(line_of(model, text) + "\n" for text in TEXTS))


if __name__ == "__main__":
    main()
