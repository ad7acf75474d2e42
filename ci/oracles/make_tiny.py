#!/usr/bin/env python3
"""Writes small random models of each architecture as Hugging Face's transformers saves them, for parity.py.

  pip install torch transformers
  python3 make_tiny.py OUT --tokenizer DIRECTORY   # tokenizer.json and tokenizer_config.json of that directory, and its vocabulary

OUT/llama3 (scaled RoPE of Llama 3.1 that bites from position 64 on; float32), OUT/mistral (a window of 4,096; bfloat16), OUT/qwen2
(biases; float16), OUT/qwen3 (norms of query and key, heads wider than width / heads, tied, several files; bfloat16). Norms, biases and
matrices are all drawn, so that leaving one out shows.
"""
import argparse
import json
import pathlib
import shutil

import torch
from transformers import (LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config,
                          Qwen3ForCausalLM)

SHAPE = {"hidden_size": 64, "intermediate_size": 160, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "max_position_embeddings": 8192, "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}
MODELS = {
    "llama3": (LlamaConfig, LlamaForCausalLM, torch.float32, {"rope_parameters": LLAMA3}),
    "mistral": (MistralConfig, MistralForCausalLM, torch.bfloat16, {
        "sliding_window": 4096, "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0}}),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM, torch.float16, {"rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0}}),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM, torch.bfloat16, {
        "head_dim": 32, "tie_word_embeddings": True, "rope_parameters": {"rope_type": "default", "rope_theta": 5000000.0}}),
}
HEAD_SPREAD = 3.0  # standard deviation of the logits: a law with peaks


def fill(model):
    for name, value in model.named_parameters():
        if name.endswith("norm.weight"):
            value.copy_(1 + 0.3 * torch.randn_like(value))
        elif name.endswith("bias"):
            value.copy_(0.5 * torch.randn_like(value))
        elif name.startswith(("model.embed_tokens", "lm_head")):
            value.copy_(torch.randn_like(value) * HEAD_SPREAD / value.shape[1]**0.5)
        else:
            value.copy_(torch.randn_like(value) * 1.5 / value.shape[1]**0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--tokenizer", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    tokenizer = json.loads((args.tokenizer / "tokenizer.json").read_text())
    n_tokens = len(tokenizer["model"]["vocab"])
    for name, (config_class, model_class, dtype, fields) in MODELS.items():
        torch.manual_seed(args.seed)
        model = model_class(config_class(vocab_size=n_tokens, **(SHAPE | fields)))
        with torch.no_grad():
            fill(model)
        model.to(dtype).save_pretrained(args.out / name, max_shard_size="4MB" if name == "qwen3" else "5GB")
        for file in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copyfile(args.tokenizer / file, args.out / name / file)
        print(args.out / name)


if __name__ == "__main__":
    main()
