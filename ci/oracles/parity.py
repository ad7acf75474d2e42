#!/usr/bin/env python3
"""Holds specbench's probabilities of real text, its tokens and its greedy text against another engine on the same weights.

  pip install torch transformers        # --peer transformers: float32 on the CPU, weights of PEER_MODEL (a directory, or a GGUF file)
  pip install tokenizers                # --peer numpy: float64, from the formulas (numpy_llama.py); PEER_MODEL is a directory
  pip install llama-cpp-python          # --peer llama.cpp: PEER_MODEL is a GGUF file; its cache is float32 unless --peer-kv f16
  python3 parity.py --specbench build/release/bin/specbench --model MODEL --peer transformers --peer-model PEER_MODEL

MODEL is what specbench reads. The text: --prompts (JSON lines; default: specbench's passages). For each text: are the token ids the
same, the largest and the mean |difference| of ln p over the token that came and specbench's five likeliest, how often the
likeliest id agrees, both perplexities. Then greedy text from the first --greedy-prompts prompts: the first token that differs, and how
near the peer's two likeliest are there. Exits 1 above --tolerance, 0 otherwise.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from numpy_llama import NumpyLlama

TOP = 5


def run_specbench(args, words):
    """The record of a run."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "record.json"
        command = [args.specbench, *words, "--model", args.model, "--dtype", args.dtype, "--kv-dtype", args.kv_dtype,
                   "--backend", args.backend, "--threads", str(args.threads), "--quiet", "--out", str(out)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if not out.exists():
            sys.exit(f"parity.py: {' '.join(command)} gave no record: {done.stderr.strip()}")
        return json.loads(out.read_text())


def table(record, name):
    found = next(t for t in record["tables"] if t["name"] == name)
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]


class Transformers:
    def __init__(self, args):
        import torch
        import transformers
        self.torch = torch
        torch.set_num_threads(args.threads)
        path = pathlib.Path(args.peer_model)
        where = {"pretrained_model_name_or_path": str(path)}
        if path.is_file():
            where = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(**where)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(**where, attn_implementation="eager")
        self.model.float().eval()  # exact, whatever they are stored in
        self.name = f"transformers {transformers.__version__}"

    def encode(self, text):
        return self.tokenizer(text)["input_ids"]

    def log_probs(self, ids):
        """[position][id], the law of the token behind each position."""
        with self.torch.no_grad():
            logits = self.model(self.torch.tensor([ids])).logits[0].double()
            return self.torch.log_softmax(logits, -1).numpy()

    def greedy(self, ids, n):
        """n ids, and at each the difference of ln p between the two likeliest. Without a cache: the plainest way there is."""
        out, gaps = [], []
        with self.torch.no_grad():
            for _ in range(n):
                two = self.torch.topk(self.model(self.torch.tensor([ids + out]), use_cache=False).logits[0, -1], 2)
                out.append(int(two.indices[0]))
                gaps.append(float(two.values[0] - two.values[1]))
        return out, gaps


class LlamaCpp:
    def __init__(self, args):
        import llama_cpp
        kv = 0 if args.peer_kv == "f32" else 1  # GGML_TYPE_F32, GGML_TYPE_F16
        self.llm = llama_cpp.Llama(model_path=args.peer_model, n_ctx=args.peer_context, n_threads=args.threads,
                                   n_threads_batch=args.threads, logits_all=True, type_k=kv, type_v=kv, verbose=False)
        self.name = f"llama-cpp-python {llama_cpp.__version__}"

    def encode(self, text):
        return self.llm.tokenize(text.encode(), add_bos=True, special=True)

    def logits(self, ids):
        self.llm.reset()
        self.llm.eval(ids)
        return np.array(self.llm.scores[:len(ids)], dtype=np.float64)

    def log_probs(self, ids):
        logits = self.logits(ids)
        largest = logits.max(-1, keepdims=True)
        return logits - largest - np.log(np.exp(logits - largest).sum(-1, keepdims=True))

    def greedy(self, ids, n):
        self.llm.reset()
        out, gaps, feed = [], [], ids
        for _ in range(n):
            self.llm.eval(feed)
            row = np.array(self.llm.scores[self.llm.n_tokens - 1], dtype=np.float64)
            best = np.argsort(-row, kind="stable")[:2]
            out.append(int(best[0]))
            gaps.append(float(row[best[0]] - row[best[1]]))
            feed = [out[-1]]
        return out, gaps


