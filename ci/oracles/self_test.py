#!/usr/bin/env python3
"""Plants faults in the peer of parity.py and sees each of them end it with exit code 1, and the sound peer with 0.

  pip install numpy tokenizers; a directory of make_tiny.py (qwen3)
  python3 ci/oracles/self_test.py --specbench build/release/bin/specbench --model DIRECTORY/qwen3
"""
import argparse
import contextlib
import io
import sys

import numpy as np
import numpy_llama
import parity


def with_nan(laws):
    laws[7, laws[7].argmax()] = np.nan
    return laws


def with_other_likeliest(laws):
    """In the last row but four: of a greedy text, for the scored texts are the longer ones."""
    if len(laws) < 90:
        laws[-5, [3, laws[-5].argmax()]] = laws[-5, [laws[-5].argmax(), 3]]
    return laws


LAWS = {
    "sound": lambda laws: laws,
    "a NaN": with_nan,
    "a law missing": lambda laws: laws[:-1],
    "ln p .0015 lower": lambda laws: laws - 0.0015,
    "another greedy token": with_other_likeliest,
}
IDS = {
    "another id": lambda ids: [*ids[:5], ids[5] + 1, *ids[6:]],
    "an id more": lambda ids: [*ids, 3],
    "an id less": lambda ids: ids[:-1],
}


class FaultyPeer(numpy_llama.NumpyLlama):
    def __init__(self, args, fault):
        super().__init__(args.peer_model)
        self.fault = fault
        if fault == "theta .1 % larger":
            self.theta *= 1.001

    def encode(self, text):
        return IDS.get(self.fault, list)(list(super().encode(text)))

    def log_probs(self, ids):
        return LAWS.get(self.fault, LAWS["sound"])(super().log_probs(ids))


def run_parity(args, fault):
    """Exit code and what was printed."""
    printed = io.StringIO()
    max_tokens = "2048" if fault in IDS else "96"  # whole texts: an id at their end must not be cut off
    sys.argv = ["parity.py", "--specbench", args.specbench, "--model", args.model, "--peer", "numpy", "--max-tokens", max_tokens,
                "--greedy-tokens", "24", "--greedy-prompts", "1", "--threads", "1"]
    parity.open_peer = lambda parsed: FaultyPeer(parsed, fault)
    with contextlib.redirect_stdout(printed):
        try:
            parity.main()
        except SystemExit as stop:
            return (stop.code, printed.getvalue()) if isinstance(stop.code, int) else (1, str(stop.code))
    return None, printed.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--specbench", required=True)
    parser.add_argument("--model", required=True)
    args = parser.parse_args()
    n_wrong = 0
    for fault in [*LAWS, *IDS, "theta .1 % larger"]:
        code, printed = run_parity(args, fault)
        said = [line for line in printed.splitlines() if line.startswith(("FAILED", "parity.py"))]
        is_right = code == (0 if fault == "sound" else 1)
        n_wrong += not is_right
        print(f"{'as it should' if is_right else 'WRONG'}: {fault}: exit code {code}. {said[0] if said else ''}", flush=True)
    sys.exit(1 if n_wrong else 0)


if __name__ == "__main__":
    main()
