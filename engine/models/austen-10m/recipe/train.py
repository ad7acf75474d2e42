"""Train the embedded model: a small Llama with layer dropout and an early-exit loss, so that its first layers can draft.

Reads train.bin / val.bin (of tokenizer_train.py) in the current folder; writes OUT/config.json and OUT/model.safetensors
(bf16, Hugging Face layout).
Recipe after LayerSkip (Elhoushi et al., 2024): dropout of layer l is P_MAX (2^(l/(L-1)) - 1), and each step adds the loss of
one randomly drawn exit layer. Stage 1 fits exits to the text; stage 2 fits them to the full model's own distribution
(self-distillation, gradient stopped), which is what acceptance measures.  Needs: torch, numpy.
Every 200 steps it prints the held-out loss and, by exit layer, sum min(target, draft) at T = 1 and top-1 agreement.
"""
import argparse
import dataclasses
import json
import math
import os
import random
import struct
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

VOCAB, WIDTH, LAYERS, HEADS, KV_HEADS, FEED_FORWARD = 4096, 256, 12, 4, 2, 704
HEAD_DIM, ROPE_THETA, NORM_EPS, CONTEXT = WIDTH // HEADS, 10000.0, 1e-5, 256
BOS, EOS = 4094, 4095
P_MAX, WEIGHT_DECAY, BETAS, CLIP = 0.1, 0.1, (0.9, 0.95), 1.0
REPORTED_EXITS = (2, 3, 4, 6, 8)


@dataclasses.dataclass(frozen=True)
class Stage:
    steps: int
    schedule_steps: int  # length of the cosine, of which `steps` are run
    rate: float  # peak learning rate
    warm_up: int
    floor: float  # final rate as a share of the peak
    dropout: float
    exits: tuple  # exit layers drawn from, 1-based
    exit_weight: float
    distil: bool  # exits fit the full model instead of the text


STAGES = (
    Stage(1201, 2250, 1.6e-3, 100, 0.05, 0.1, (2, 3, 3, 4, 4, 6, 8, 10), 0.35, False),
    Stage(850, 850, 9e-4, 30, 0.03, 0.05, (2, 3, 3, 4, 6), 0.7, True),
)


class RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + NORM_EPS) * self.weight


def rope_tables(length):
    frequency = ROPE_THETA ** (-torch.arange(0, HEAD_DIM, 2).float() / HEAD_DIM)
    angle = torch.outer(torch.arange(length).float(), frequency).repeat(1, 2)
    return angle.cos(), angle.sin()


COS, SIN = rope_tables(CONTEXT)
CAUSAL = torch.full((CONTEXT, CONTEXT), -math.inf).triu(1)


def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        linear = lambda n_in, n_out: nn.Linear(n_in, n_out, bias=False)
        self.input_layernorm, self.post_attention_layernorm = RmsNorm(), RmsNorm()
        self.q_proj, self.o_proj = linear(WIDTH, HEADS * HEAD_DIM), linear(HEADS * HEAD_DIM, WIDTH)
        self.k_proj, self.v_proj = linear(WIDTH, KV_HEADS * HEAD_DIM), linear(WIDTH, KV_HEADS * HEAD_DIM)
        self.gate_proj, self.up_proj = linear(WIDTH, FEED_FORWARD), linear(WIDTH, FEED_FORWARD)
        self.down_proj = linear(FEED_FORWARD, WIDTH)

    def heads(self, x, n):
        return x.view(x.shape[0], x.shape[1], n, HEAD_DIM).transpose(1, 2)

    def attention(self, x):
        t = x.shape[1]
        q, k, v = self.heads(self.q_proj(x), HEADS), self.heads(self.k_proj(x), KV_HEADS), self.heads(self.v_proj(x), KV_HEADS)
        q, k = (z * COS[:t] + rotate_half(z) * SIN[:t] for z in (q, k))
        k, v = (z.repeat_interleave(HEADS // KV_HEADS, 1) for z in (k, v))
        weights = (q @ k.transpose(-1, -2) / math.sqrt(HEAD_DIM) + CAUSAL[:t, :t]).softmax(-1)
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))

    def forward(self, x, dropout):
        x = x + F.dropout(self.attention(self.input_layernorm(x)), dropout, self.training)
        h = self.post_attention_layernorm(x)
        return x + F.dropout(self.down_proj(F.silu(self.gate_proj(h)) * self.up_proj(h)), dropout, self.training)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = RmsNorm()
        for name, p in self.named_parameters():
            if p.dim() == 2:
                scale = math.sqrt(2 * LAYERS) if name.endswith(("o_proj.weight", "down_proj.weight")) else 1
                nn.init.normal_(p, std=0.02 / scale)

    def hidden(self, ids, exits=(), dropout=0.0):
        """Final hidden states, and those after each layer in exits (1-based)."""
        x = F.dropout(self.embed(ids), dropout, self.training)
        at_exit = {}
        for l, block in enumerate(self.layers):
            p_skip = P_MAX * (math.exp(l * math.log(2) / (LAYERS - 1)) - 1)
            if not (self.training and random.random() < p_skip):
                x = block(x, dropout)
            if l + 1 in exits:
                at_exit[l + 1] = x
        return x, at_exit

    def logits(self, hidden):
        return self.norm(hidden) @ self.embed.weight.t()