def texts_of(args):
    path = args.prompts or pathlib.Path(__file__).parents[2] / "suites/prompts/passages.jsonl"
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines() if line.strip()]
    return [(line.get("prompt") or line["turns"][0]) for line in lines]


def compare_text(rows, text, peer):
    """Figures of one text, from specbench's rows of it."""
    ids = [row["token"] for row in rows]
    own = peer.encode(text)[:len(ids)]
    laws = peer.log_probs(ids)
    differences, n_agree, ours, theirs = [], 0, 0.0, 0.0
    for pos, row in enumerate(rows[1:]):
        law = laws[pos]
        differences.append(abs(row["log_prob"] - law[row["token"]]))
        for k in range(1, TOP + 1):
            differences.append(abs(row[f"top_{k}_log_prob"] - law[row[f"top_{k}"]]))
        n_agree += int(np.argmax(law)) == row["top_1"]
        ours -= row["log_prob"]
        theirs -= law[row["token"]]
    n = len(rows) - 1
    return {"n": n, "same_ids": own == ids, "largest": max(differences), "mean": float(np.mean(differences)),
            "agree": n_agree / n, "ours": ours, "theirs": theirs}


def compare_scores(args, peer):
    words = ["--suite", "model", "--max-tokens", str(args.max_tokens), "--max-prompts", str(args.max_prompts)]
    if args.prompts:
        words += ["--prompts", args.prompts]
    record = run_specbench(args, words)
    print(f"specbench: {record['model']['name']} ({record['model']['dtype']}), hash {record['model']['hash']}; peer: {peer.name}")
    by_text = {}
    for row in table(record, "tokens"):
        by_text.setdefault(row["text"], []).append(row)
    worst, ours, theirs, n = 0.0, 0.0, 0.0, 0
    for (name, rows), text in zip(by_text.items(), texts_of(args)):
        if len(rows) < 2:
            continue
        figures = compare_text(rows, text, peer)
        print(f"{name}: {figures['n']} tokens, ids {'the same' if figures['same_ids'] else 'DIFFER'}, |ln p| apart at most "
              f"{figures['largest']:.3g}, mean {figures['mean']:.3g}, likeliest agrees in {100 * figures['agree']:.2f} %")
        worst = max(worst, figures["largest"])
        ours += figures["ours"]
        theirs += figures["theirs"]
        n += figures["n"]
    print(f"all: perplexity {math.exp(ours / n):.5f} and {math.exp(theirs / n):.5f} over {n} tokens, |ln p| apart at most {worst:.3g}")
    return worst


def compare_greedy(args, peer):
    for text in texts_of(args)[:args.greedy_prompts]:
        head = " ".join(text.split()[:args.greedy_words])
        record = run_specbench(args, ["generate", "--prompt", head, "--temperature", "0", "--max-tokens", str(args.greedy_tokens)])
        row = table(record, "generated")[0]
        ours = [int(i) for i in row["ids"].split()]
        theirs, gaps = peer.greedy([int(i) for i in row["prompt_ids"].split()], len(ours))
        first = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b), None)
        said = (f"the same {len(ours)} tokens, smallest gap {min(gaps):.3g}" if first is None else
                f"differ from token {first} on, where the peer's two likeliest are {gaps[first]:.3g} apart")
        print(f"greedy from {head[:40]!r}: {said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--specbench", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--peer", choices=["transformers", "numpy", "llama.cpp"], required=True)
    parser.add_argument("--peer-model", required=True)
    parser.add_argument("--peer-kv", choices=["f32", "f16"], default="f32")
    parser.add_argument("--peer-context", type=int, default=2048)
    parser.add_argument("--prompts")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--dtype", default="stored")
    parser.add_argument("--kv-dtype", default="f32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-tokens", type=int, default=1024)
    parser.add_argument("--max-prompts", type=int, default=2)
    parser.add_argument("--greedy-prompts", type=int, default=2)
    parser.add_argument("--greedy-words", type=int, default=40)
    parser.add_argument("--greedy-tokens", type=int, default=64)
    parser.add_argument("--tolerance", type=float, default=math.inf, help="largest |difference| of ln p that passes")
    args = parser.parse_args()
    makers = {"transformers": Transformers, "llama.cpp": LlamaCpp, "numpy": lambda a: NumpyLlama(a.peer_model)}
    peer = makers[args.peer](args)
    worst = compare_scores(args, peer)
    compare_greedy(args, peer)
    sys.exit(1 if worst > args.tolerance else 0)


if __name__ == "__main__":
    main()
