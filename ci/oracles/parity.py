#!/usr/bin/env python3
"""Holds specbench's probabilities of real text, its tokens and its greedy text against another engine on the same weights.

  pip install torch transformers        # --peer transformers: float32 on the CPU; PEER_MODEL is a directory, or a GGUF file, for
                                        # which it wants the packages gguf and accelerate too
  pip install numpy tokenizers          # --peer numpy: float64, from the formulas (numpy_llama.py); PEER_MODEL is a directory
  pip install llama-cpp-python          # --peer llama.cpp: PEER_MODEL is a GGUF file; its cache is float32 unless --peer-kv f16
  python3 ci/oracles/parity.py --specbench build/release/bin/specbench --model MODEL --peer transformers [--peer-model PEER_MODEL]

MODEL is what specbench reads; PEER_MODEL (default: MODEL) must hold the same weights. The texts: --prompts (JSON lines; default:
specbench's passages). Of each text: are the token ids the same, and the largest and the mean |difference| of ln p, over the token that
came, specbench's five likeliest and the peer's likeliest; the perplexity of both. Then greedy text from the first --greedy-prompts
texts: at each of its tokens, how far the peer's likeliest is above it. Exits 1, with a sentence for each, where
- token ids differ,
- a probability is not a number, or differs by more than --tolerance (default: by what the peer rounds, see tolerance_of),
- the perplexities differ by more than --perplexity-tolerance (default .1 %; .5 % where llama.cpp rounds to 8 bits),
- a greedy token is not the peer's likeliest and is further from it than two such differences, the most that a near tie explains,
- or a text came back incomplete. Exits 0 only if all of that was looked at and holds.
"""
import argparse
import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from peer_engines import FLOAT_PEERS, open_peer

TOP = 5
# Of float32 sums in another order: a few 1e-5 in ln p where logits reach 30; room for twenty times as much, a hundredth of what
# rounding one weight matrix to F16 does.
FLOAT_TOLERANCE = 1e-3


def tolerance_of(peer, weight_type):
    """Largest |difference| of ln p, and share of the perplexity, that rounding explains where the peer has the same weights."""
    weight_type = weight_type.removesuffix("+")  # "F16+": some tensors have another, as norms do
    if peer in FLOAT_PEERS or weight_type == "F32":
        return FLOAT_TOLERANCE, 0.001
    # llama.cpp rounds what it multiplies with these weights to 11, 8 and 7 bits.
    return {"F16": (0.05, 0.001), "BF16": (0.3, 0.001)}.get(weight_type, (1.0, 0.005))


def run_specbench(args, words):
    """The record of a run."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "record.json"
        command = [args.specbench, *words, "--model", args.model, "--dtype", args.dtype, "--kv-dtype", args.kv_dtype,
                   "--backend", args.backend, "--threads", str(args.threads), "--quiet", "--out", str(out)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if not out.exists():
            sys.exit(f"parity.py: {' '.join(command)} gave no record: {done.stderr.strip()}")
        record = json.loads(out.read_text())
        if done.returncode != 0:
            sys.exit(f"parity.py: {' '.join(command)} exited with {done.returncode}: {record['verdict']}")
        return record


def table(record, name):
    found = next(t for t in record["tables"] if t["name"] == name)
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]


def texts_of(args):
    path = args.prompts or pathlib.Path(__file__).parents[2] / "suites/prompts/passages.jsonl"
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines() if line.strip()]
    return [(line.get("prompt") or line["turns"][0]) for line in lines[:args.max_prompts]]


def score_texts(args, texts):
    """The record, and specbench's rows of each text. The ids are ours, so that no two texts have one."""
    with tempfile.TemporaryDirectory() as folder:
        prompts = pathlib.Path(folder) / "texts.jsonl"
        prompts.write_text("".join(json.dumps({"id": f"text-{i}", "prompt": text}) + "\n" for i, text in enumerate(texts)))
        record = run_specbench(args, ["--suite", "model", "--max-tokens", str(args.max_tokens), "--max-prompts", str(len(texts)),
                                      "--prompts", str(prompts)])
    groups = [(name, list(rows)) for name, rows in itertools.groupby(table(record, "tokens"), lambda row: row["text"])]
    is_cut = [row["is_cut"] for row in table(record, "texts")]
    if [name for name, _ in groups] != [f"text-{i}" for i in range(len(texts))] or len(is_cut) != len(texts):
        sys.exit(f"parity.py: specbench scored {[name for name, _ in groups]}, expected each of {len(texts)} texts once, in order")
    for name, rows in groups:
        if [row["pos"] for row in rows] != list(range(len(rows))) or len(rows) < 2:
            sys.exit(f"parity.py: specbench gave {len(rows)} rows for {name}; at least 2, with every position once, are needed")
    return record, [rows for _, rows in groups], is_cut


def compare_text(rows, is_cut, text, peer):
    """Figures of one text, from specbench's rows of it."""
    ids = [row["token"] for row in rows]
    own = list(peer.encode(text))
    laws = peer.log_probs(ids)
    if len(laws) != len(ids):
        sys.exit(f"parity.py: the peer gave {len(laws)} laws for {len(ids)} tokens")
    differences, ours, theirs = [], [], []
    for law, row in zip(laws[:-1], rows[1:], strict=True):
        ours.append(row["log_prob"])
        theirs.append(law[row["token"]])
        pairs = [(row["log_prob"], law[row["token"]]), (row["top_1_log_prob"], law.max())]
        pairs += [(row[f"top_{k}_log_prob"], law[row[f"top_{k}"]]) for k in range(1, TOP + 1)]
        differences += [math.nan if a is None else abs(a - b) for a, b in pairs]
    # numpy's max and mean are NaN where one is.
    return {"n": len(ours), "same_ids": ids == (own[:len(ids)] if is_cut else own), "largest": float(np.max(differences)),
            "mean": float(np.mean(differences)), "ours": float(np.sum(np.array(ours, float))), "theirs": float(np.sum(theirs))}


