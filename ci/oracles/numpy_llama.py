"""A Llama-like model in float64 numpy, written from the formulas: the peer "numpy" of parity.py. Needs numpy, and tokenizers to
encode. Hugging Face directories of F32, F16 or BF16; what it does not compute (scaled RoPE, windows, other activations, tensors it has
no use for) it refuses by name."""
import json
import pathlib
import struct

import numpy as np

MODEL_TYPES = ("llama", "mistral", "qwen2", "qwen3")
LAYER_MATRICES = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj",
                  "mlp.down_proj", "input_layernorm", "post_attention_layernorm")


def refuse(what):
    raise SystemExit(f"numpy_llama.py: {what} is not computed here; use another peer")


def log_softmax(logits):
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


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


def read_theta(config):
    """transformers 5 writes rope_parameters, before it rope_theta and rope_scaling."""
    scaling = config.get("rope_scaling") or {}
    parameters = config.get("rope_parameters") or {}
    for table in (scaling, parameters):
        kind = table.get("rope_type") or table.get("type") or ("default" if table is parameters or not table else None)
        if kind != "default":
            refuse(f"RoPE scaling {kind!r}")
    if parameters.get("partial_rotary_factor", config.get("partial_rotary_factor") or 1) != 1:
        refuse("rotating a part of each head")
    theta = parameters.get("rope_theta", scaling.get("rope_theta", config.get("rope_theta")))
    if theta is None:
        refuse("a config.json without rope_theta")
    return float(theta)


def check_config(config):
    if config.get("model_type") not in MODEL_TYPES:
        refuse(f"model_type {config.get('model_type')!r}")
    if config.get("hidden_act", "silu") != "silu":
        refuse(f"activation {config['hidden_act']!r}")
    if config.get("use_sliding_window") or set(config.get("layer_types") or ()) - {"full_attention"}:
        refuse("a sliding window")


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
    name = f"numpy {np.__version__}, float64"

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.config = json.loads((self.folder / "config.json").read_text())
        check_config(self.config)
        self.theta = read_theta(self.config)
        # Mistral's class has a window of 4,096 where the file names none.
        absent = 4096 if self.config["model_type"] == "mistral" else None
        self.window = self.config.get("sliding_window", absent) if self.config["model_type"] in ("llama", "mistral") else None
        self.eps = self.config["rms_norm_eps"]
        self.weights = {}
        for path in sorted(self.folder.glob("*.safetensors")):
            self.weights.update(read_safetensors(path))
        self.check_tensors()

    def check_tensors(self):
        """Every tensor has its use, none is missing, and the head is tied where the file says so."""
        layers = [f"model.layers.{i}." for i in range(self.config["num_hidden_layers"])]
        needed = {"model.embed_tokens.weight", "model.norm.weight"} | {f"{at}{part}.weight" for at in layers for part in LAYER_MATRICES}
        if not self.config.get("tie_word_embeddings", False):
            needed.add("lm_head.weight")
        optional = {f"{at}self_attn.{x}_proj.bias" for at in layers for x in "qkv"}
        optional |= {f"{at}self_attn.{x}_norm.weight" for at in layers for x in "qk"}
        if missing := needed - self.weights.keys():
            refuse(f"a model without {min(missing)}")
        if unknown := self.weights.keys() - needed - optional:
            refuse(f"the tensor {min(unknown)}")

    def encode(self, text):
        from tokenizers import Tokenizer
        return Tokenizer.from_file(str(self.folder / "tokenizer.json")).encode(text).ids

    def project(self, x, layer, letter, n_heads):
        """[position][head][dim] of query, key or value, with its bias and norm where the model has them."""
        weights, at = self.weights, f"{layer}.self_attn.{letter}"
        y = x @ weights[f"{at}_proj.weight"].T + weights.get(f"{at}_proj.bias", 0.0)
        y = y.reshape(len(x), n_heads, -1)
        return rmsnorm(y, weights[f"{at}_norm.weight"], self.eps) if f"{at}_norm.weight" in weights else y

    def attend(self, x, layer):
        c, n = self.config, len(x)
        heads, kv_heads = c["num_attention_heads"], c.get("num_key_value_heads") or c["num_attention_heads"]
        q = rotated(self.project(x, layer, "q", heads), self.theta)
        k = rotated(self.project(x, layer, "k", kv_heads), self.theta)
        k, v = (np.repeat(a, heads // kv_heads, axis=1) for a in (k, self.project(x, layer, "v", kv_heads)))
        scores = np.einsum("qhd,khd->hqk", q, k, optimize=True) / np.sqrt(q.shape[-1])
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = np.einsum("hqk,khd->qhd", scores, v, optimize=True).reshape(n, -1)
        return mixed @ self.weights[f"{layer}.self_attn.o_proj.weight"].T

    def feed_forward(self, x, layer):
        gate, up, down = (self.weights[f"{layer}.mlp.{part}_proj.weight"].T for part in ("gate", "up", "down"))
        g = x @ gate
        return (g / (1 + np.exp(-g)) * (x @ up)) @ down

    def log_probs(self, ids):
        if self.window is not None and len(ids) > self.window:
            refuse(f"a sliding window of {self.window} on {len(ids)} tokens")
        w = self.weights
        x = w["model.embed_tokens.weight"][np.array(ids)]
        for i in range(self.config["num_hidden_layers"]):
            layer = f"model.layers.{i}"
            x = x + self.attend(rmsnorm(x, w[f"{layer}.input_layernorm.weight"], self.eps), layer)
            x = x + self.feed_forward(rmsnorm(x, w[f"{layer}.post_attention_layernorm.weight"], self.eps), layer)
        head = w["lm_head.weight"] if not self.config.get("tie_word_embeddings", False) else w["model.embed_tokens.weight"]
        return log_softmax(rmsnorm(x, w["model.norm.weight"], self.eps) @ head.T)
