"""A Llama-like model in float64 numpy, written from the formulas: the peer "numpy" of parity.py. Needs numpy and safetensors, and
tokenizers to encode. Hugging Face directories of F32, F16 or BF16 without RoPE scaling, biases or q/k norm."""
import json
import pathlib
import struct

import numpy as np


def read_safetensors(path):
    """Every tensor in float64."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + at for at in entry["data_offsets"])
        kind = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}[entry["dtype"]]
        values = np.frombuffer(data[begin:end], kind)
        if entry["dtype"] == "BF16":
            values = (values.astype(np.uint32) << 16).view(np.float32)
        tensors[name] = values.astype(np.float64).reshape(entry["shape"])
    return tensors


def rmsnorm(x, gain, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gain


def rotated(x, theta):
    """[position][head][dim], halves rotated."""
    n, _, dim = x.shape
    angles = np.arange(n)[:, None] * theta ** (-np.arange(0, dim, 2) / dim)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    low, high = x[..., :dim // 2], x[..., dim // 2:]
    return np.concatenate([low * cos - high * sin, high * cos + low * sin], -1)


class NumpyLlama:
    name = "float64 numpy"

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.config = json.loads((folder / "config.json").read_text())
        if self.config.get("rope_scaling"):
            raise SystemExit("numpy_llama.py: RoPE scaling is not supported here; use another peer")
        self.weights = {}
        for path in sorted(folder.glob("*.safetensors")):
            self.weights.update(read_safetensors(path))
        self.folder = folder

    def encode(self, text):
        from tokenizers import Tokenizer
        return Tokenizer.from_file(str(self.folder / "tokenizer.json")).encode(text).ids

    def attend(self, x, layer):
        c, n = self.config, len(x)
        heads, kv_heads = c["num_attention_heads"], c.get("num_key_value_heads", c["num_attention_heads"])
        dim = c.get("head_dim") or c["hidden_size"] // heads

        def project(name, n_heads):
            return (x @ self.weights[f"{layer}.self_attn.{name}_proj.weight"].T).reshape(n, n_heads, dim)

        q, k, v = project("q", heads), project("k", kv_heads), project("v", kv_heads)
        q, k = rotated(q, c.get("rope_theta", 10000.0)), rotated(k, c.get("rope_theta", 10000.0))
        k, v = (np.repeat(a, heads // kv_heads, axis=1) for a in (k, v))
        scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(dim)
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = np.einsum("hqk,khd->qhd", scores, v).reshape(n, heads * dim)
        return mixed @ self.weights[f"{layer}.self_attn.o_proj.weight"].T

    def feed_forward(self, x, layer):
        gate, up, down = (self.weights[f"{layer}.mlp.{part}_proj.weight"].T for part in ("gate", "up", "down"))
        g = x @ gate
        return (g / (1 + np.exp(-g)) * (x @ up)) @ down

    def logits(self, ids):
        w, eps = self.weights, self.config["rms_norm_eps"]
        x = w["model.embed_tokens.weight"][np.array(ids)]
        for i in range(self.config["num_hidden_layers"]):
            layer = f"model.layers.{i}"
            x = x + self.attend(rmsnorm(x, w[f"{layer}.input_layernorm.weight"], eps), layer)
            x = x + self.feed_forward(rmsnorm(x, w[f"{layer}.post_attention_layernorm.weight"], eps), layer)
        head = w.get("lm_head.weight", w["model.embed_tokens.weight"])
        return rmsnorm(x, w["model.norm.weight"], eps) @ head.T

    def log_probs(self, ids):
        logits = self.logits(ids)
        largest = logits.max(-1, keepdims=True)
        return logits - largest - np.log(np.exp(logits - largest).sum(-1, keepdims=True))

    def greedy(self, ids, n):
        """Without a cache: the plainest way there is."""
        out, gaps = [], []
        for _ in range(n):
            row = self.logits(ids + out)[-1]
            best = np.argsort(-row, kind="stable")[:2]
            out.append(int(best[0]))
            gaps.append(float(row[best[0]] - row[best[1]]))
        return out, gaps
