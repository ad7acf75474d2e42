#!/usr/bin/env python3
"""Writes engine/model/golden/rope.json: the rotary frequencies and magnitudes that Hugging Face's transformers computes
from small config.json files. engine/model/rope_golden_test.cc compares with them.
pip install torch transformers==5.18.0; python3 ci/oracles/rope_golden.py
"""
import json
import pathlib

from transformers import LlamaConfig, MistralConfig, Qwen2Config, Qwen3Config
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

GOLDEN = pathlib.Path(__file__).parents[2] / "engine/model/golden/rope.json"
CLASSES = {"llama": LlamaConfig, "mistral": MistralConfig, "qwen2": Qwen2Config, "qwen3": Qwen3Config}
SHAPE = {"vocab_size": 32, "hidden_size": 256, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
         "num_key_value_heads": 2}

# Beside invented ones: Llama 3.1 8B, Llama 3.2 1B, TinyLlama, Mistral 7B, Qwen2.5 7B with its recipe for long texts,
# Qwen3 with the same, each with the fields of its own config.json that bear on the rotation.
CASES = [
    {"model_type": "llama"},
    {"model_type": "llama", "max_position_embeddings": 2048, "rope_theta": 10000.0, "rope_scaling": None},
    {"model_type": "llama", "max_position_embeddings": 131072, "rope_theta": 500000.0, "rope_scaling": {
        "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
        "rope_type": "llama3"}},
    {"model_type": "llama", "head_dim": 64, "max_position_embeddings": 131072, "rope_theta": 500000.0, "rope_scaling": {
        "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
        "rope_type": "llama3"}},
    {"model_type": "llama", "max_position_embeddings": 4096, "rope_scaling": {
        "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "rope_type": "llama3"}},
    {"model_type": "llama", "max_position_embeddings": 8192, "rope_scaling": {"type": "linear", "factor": 4.0}},
    {"model_type": "mistral", "head_dim": 128, "max_position_embeddings": 32768, "rope_theta": 1000000.0,
     "sliding_window": None},
    {"model_type": "qwen2", "max_position_embeddings": 32768, "rope_theta": 1000000.0, "rope_scaling": {
        "factor": 4.0, "original_max_position_embeddings": 32768, "type": "yarn"}},
    {"model_type": "qwen3", "head_dim": 128, "max_position_embeddings": 131072, "rope_theta": 1000000, "rope_scaling": {
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}},
    {"model_type": "qwen3", "head_dim": 128, "max_position_embeddings": 40960, "rope_parameters": {
        "rope_theta": 1000000, "rope_type": "default"}},
    {"model_type": "llama", "max_position_embeddings": 65536, "rope_parameters": {
        "rope_type": "yarn", "rope_theta": 150000.0, "factor": 16.0, "original_max_position_embeddings": 4096,
        "beta_fast": 64.0, "beta_slow": 2.0, "attention_factor": 1.5}},
    {"model_type": "llama", "max_position_embeddings": 163840, "rope_scaling": {
        "rope_type": "yarn", "factor": 40, "original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1,
        "mscale": 0.707, "mscale_all_dim": 1.414}},
    {"model_type": "llama", "max_position_embeddings": 65536, "original_max_position_embeddings": 2048, "rope_scaling": {
        "rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 4096}},
]


def golden(case):
    config = SHAPE | case
    fields = json.loads(json.dumps(config))  # the config classes change what they are given
    fields.pop("model_type")
    rotary = LlamaRotaryEmbedding(CLASSES[case["model_type"]](**fields))
    return {"config": config, "frequencies": [float(x) for x in rotary.inv_freq],
            "magnitude": float(rotary.attention_scaling)}


def main():
    lines = [json.dumps(golden(case)) for case in CASES]
    GOLDEN.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
