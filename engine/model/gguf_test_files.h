// For tests: GGUF files made by hand, and a tiny model in one.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/gguf.h"
#include "engine/model/gguf_config.h"
#include "engine/model/gguf_value.h"

namespace specbench::engine::testing {

template <typename T>
std::string raw(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <typename T>
std::string raw(const std::vector<T>& values) {
  std::string bytes;
  for (const T value : values) bytes += raw(value);
  return bytes;
}

inline std::string gguf_text(std::string_view text) {
  return raw(static_cast<std::uint64_t>(text.size())).append(text);
}

/// A value behind its type, as a key is followed by it.
template <typename T>
std::string gguf_number(GgufType type, T value) {
  return raw(static_cast<std::uint32_t>(type)) + raw(value);
}
inline std::string gguf_u32(std::uint32_t value) { return gguf_number(GgufType::kUint32, value); }
inline std::string gguf_f32(float value) { return gguf_number(GgufType::kFloat32, value); }
inline std::string gguf_bool(bool value) {
  return gguf_number(GgufType::kBool, static_cast<std::uint8_t>(value));
}
inline std::string gguf_string(std::string_view text) {
  return raw(static_cast<std::uint32_t>(GgufType::kString)) + gguf_text(text);
}
/// `items`: their bytes, one behind the other.
inline std::string gguf_array(GgufType type, std::uint64_t n, std::string_view items) {
  return (raw(static_cast<std::uint32_t>(GgufType::kArray)) +
          raw(static_cast<std::uint32_t>(type)) + raw(n))
      .append(items);
}
inline std::string gguf_strings(const std::vector<std::string>& strings) {
  std::string items;
  for (const std::string& one : strings) items += gguf_text(one);
  return gguf_array(GgufType::kString, strings.size(), items);
}

/// The parts of a file, to be changed before they are put together.
struct GgufParts {
  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> dimensions;  ///< innermost first, as in the file
    std::uint32_t type = 0;                 ///< ggml's number
    std::string data;
  };
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;  ///< of the data; write general.alignment as well
  std::vector<std::pair<std::string, std::string>> values;  ///< key; type and value
  std::vector<Tensor> tensors;

  void set(const std::string& key, std::string value) {
    for (auto& [name, old] : values) {
      if (name != key) continue;
      old = std::move(value);
      return;
    }
    values.emplace_back(key, std::move(value));
  }
  void drop(const std::string& key) {
    std::erase_if(values, [&](const auto& value) { return value.first == key; });
  }
  Tensor& tensor(const std::string& name) {
    for (Tensor& one : tensors)
      if (one.name == name) return one;
    return tensors.emplace_back(Tensor{name, {}, 0, ""});
  }
  void drop_tensor(const std::string& name) {
    std::erase_if(tensors, [&](const Tensor& tensor) { return tensor.name == name; });
  }

  std::string bytes() const {
    std::string file = "GGUF" + raw(version) + raw(std::uint64_t{tensors.size()}) +
                       raw(std::uint64_t{values.size()});
    for (const auto& [key, value] : values) file += gguf_text(key) + value;
    std::string data;
    for (const Tensor& one : tensors) {
      data.resize(aligned(data.size()), '\0');
      file += gguf_text(one.name) + raw(static_cast<std::uint32_t>(one.dimensions.size())) +
              raw(one.dimensions) + raw(one.type) + raw(std::uint64_t{data.size()});
      data += one.data;
    }
    if (!tensors.empty()) file.resize(aligned(file.size()), '\0');
    return file + data;
  }

 private:
  std::size_t aligned(std::size_t n) const { return (n + alignment - 1) / alignment * alignment; }
};

/// Metadata and float32 tensors of a model of two layers: width 8, 2 heads of 4 over 1 for keys and
/// values, feed-forward width 12, 259 byte-level tokens. Values count up over all tensors, in the
/// order in which they are added here. `architecture`: "llama", "qwen2" or "qwen3".
inline GgufParts tiny_gguf(const std::string& architecture = "llama") {
  GgufParts parts;
  const std::string a = architecture + ".";
  parts.set("general.architecture", gguf_string(architecture));
  parts.set(a + "block_count", gguf_u32(2));
  parts.set(a + "context_length", gguf_u32(64));
  parts.set(a + "embedding_length", gguf_u32(8));
  parts.set(a + "feed_forward_length", gguf_u32(12));
  parts.set(a + "attention.head_count", gguf_u32(2));
  parts.set(a + "attention.head_count_kv", gguf_u32(1));
  parts.set(a + "attention.layer_norm_rms_epsilon", gguf_f32(1e-5F));
  parts.set("tokenizer.ggml.model", gguf_string("gpt2"));
  parts.set("tokenizer.ggml.pre", gguf_string("smollm"));
  // GPT-2's letters for bytes: printable ones stand for themselves, the others follow from U+0100.
  std::vector<std::string> tokens;
  int n_moved = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_printable =
        (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    const int letter = is_printable ? byte : 256 + n_moved++;
    tokens.push_back(letter < 128 ? std::string(1, static_cast<char>(letter))
                                  : std::string{static_cast<char>(0xc0 | (letter >> 6)),
                                                static_cast<char>(0x80 | (letter & 63))});
  }
  tokens.insert(tokens.end(), {"he", "<|start|>", "<|end|>"});
  std::vector<std::int32_t> types(tokens.size(), 1);
  types[257] = types[258] = 3;
  parts.set("tokenizer.ggml.tokens", gguf_strings(tokens));
  parts.set("tokenizer.ggml.token_type", gguf_array(GgufType::kInt32, types.size(), raw(types)));
  parts.set("tokenizer.ggml.merges", gguf_strings({"h e"}));
  parts.set("tokenizer.ggml.bos_token_id", gguf_u32(257));
  parts.set("tokenizer.ggml.eos_token_id", gguf_u32(258));

  float next = 0;
  const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& dimensions) {
    std::uint64_t n = 1;
    for (const std::uint64_t extent : dimensions) n *= extent;
    std::vector<float> values;
    for (std::uint64_t i = 0; i < n; ++i) values.push_back(next++);
    parts.tensors.push_back({name, dimensions, 0, raw(values)});
  };
  add("token_embd.weight", {8, tokens.size()});
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    add(layer + "attn_norm.weight", {8});
    add(layer + "attn_q.weight", {8, 8});
    add(layer + "attn_k.weight", {8, 4});
    add(layer + "attn_v.weight", {8, 4});
    add(layer + "attn_output.weight", {8, 8});
    add(layer + "ffn_norm.weight", {8});
    add(layer + "ffn_gate.weight", {8, 12});
    add(layer + "ffn_up.weight", {8, 12});
    add(layer + "ffn_down.weight", {12, 8});
    if (architecture == "qwen2") {
      add(layer + "attn_q.bias", {8});
      add(layer + "attn_k.bias", {4});
      add(layer + "attn_v.bias", {4});
    }
    if (architecture == "qwen3") {
      add(layer + "attn_q_norm.weight", {4});
      add(layer + "attn_k_norm.weight", {4});
    }
  }
  add("output_norm.weight", {8});
  add("output.weight", {8, tokens.size()});
  return parts;
}

/// Float32 values of a tensor of `parts`.
inline std::vector<float> floats_of(GgufParts& parts, const std::string& name) {
  const std::string& data = parts.tensor(name).data;
  std::vector<float> values(data.size() / sizeof(float));
  std::memcpy(values.data(), data.data(), data.size());
  return values;
}

inline ModelConfig config_of(const GgufParts& parts) {
  const std::string bytes = parts.bytes();
  return read_gguf_config(GgufFile(std::as_bytes(std::span(bytes)), "f.gguf"));
}

}  // namespace specbench::engine::testing