def batch_of(ids, size):
    starts = torch.randint(len(ids) - CONTEXT - 1, (size,))
    x = torch.stack([ids[s:s + CONTEXT] for s in starts])
    return x, torch.stack([ids[s + 1:s + CONTEXT + 1] for s in starts])


def cross_entropy(logits, targets):
    return F.cross_entropy(logits.view(-1, VOCAB), targets.view(-1))


@torch.no_grad()
def evaluate(model, ids, n_batches):
    state = torch.get_rng_state()
    torch.manual_seed(7)
    model.eval()
    loss, overlap, agree = 0.0, dict.fromkeys(REPORTED_EXITS, 0.0), dict.fromkeys(REPORTED_EXITS, 0.0)
    for _ in range(n_batches):
        x, y = batch_of(ids, 8)
        final, at_exit = model.hidden(x, REPORTED_EXITS)
        logits = model.logits(final)
        loss += cross_entropy(logits, y).item() / n_batches
        target = logits.softmax(-1)
        for e in REPORTED_EXITS:
            draft = model.logits(at_exit[e]).softmax(-1)
            overlap[e] += torch.minimum(target, draft).sum(-1).mean().item() / n_batches
            agree[e] += (target.argmax(-1) == draft.argmax(-1)).float().mean().item() / n_batches
    model.train()
    torch.set_rng_state(state)
    rounded = lambda d: {e: round(v, 3) for e, v in d.items()}
    return f"loss {loss:.3f} overlap {rounded(overlap)} top-1 {rounded(agree)}"


def save(model, folder):
    os.makedirs(folder, exist_ok=True)
    tensors = {"model.embed_tokens.weight": model.embed.weight, "model.norm.weight": model.norm.weight}
    for l, block in enumerate(model.layers):
        for name, p in block.named_parameters():
            part = name.split(".")[0]
            part = {"q": "self_attn.", "k": "self_attn.", "v": "self_attn.", "o": "self_attn.", "g": "mlp.", "u": "mlp.",
                    "d": "mlp."}.get(part[0] if part.endswith("_proj") else "", "") + part
            tensors[f"model.layers.{l}.{part}.weight"] = p
    header, offset, blobs = {}, 0, []
    for name, p in tensors.items():
        blob = p.detach().to(torch.bfloat16).contiguous().view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(p.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder + "/model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))
    with open(folder + "/config.json", "w", encoding="utf-8") as f:
        json.dump({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": VOCAB, "hidden_size": WIDTH,
                   "intermediate_size": FEED_FORWARD, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
                   "num_key_value_heads": KV_HEADS, "head_dim": HEAD_DIM, "rms_norm_eps": NORM_EPS, "rope_theta": ROPE_THETA,
                   "max_position_embeddings": 1024, "tie_word_embeddings": True, "hidden_act": "silu", "bos_token_id": BOS,
                   "eos_token_id": EOS, "torch_dtype": "bfloat16"}, f, indent=1)


def train_stage(model, stage, ids, batch, out):
    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() != 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=stage.rate, betas=BETAS)
    start = time.monotonic()
    for step in range(stage.steps):
        cosine = 0.5 * (1 + math.cos(math.pi * step / stage.schedule_steps))
        rate = stage.rate * min(1.0, (step + 1) / stage.warm_up) * (stage.floor + (1 - stage.floor) * cosine)
        for group in optimizer.param_groups:
            group["lr"] = rate
        x, y = batch_of(ids["train"], batch)
        exit_layer = random.choice(stage.exits)
        final, at_exit = model.hidden(x, (exit_layer,), stage.dropout)
        logits, exit_logits = model.logits(final), model.logits(at_exit[exit_layer])
        loss = cross_entropy(logits, y)
        if stage.distil:
            exit_loss = -(logits.detach().softmax(-1) * exit_logits.log_softmax(-1)).sum(-1).mean()
        else:
            exit_loss = cross_entropy(exit_logits, y)
        optimizer.zero_grad(set_to_none=True)
        ((loss + stage.exit_weight * exit_loss) / (1 + stage.exit_weight)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        if step % 20 == 0:
            print(step, f"{loss.item():.3f} {exit_loss.item():.3f}", f"{time.monotonic() - start:.0f} s", flush=True)
        if step and step % 200 == 0:
            print("held out at", step, evaluate(model, ids["val"], 8), flush=True)
            save(model, out)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--batch", type=int, default=8)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--threads", type=int, default=os.cpu_count())
    options.add_argument("--out", default="austen-10m")
    options.add_argument("--steps", type=int, nargs=2, help="override the steps of the two stages (a quick trial)")
    o = options.parse_args()
    torch.manual_seed(o.seed), random.seed(o.seed), torch.set_num_threads(o.threads)
    ids = {name: torch.from_numpy(np.fromfile(name + ".bin", dtype=np.uint16).astype(np.int64)) for name in ("train", "val")}
    model = Model().train()
    for i, stage in enumerate(STAGES):
        if o.steps:
            stage = dataclasses.replace(stage, steps=o.steps[i], schedule_steps=o.steps[i])
        print("stage", i + 1, flush=True)
        train_stage(model, stage, ids, o.batch, o.out)
    print("held out at the end", evaluate(model, ids["val"], 20))
    save(model, o.out)


if __name__ == "__main__":
    main()
