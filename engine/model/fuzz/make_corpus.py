#!/usr/bin/env python3
"""Writes the files that the fuzz programs begin with (engine/model/*_fuzz.cc): small whole models in every shape the
readers know, and near misses.

python3 engine/model/fuzz/make_corpus.py     # standard library only; gguf/, safetensors/, config/ and tokenizer/ here
"""
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).parent
CUT = b"\n%%\n"


def write(reader, name, data):
    (HERE / reader).mkdir(exist_ok=True)
    (HERE / reader / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def dump(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# --- GGUF ---

U32, I32, F32, BOOL, STRING, ARRAY, U64 = 4, 5, 6, 7, 8, 9, 10
PACK = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?", U64: "<Q"}
# ggml's number: values and bytes of a block
BLOCKS = {0: (1, 4), 1: (1, 2), 30: (1, 2), 8: (32, 34), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 12: (256, 144),
          13: (256, 176), 14: (256, 210)}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def items(kind, values):
    if kind == ARRAY:
        return b"".join(struct.pack("<IQ", inner, len(v)) + items(inner, v) for inner, v in values)
    return b"".join(text(v) if kind == STRING else struct.pack(PACK[kind], v) for v in values)


def typed(kind, value):
    if kind == ARRAY:
        inner, values = value
        return struct.pack("<IIQ", ARRAY, inner, len(values)) + items(inner, values)
    return struct.pack("<I", kind) + items(kind, [value])


def gguf(values, tensors, version=3, alignment=32):
    """values: key to (type, value); tensors: name to (dimensions, innermost first, and ggml's type)."""
    data, infos = b"", b""
    for name, (dimensions, kind) in tensors.items():
        data += bytes(-len(data) % alignment)
        infos += text(name) + struct.pack("<I", len(dimensions)) + struct.pack(f"<{len(dimensions)}Q", *dimensions)
        infos += struct.pack("<IQ", kind, len(data))
        n = 1
        for extent in dimensions:
            n *= extent
        n_values, n_bytes = BLOCKS[kind]
        data += bytes([0, 0x3c] * (n // n_values * n_bytes // 2))
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values))
    head += b"".join(text(key) + typed(*value) for key, value in values.items()) + infos
    return head + bytes(-len(head) % alignment) + data


def byte_level_words():
    return ["h", "e", "\u0120", "s", "a", "\u00c3", "\u00a9", "he", "<|start|>", "<|end|>"]


def gguf_values(architecture, width):
    words = byte_level_words()
    a = architecture + "."
    return {
        "general.architecture": (STRING, architecture),
        a + "block_count": (U32, 1),
        a + "context_length": (U32, 64),
        a + "embedding_length": (U32, width),
        a + "feed_forward_length": (U32, width),
        a + "attention.head_count": (U32, 2),
        a + "attention.head_count_kv": (U32, 1),
        a + "attention.layer_norm_rms_epsilon": (F32, 1e-5),
        "tokenizer.ggml.model": (STRING, "gpt2"),
        "tokenizer.ggml.pre": (STRING, "smollm"),
        "tokenizer.ggml.tokens": (ARRAY, (STRING, words)),
        "tokenizer.ggml.token_type": (ARRAY, (I32, [1] * (len(words) - 2) + [3, 3])),
        "tokenizer.ggml.merges": (ARRAY, (STRING, ["h e"])),
        "tokenizer.ggml.bos_token_id": (U32, len(words) - 2),
        "tokenizer.ggml.eos_token_id": (U32, len(words) - 1),
    }


def gguf_tensors(architecture, width, kind=0, n_tokens=10, tied=True):
    half = width // 2  # of one key head; heads are even
    tensors = {
        "token_embd.weight": ([width, n_tokens], kind),
        "blk.0.attn_norm.weight": ([width], 0),
        "blk.0.attn_q.weight": ([width, width], kind),
        "blk.0.attn_k.weight": ([width, half], kind),
        "blk.0.attn_v.weight": ([width, half], kind),
        "blk.0.attn_output.weight": ([width, width], kind),
        "blk.0.ffn_norm.weight": ([width], 0),
        "blk.0.ffn_gate.weight": ([width, width], kind),
        "blk.0.ffn_up.weight": ([width, width], kind),
        "blk.0.ffn_down.weight": ([width, width], kind),
        "output_norm.weight": ([width], 0),
    }
    if architecture == "qwen2":
        tensors.update({f"blk.0.attn_{x}.bias": ([width if x == "q" else half], 0) for x in "qkv"})
    if architecture == "qwen3":
        tensors.update({f"blk.0.attn_{x}_norm.weight": ([half], 0) for x in "qk"})
    if not tied:
        tensors["output.weight"] = ([width, n_tokens], kind)
    return tensors


def sentencepiece_values():
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + ["\u2581", "a", "\u2581a"]
    values = gguf_values("llama", 4)
    for key in ["merges", "pre"]:
        del values["tokenizer.ggml." + key]
    values.update({
        "tokenizer.ggml.model": (STRING, "llama"),
        "tokenizer.ggml.tokens": (ARRAY, (STRING, tokens)),
        "tokenizer.ggml.scores": (ARRAY, (F32, [-float(i) for i in range(len(tokens))])),
        "tokenizer.ggml.token_type": (ARRAY, (I32, [2, 3, 3] + [6] * 256 + [1, 4, 1])),
        "tokenizer.ggml.bos_token_id": (U32, 1),
        "tokenizer.ggml.eos_token_id": (U32, 2),
        "tokenizer.ggml.unknown_token_id": (U32, 0),
        "tokenizer.ggml.add_space_prefix": (BOOL, True),
    })
    return values, len(tokens)


def write_gguf():
    for architecture in ["llama", "qwen2", "qwen3"]:
        values = gguf_values(architecture, 4)
        write("gguf", architecture, gguf(values, gguf_tensors(architecture, 4, tied=architecture != "qwen2")))
    values, n_tokens = sentencepiece_values()
    write("gguf", "sentencepiece", gguf(values, gguf_tensors("llama", 4, n_tokens=n_tokens)))
    silent = {key: value for key, value in values.items() if not key.endswith(("bos_token_id", "eos_token_id"))}
    write("gguf", "silent", gguf(silent, gguf_tensors("llama", 4, n_tokens=n_tokens)))
    llama = gguf_values("llama", 4)
    for name, kind in [("f16", 1), ("bf16", 30)]:
        write("gguf", name, gguf(llama, gguf_tensors("llama", 4, kind, tied=False)))
    for name, kind in [("q8_0", 8), ("q4_0", 2), ("q4_1", 3), ("q5_0", 6), ("q5_1", 7)]:
        write("gguf", name, gguf(gguf_values("llama", 32), gguf_tensors("llama", 32, kind)))
    # Rows of 256 are too large to keep whole models of.
    for name, kind in [("q4_k", 12), ("q5_k", 13), ("q6_k", 14)]:
        write("gguf", name, gguf(gguf_values("llama", 256), {"token_embd.weight": ([256, 10], kind)}))
    yarn = {"rope.scaling.type": (STRING, "yarn"), "rope.scaling.factor": (F32, 4),
            "rope.scaling.original_context_length": (U32, 16), "rope.freq_base": (F32, 5e5),
            "rope.dimension_count": (U32, 2), "attention.key_length": (U32, 2), "attention.value_length": (U32, 2)}
    more = {"general.alignment": (U32, 64), "general.type": (STRING, "model"), "split.count": (U32, 0),
            "general.quantization_version": (U32, 2), "tokenizer.ggml.add_bos_token": (BOOL, True),
            "general.tags": (ARRAY, (ARRAY, [(U32, [1, 2]), (STRING, ["a"]), (BOOL, [True])])), "x": (U64, 1)}
    values = llama | more | {"llama." + key: value for key, value in yarn.items()}
    write("gguf", "yarn", gguf(values, gguf_tensors("llama", 4), alignment=64))
    write("gguf", "factors", gguf(llama, gguf_tensors("llama", 4) | {"rope_freqs.weight": ([1], 0)}))
    write("gguf", "version2", gguf(llama, gguf_tensors("llama", 4), version=2))
    write("gguf", "gemma", gguf(llama | {"general.architecture": (STRING, "gemma")}, {}))
    write("gguf", "no-tensors", gguf(llama, {}))
    write("gguf", "empty", gguf({}, {}))
    write("gguf", "huge-counts", b"GGUF" + struct.pack("<IQQ", 3, 2**63, 2**63))


# --- safetensors ---

TYPES = {"F32": (4, "<f"), "F16": (2, "<e"), "BF16": (2, None)}


def tensor_file(tensors):
    """tensors: name to (shape, type). Header and data."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (shape, kind) in tensors.items():
        n = 1
        for extent in shape:
            n *= extent
        one = b"\x80\x3f" if kind == "BF16" else struct.pack(TYPES[kind][1], 1.5)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + n * len(one)]}
        data += one * n
    return dump(header).encode(), data


def layer_tensors(architecture, kind, tied):
    """As safetensors_fuzz.cc's config_of: 3 tokens, width 2, one layer, two heads of 2 over one, feed-forward width 1. kind: None
    for each type in turn."""
    layer = "model.layers.0."
    tensors = {"model.embed_tokens.weight": [3, 2], layer + "input_layernorm.weight": [2],
               layer + "self_attn.q_proj.weight": [4, 2], layer + "self_attn.k_proj.weight": [2, 2],
               layer + "self_attn.v_proj.weight": [2, 2], layer + "self_attn.o_proj.weight": [2, 4],
               layer + "post_attention_layernorm.weight": [2], layer + "mlp.gate_proj.weight": [1, 2],
               layer + "mlp.up_proj.weight": [1, 2], layer + "mlp.down_proj.weight": [2, 1], "model.norm.weight": [2]}
    if architecture == "qwen2":
        tensors |= {layer + "self_attn.q_proj.bias": [4], layer + "self_attn.k_proj.bias": [2],
                    layer + "self_attn.v_proj.bias": [2]}
    if architecture == "qwen3":
        tensors |= {layer + "self_attn.q_norm.weight": [2], layer + "self_attn.k_norm.weight": [2]}
    if not tied:
        tensors["lm_head.weight"] = [3, 2]
    kinds = [kind] if kind else list(TYPES)
    return {name: (shape, kinds[i % len(kinds)]) for i, (name, shape) in enumerate(tensors.items())}


def write_safetensors():
    def flags(architecture, tied, single, whole):
        place = ["llama", "mistral", "qwen2", "qwen3"].index(architecture)
        return bytes([64 | place | 4 * tied | 8 * single | 16 * whole])  # 64: a letter, to be read

    def whole(header, data):
        return struct.pack("<Q", len(header)) + header + data

    for architecture, kind, tied in [("llama", None, True), ("mistral", "F16", False), ("qwen2", "BF16", False),
                                     ("qwen3", "F32", True)]:
        tensors = layer_tensors(architecture, kind, tied)
        header, data = tensor_file(tensors)
        write("safetensors", architecture, flags(architecture, tied, True, False) + header + CUT + data)
        names = list(tensors)
        shards = [tensor_file({name: tensors[name] for name in part}) for part in (names[:5], names[5:])]
        placed = {name: f"{'a' if name in names[:5] else 'b'}.safetensors" for name in names}
        index = dump({"metadata": {"total_size": len(data)}, "weight_map": placed}).encode()
        parts = [index] + [part for shard in shards for part in shard]
        write("safetensors", architecture + "-shards", flags(architecture, tied, False, False) + CUT.join(parts))
    hostile = dump({"weight_map": {"model.norm.weight": "a\x7f\x1b[2J.safetensors", "x": "a" * 250 + ".safetensors"}}).encode()
    write("safetensors", "shard-names", flags("llama", True, False, False) + hostile)
    header, data = tensor_file(layer_tensors("llama", "F32", True))
    begin = flags("llama", True, True, True)
    write("safetensors", "whole", begin + whole(header, data))
    write("safetensors", "cut", begin + whole(header, data)[:-9])
    write("safetensors", "huge-length", begin + struct.pack("<Q", 2**60) + header)
    small = flags("llama", True, True, False)
    for name, header, data in [
            ("scalar", {"s": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}, b"\0\0\x80\x7f"),
            ("nan", {"n": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}, b"\x80\x3f\xc0\x7f"),
            ("int8", {"i": {"dtype": "I8", "shape": [4], "data_offsets": [0, 4]}}, b"abcd"),
            ("overlap", {"a": {"dtype": "F16", "shape": [1], "data_offsets": [0, 2]},
                         "b": {"dtype": "F16", "shape": [1], "data_offsets": [1, 3]}}, b"abc"),
            ("huge-shape", {"a": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 0]}}, b"")]:
        write("safetensors", name, small + dump(header).encode() + CUT + data)


# --- config.json ---

def write_config():
    sizes = {"vocab_size": 300, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 12,
             "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "bos_token_id": 1, "eos_token_id": 2}
    generation = CUT.decode() + dump({"eos_token_id": [2, 7], "bos_token_id": 1})
    for kind, name, fields in [
            ("llama", "Llama", {"num_key_value_heads": 2, "head_dim": 6, "tie_word_embeddings": True, "rope_theta": 5e5,
                                "hidden_act": "silu", "attention_bias": False, "mlp_bias": False, "rope_scaling": None}),
            ("mistral", "Mistral", {"num_key_value_heads": 2, "sliding_window": 32}),
            ("qwen2", "Qwen2", {"num_key_value_heads": 1, "use_sliding_window": False, "max_window_layers": 2,
                                "layer_types": ["full_attention"] * 2}),
            ("qwen3", "Qwen3", {"num_key_value_heads": 4, "head_dim": 4, "attention_bias": False, "sliding_window": None,
                                "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}})]:
        config = {"architectures": [name + "ForCausalLM"], "model_type": kind} | sizes | fields
        write("config", kind, dump(config) + generation)
    llama = {"model_type": "llama"} | sizes
    for name, scaling in [
            ("linear", {"type": "linear", "factor": 2}),
            ("llama3", {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                        "original_max_position_embeddings": 32}),
            ("yarn", {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 32,
                      "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 0.7, "attention_factor": 1.1, "truncate": True})]:
        write("config", name, dump(llama | {"rope_scaling": scaling}))
    write("config", "parameters", dump(llama | {"rope_parameters": {"rope_type": "linear", "factor": 3, "rope_theta": 1e4,
                                                                    "partial_rotary_factor": 1.0}}))
    write("config", "gemma", dump({"architectures": ["GemmaForCausalLM"], "model_type": "gemma"} | sizes))
    write("config", "quantized", dump(llama | {"quantization_config": {"bits": 4}, "num_local_experts": 8}))
    write("config", "huge", dump(llama | {"hidden_size": 2**63, "vocab_size": 1e300, "num_hidden_layers": -1}))
    write("config", "deep", '{"model_type":"llama","x":' + "[" * 70)


# --- tokenizer.json ---

def byte_symbols():
    moved, symbols = 0, []
    for byte in range(256):
        printable = 33 <= byte <= 126 or 161 <= byte <= 172 or byte >= 174
        symbols.append(chr(byte if printable else 256 + moved))
        moved += not printable
    return symbols


def template(ids):
    return {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                                     {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": ids, "tokens": ["<s>"]}}}


def write_tokenizer():
    def added(*tokens):
        return [{"id": id_, "content": content, "single_word": False, "lstrip": strip, "rstrip": strip,
                 "normalized": normalized, "special": not normalized} for id_, content, strip, normalized in tokens]

    space = "\u2581"
    few = ["a", "b", "ab", "\u0120", "\u00c3", "\u00a9", "\u010a", "4", "2"]
    words = {word: i for i, word in enumerate(few)}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    write("tokenizer", "byte-level.json", dump(
        {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added((9, "<x>", False, False)),
         "normalizer": {"type": "NFC"}, "pre_tokenizer": byte_level, "post_processor": byte_level, "decoder": byte_level,
         "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
                   "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False, "vocab": words,
                   "merges": ["a b"]}}))
    write("tokenizer", "split.json", dump(
        {"added_tokens": added((9, "<s>", False, False), (10, " <x>", True, True)), "post_processor": template([9]),
         "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
             {"type": "Split", "pattern": {"Regex": "\\p{N}{1,3}|(?i:'s|'t)|\\s+(?!\\S)|[^\\r\\n\\p{L}]?\\p{L}+"},
              "behavior": "Isolated", "invert": False},
             {"type": "Split", "pattern": {"String": "x"}, "behavior": "Removed", "invert": True},
             {"type": "Digits", "individual_digits": True}, byte_level | {"use_regex": False}]},
         "model": {"type": "BPE", "ignore_merges": True, "vocab": words, "merges": [["a", "b"]]}}))
    everything = ["<unk>", "<s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + [space, "a", "b", "ab", space + "a"]
    write("tokenizer", "fallback.json", dump(
        {"added_tokens": added((0, "<unk>", False, False), (1, "<s>", False, False), (263, "<x>", True, True)),
         "normalizer": {"type": "Sequence", "normalizers": [
             {"type": "Prepend", "prepend": space}, {"type": "Replace", "pattern": {"String": " "}, "content": space}]},
         "pre_tokenizer": None, "post_processor": {"type": "Sequence", "processors": [template([1])]},
         "decoder": {"type": "Sequence", "decoders": [
             {"type": "Replace", "pattern": {"String": space}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
             {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
         "model": {"type": "BPE", "byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>",
                   "vocab": {word: i for i, word in enumerate(everything)}, "merges": ["a b", space + " a"]}}))
    metaspace = {"type": "Metaspace", "replacement": space, "prepend_scheme": "first", "split": True}
    write("tokenizer", "characters.json", dump(
        {"pre_tokenizer": metaspace, "decoder": metaspace,
         "model": {"type": "BPE", "unk_token": "<unk>", "vocab": {"<unk>": 0, "a": 1, "b": 2, "ab": 3, space: 4},
                   "merges": ["a b"]}}))
    unigram = {"type": "Unigram", "unk_id": 0, "byte_fallback": False,
               "vocab": [["<unk>", 0], ["a", -1.5], [space + "a", -2.25], ["ab", -1e-3], [space, -3]]}
    write("tokenizer", "unigram.json", dump(
        {"added_tokens": added((5, "<x>", False, True)), "pre_tokenizer": metaspace | {"prepend_scheme": "always"},
         "decoder": metaspace | {"prepend_scheme": "always"}, "model": unigram}))
    write("tokenizer", "far-id.json", dump({"pre_tokenizer": byte_level, "model": {
        "type": "BPE", "vocab": {"a": 4194303}, "merges": []}}))
    grow = {"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaa"}
    write("tokenizer", "growing.json", dump(
        {"added_tokens": added((5, "<x>a", False, True)), "normalizer": {"type": "Sequence", "normalizers": [grow] * 12},
         "pre_tokenizer": metaspace | {"prepend_scheme": "never"}, "decoder": {"type": "Fuse"}, "model": unigram}))
    write("tokenizer", "backtracking.json", dump({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": "(\\p{L}+\\s?)+$"}, "behavior": "Isolated"}, byte_level]},
        "model": {"type": "BPE", "vocab": words, "merges": []}}))
    write("tokenizer", "wordpiece.json", dump({"model": {"type": "WordPiece", "vocab": {}}, "decoder": {"type": "WordPiece"}}))
    write("tokenizer", "text", "he said \u00e9t\u00e9 e\u0301\u0323  42's\n\n<s>\u2581a\U0001f600".encode() + b"\xff\xc3")


if __name__ == "__main__":
    write_gguf()
    write_safetensors()
    write_config()
    write_tokenizer()