def compare_scores(args, peer, texts, faults):
    record, rows_of_texts, is_cut = score_texts(args, texts)
    weight_type = record["model"]["dtype"]
    tolerance, share = tolerance_of(args.peer, weight_type)
    tolerance = tolerance if args.tolerance is None else args.tolerance
    share = share if args.perplexity_tolerance is None else args.perplexity_tolerance
    print(f"specbench: {record['model']['name']} ({weight_type}), hash {record['model']['hash']}; peer: {peer.name}; allowed: "
          f"{tolerance:g} of ln p, {100 * share:g} % of perplexity")
    figures = []
    for i, (rows, cut, text) in enumerate(zip(rows_of_texts, is_cut, texts, strict=True)):
        one = compare_text(rows, cut, text, peer)
        figures.append(one)
        print(f"text {i}: {one['n']} tokens, ids {'the same' if one['same_ids'] else 'DIFFER'}, ln p apart at most "
              f"{one['largest']:.3g}, mean {one['mean']:.3g}")
        if not one["same_ids"]:
            faults.append(f"The token ids of text {i} differ from the peer's.")
        if not math.isfinite(one["largest"]):
            faults.append(f"A probability of text {i} is zero or no number.")
        elif one["largest"] > tolerance:
            faults.append(f"ln p of text {i} is {one['largest']:.3g} apart; {tolerance:g} is allowed.")
    n = sum(one["n"] for one in figures)
    ours, theirs = (math.exp(-sum(one[side] for one in figures) / n) for side in ("ours", "theirs"))
    print(f"all: perplexity {ours:.5f} and {theirs:.5f} over {n} tokens, {100 * (ours / theirs - 1):+.4f} %, ln p apart at most "
          f"{np.max([one['largest'] for one in figures]):.3g}")
    if not abs(ours / theirs - 1) <= share:
        faults.append(f"The perplexities, {ours:.5f} and {theirs:.5f}, are more than {100 * share:g} % apart.")
    return tolerance


def compare_greedy(args, peer, text, tolerance, faults):
    """specbench's greedy text is the peer's own up to the first token that the peer, given all before it, finds less likely."""
    head = " ".join(text.split()[:args.greedy_words])
    row = table(run_specbench(args, ["generate", "--prompt", head, "--temperature", "0", "--max-tokens", str(args.greedy_tokens)]),
                "generated")[0]
    prompt, ours = ([int(i) for i in row[column].split()] for column in ("prompt_ids", "ids"))
    if not ours:
        faults.append(f"specbench generated nothing from {head[:40]!r}.")
        return
    laws = peer.log_probs(prompt + ours)[len(prompt) - 1:-1]
    gaps = np.array([law.max() - law[token] for law, token in zip(laws, ours, strict=True)])
    others = np.flatnonzero(~(gaps == 0))
    said = f"all {len(ours)} tokens are the peer's likeliest"
    if len(others):
        said = (f"the same for {others[0]} of {len(ours)} tokens; of the {len(others)} that are not the peer's likeliest, the furthest "
                f"is {np.max(gaps):.3g} below it in ln p")
    print(f"greedy from {head[:40]!r}: {said}")
    if not np.max(gaps) <= 2 * tolerance:  # NaN too
        faults.append(f"Greedy text from {head[:40]!r} leaves the peer's at token {others[0]} by more than a near tie: a token is "
                      f"{np.max(gaps):.3g} below the likeliest, {2 * tolerance:g} is allowed.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--specbench", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--peer", choices=[*FLOAT_PEERS, "llama.cpp"], required=True)
    parser.add_argument("--peer-model", help="default: MODEL")
    parser.add_argument("--peer-kv", choices=["f32", "f16"], default="f32")
    parser.add_argument("--peer-context", type=int, default=2048)
    parser.add_argument("--prompts")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--dtype", default="stored", help="another needs --tolerance: the peer keeps what is stored")
    parser.add_argument("--kv-dtype", default="f32", help="f16 needs --tolerance")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-tokens", type=int, default=1024)
    parser.add_argument("--max-prompts", type=int, default=2)
    parser.add_argument("--greedy-prompts", type=int, default=2)
    parser.add_argument("--greedy-words", type=int, default=40)
    parser.add_argument("--greedy-tokens", type=int, default=64)
    parser.add_argument("--tolerance", type=float, help="largest |difference| of ln p that passes; default: see tolerance_of")
    parser.add_argument("--perplexity-tolerance", type=float, help="largest share that passes, .001 for .1 %%")
    args = parser.parse_args()
    if (args.dtype, args.kv_dtype) != ("stored", "f32") and args.tolerance is None:
        parser.error("with --dtype or --kv-dtype the two do not compute the same; say by --tolerance how much they may differ")
    args.peer_model = args.peer_model or args.model
    texts = texts_of(args)
    peer = open_peer(args)
    faults = []
    tolerance = compare_scores(args, peer, texts, faults)
    for text in texts[:args.greedy_prompts]:
        compare_greedy(args, peer, text, tolerance, faults)
    for fault in faults:
        print(f"FAILED: {fault}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
