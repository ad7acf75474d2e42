#!/usr/bin/env python3
"""Times specbench's engine and llama.cpp on the same weights, prompt and threads, in turns of one run.

  pip install llama-cpp-python
  python3 llama_cpp.py --specbench build/release/bin/specbench --model FILE.gguf [--threads 2] [--rounds 10]

A round is one process of each, in an order that alternates: a prompt of about 512 tokens, then 128 tokens one by one, greedily. Of
each process the figure is the median of 5 repetitions behind 3 warm-ups (specbench: --protocol article with nothing drafted).
Printed: tokens a second of both (median over rounds), and the ratio specbench / llama.cpp with the interval between order
statistics, for prefill and for one-row decoding. Leave the machine alone meanwhile.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

N_DECODE, N_WARMUPS, N_REPETITIONS = 128, 3, 5  # of --protocol article


def specbench_record(args, words):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "record.json"
        command = [args.specbench, *words, "--model", args.model, "--kv-dtype", args.kv, "--threads", str(args.threads),
                   "--temperature", "0", "--drafter", "null", "--quiet", "--out", str(out)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if not out.exists():
            sys.exit(f"llama_cpp.py: {' '.join(command)} gave no record: {done.stderr.strip()}")
        return json.loads(out.read_text())


def cell(record, table, column):
    found = next(t for t in record["tables"] if t["name"] == table)
    return found["rows"][0][found["columns"].index(column)]


def make_prompt(args):
    """A text of about --prompt-tokens tokens, and its ids as specbench encodes them."""
    passages = pathlib.Path(__file__).parents[2] / "suites/prompts/passages.jsonl"
    words = " ".join(json.loads(line)["prompt"] for line in passages.read_text().splitlines()).split()
    n_words = args.prompt_tokens
    for _ in range(4):  # words are shorter than tokens, by a rate that a try tells
        text = " ".join(words[:n_words])
        record = specbench_record(args, ["generate", "--prompt", text, "--max-tokens", "1"])
        ids = [int(i) for i in cell(record, "generated", "prompt_ids").split()]
        if abs(len(ids) - args.prompt_tokens) < 8:
            break
        n_words = max(1, n_words * args.prompt_tokens // len(ids))
    return text, ids


def time_specbench(args, text):
    with tempfile.TemporaryDirectory() as folder:
        prompts = pathlib.Path(folder) / "prompt.jsonl"
        prompts.write_text(json.dumps({"prompt": text}) + "\n")
        record = specbench_record(args, ["--suite", "latency", "--protocol", "article", "--prompts", str(prompts),
                                         "--max-prompts", "1", "--draft-tokens", "0"])
    metrics = {m["name"]: m["value"] for m in record["metrics"]}
    if record["exit_code"] == 1 or metrics.get("tokens_per_s.autoregressive") is None:
        sys.exit(f"llama_cpp.py: specbench said: {record['verdict']}")
    return {"decode": metrics["tokens_per_s.autoregressive"], "prefill_s": metrics["ttft_ms.autoregressive"] / 1e3}


def time_llama_cpp(args, ids):
    """Runs in a process of its own (--worker)."""
    import llama_cpp
    import numpy as np
    kv = 0 if args.kv == "f32" else 1
    llm = llama_cpp.Llama(model_path=args.model, n_ctx=len(ids) + N_DECODE + 1, n_batch=512, n_threads=args.threads,
                          n_threads_batch=args.threads, type_k=kv, type_v=kv, verbose=False)
    prefill, decode = [], []
    for repetition in range(N_WARMUPS + N_REPETITIONS):
        llm.reset()
        begin = time.perf_counter()
        llm.eval(ids)
        middle = time.perf_counter()
        for _ in range(N_DECODE - 1):
            row = llm.scores[llm.n_tokens - 1 if llm._logits_all else -1]
            llm.eval([int(np.argmax(row))])
        end = time.perf_counter()
        if repetition >= N_WARMUPS:
            prefill.append(middle - begin)
            decode.append((N_DECODE - 1) / (end - middle))
    return {"decode": statistics.median(decode), "prefill_s": statistics.median(prefill), "version": llama_cpp.__version__}


def run_worker(ids):
    done = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--worker"], input=json.dumps(ids),
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def interval(values, level=0.95):
    """Order statistics around the median that cover it with at least that probability, or the extremes."""
    ordered, n, tail, k = sorted(values), len(values), 0.0, 0
    while k < n // 2 and tail + math.comb(n, k) / 2**n <= (1 - level) / 2:
        tail += math.comb(n, k) / 2**n
        k += 1
    k = max(k, 1)
    return ordered[k - 1], ordered[n - k]


def report(name, unit, ours, theirs):
    logs = [math.log(a / b) for a, b in zip(ours, theirs, strict=True)]
    low, high = interval(logs)
    print(f"{name}: specbench {statistics.median(ours):.2f} {unit}, llama.cpp {statistics.median(theirs):.2f} {unit}, ratio "
          f"{math.exp(statistics.median(logs)):.3f} [{math.exp(low):.3f}, {math.exp(high):.3f}] over {len(logs)} rounds")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--specbench", required=True)
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--prompt-tokens", type=int, default=512)
    parser.add_argument("--kv", choices=["f32", "f16"], default="f16", help="cache of both engines")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        print(json.dumps(time_llama_cpp(args, json.load(sys.stdin))))
        return
    text, ids = make_prompt(args)
    ours, theirs = [], []
    for number in range(args.rounds):
        for engine in ("specbench", "llama.cpp") if number % 2 == 0 else ("llama.cpp", "specbench"):
            if engine == "specbench":
                ours.append(time_specbench(args, text))
            else:
                theirs.append(run_worker(ids))
        print(f"round {number}: decode {ours[-1]['decode']:.2f} and {theirs[-1]['decode']:.2f} tokens/s, prefill "
              f"{len(ids) / ours[-1]['prefill_s']:.1f} and {len(ids) / theirs[-1]['prefill_s']:.1f}", file=sys.stderr)
    print(f"{args.model}: {args.threads} threads, cache {args.kv}, prompt of {len(ids)} tokens, llama-cpp-python {theirs[0]['version']}")
    report("decode", "tokens/s", [x["decode"] for x in ours], [x["decode"] for x in theirs])
    report("prefill", "tokens/s", [len(ids) / x["prefill_s"] for x in ours], [len(ids) / x["prefill_s"] for x in theirs])


if __name__ == "__main__":
    main()
