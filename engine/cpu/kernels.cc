#include "engine/cpu/kernels.h"

#include <algorithm>
#include <cmath>

// AVX-512, AVX2 and the baseline: the targets between them would give the same code or serve no
// machine of today.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/kernels.cc"
// clang-format off
#include "hwy/foreach_target.h"  // before all others of Highway
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
#include "engine/cpu/attend-inl.h"
#include "engine/cpu/matmul-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace specbench::engine::HWY_NAMESPACE {

ThreadRoom room_of(const Job& job, int thread) {
  float* const at = job.thread_scratch + static_cast<std::size_t>(thread) * job.scratch.total();
  const ScratchSizes& n = job.scratch;
  return {at, at + n.norm, at + n.norm + n.chunk, at + n.norm + n.chunk + n.sums};
}

// Squares are summed in 16 columns, the columns pairwise: the same order on every target.
float sum_of_squares(const float* x, int n) {
  float columns[16] = {};
  int i = 0;
  for (; i + 16 <= n; i += 16)
    for (int l = 0; l < 16; ++l) columns[l] += x[i + l] * x[i + l];
  for (int l = 0; i + l < n; ++l) columns[l] += x[i + l] * x[i + l];
  for (int step = 8; step >= 1; step /= 2)
    for (int l = 0; l < step; ++l) columns[l] += columns[l + step];
  return columns[0];
}

float norm_scale(const float* x, int n, double eps) {
  const double mean = static_cast<double>(sum_of_squares(x, n)) / n;
  return static_cast<float>(1.0 / std::sqrt(mean + eps));
}

// Norm of the rows [rows.begin, rows.end) of the job into packed form.
void norm_rows(const Job& job, const float* gain, Range rows, const PackedRows& out) {
  const int width = job.config->width;
  for (int row = rows.begin; row < rows.end; ++row) {
    const float* HWY_RESTRICT x =
        job.hidden +
        static_cast<std::ptrdiff_t>(job.rows[static_cast<std::size_t>(row)].slot) * width;
    const float scale = norm_scale(x, width, job.config->norm_eps);
    const int stride = out.tile_rows(row / kTile);
    float* HWY_RESTRICT y = out.tile(row / kTile) + row % kTile;
    if (stride == 1) {
      for (int i = 0; i < width; ++i) y[i] = x[i] * scale * gain[i];
    } else {
      for (int i = 0; i < width; ++i)
        y[static_cast<std::ptrdiff_t>(i) * stride] = x[i] * scale * gain[i];
    }
  }
}

// Norm of all rows: for few rows each thread makes its own copy, which is cheaper than waiting for
// the other's.
PackedRows norm(const Job& job, const float* gain, int thread, int n_threads) {
  const int n = static_cast<int>(job.rows.size());
  PackedRows out{job.packed, n, job.config->width};
  if (n <= kFewRows) {
    out.data = room_of(job, thread).norm;
    norm_rows(job, gain, {0, n}, out);
    return out;
  }
  norm_rows(job, gain, share_of(n, thread, n_threads), out);
  job.barrier->wait(n_threads);
  return out;
}

void rope(float* HWY_RESTRICT head, const RopeTables& tables, int pos) {
  const int half = tables.half;
  const float* HWY_RESTRICT c = tables.cos.data() + static_cast<std::ptrdiff_t>(pos) * half;
  const float* HWY_RESTRICT s = tables.sin.data() + static_cast<std::ptrdiff_t>(pos) * half;
  for (int i = 0; i < half; ++i) {
    const float a = head[i];
    const float b = head[i + half];
    head[i] = a * c[i] - b * s[i];
    head[i + half] = b * c[i] + a * s[i];
  }
}

// What lies between a query's or key's product and its rotation.
void finish_head(const ModelConfig& c, const float* bias, const float* gain,
                 float* HWY_RESTRICT head) {
  if (bias != nullptr)
    for (int i = 0; i < c.head_dim; ++i) head[i] += bias[i];
  if (gain == nullptr) return;
  const float scale = norm_scale(head, c.head_dim, c.norm_eps);
  for (int i = 0; i < c.head_dim; ++i) head[i] = head[i] * scale * gain[i];
}

// Finishes the queries, the key and the value of one (row, key/value head) and writes the cache.
void enter_cache(const Job& job, int layer, int row, int kv_head) {
  const ModelConfig& c = *job.config;
  const LayerWeights& w = *job.layers[layer].weights;
  const Row& r = job.rows[static_cast<std::size_t>(row)];
  const auto part = [&](const std::vector<float>& values, int head) {
    return values.empty() ? nullptr : values.data() + head * c.head_dim;
  };
  const int group = c.n_heads / c.n_kv_heads;
  float* const all =
      job.query_key_value + static_cast<std::ptrdiff_t>(row) * job.query_key_value_stride;
  for (int h = kv_head * group; h < (kv_head + 1) * group; ++h) {
    finish_head(c, part(w.query_bias, h), part(w.query_norm, 0), all + h * c.head_dim);
    rope(all + h * c.head_dim, *job.rope, r.pos);
  }
  float* const key = all + (c.n_heads + kv_head) * c.head_dim;
  float* const value = key + c.n_kv_heads * c.head_dim;
  finish_head(c, part(w.key_bias, kv_head), part(w.key_norm, 0), key);
  rope(key, *job.rope, r.pos);
  finish_head(c, part(w.value_bias, kv_head), nullptr, value);
  job.store->write(r.lane, layer, kv_head, r.pos, key, value);
}

// Enters all rows and attends with them. A task is done by the thread of its number, so that a lone
// row attends with the heads its own thread has just entered; several rows, and threads that share
// spans, see each other's.
void enter_and_attend(const Job& job, int layer, int thread, int n_threads, const PackedRows& out) {
  const int n_kv_heads = job.config->n_kv_heads;
  const int n = static_cast<int>(job.rows.size());
  for (int t = thread; t < n * n_kv_heads; t += n_threads)
    enter_cache(job, layer, t / n_kv_heads, t % n_kv_heads);
  Attention attention(job, layer, room_of(job, thread).attention);
  const bool is_split = attention.is_split(n_threads);
  if (n > 1 || is_split) job.barrier->wait(n_threads);
  if (is_split) {
    attention.attend_share(thread, n_threads);
    job.barrier->wait(n_threads);
    attention.fold_share(thread, n_threads, out);
  } else {
    for (int u = thread; u < attention.n_units(); u += n_threads)
      attention.attend_unit(attention.unit(u), out);
  }
}

// silu(gate) * up for the 16 pairs of a block, at most n of them, into the packed input of the down
// projection.
void gate_block(const float* HWY_RESTRICT sums, int n, int stride, float* HWY_RESTRICT out) {
  const F32 d;
  HWY_ALIGN float result[kBlock / 2];
  for (int i = 0; i < kBlock / 2; i += kLanes) {
    const auto gate = hn::Load(d, sums + i);
    const auto up = hn::Load(d, sums + kBlock / 2 + i);
    // Above its range of 104 hn::Exp gives anything; e^100 is infinite already, and the gate then
    // shuts.
    const auto e = hn::Exp(d, hn::Min(hn::Neg(gate), hn::Set(d, 100.0F)));
    hn::Store(hn::Mul(hn::Div(gate, hn::Add(hn::Set(d, 1.0F), e)), up), d, result + i);
  }
  for (int i = 0; i < n; ++i) out[static_cast<std::ptrdiff_t>(i) * stride] = result[i];
}

// The 32 sums of a block onto the row's residual stream.
void add_to_hidden(const Job& job, int row, int block, const float* HWY_RESTRICT sums) {
  const int width = job.config->width;
  const int first = block * kBlock;
  float* HWY_RESTRICT x =
      job.hidden +
      static_cast<std::ptrdiff_t>(job.rows[static_cast<std::size_t>(row)].slot) * width + first;
  for (int i = 0; i < std::min(kBlock, width - first); ++i) x[i] += sums[i];
}

void attention_layer(const Job& job, int layer, int thread, int n_threads) {
  const ModelConfig& c = *job.config;
  const PackedLayer& w = job.layers[layer];
  const int n = static_cast<int>(job.rows.size());
  const ThreadRoom room = room_of(job, thread);
  const PackedRows normed = norm(job, w.weights->attention_norm.data(), thread, n_threads);
  int n_blocks = 0;
  for (const PackedPart& part : w.query_key_value) n_blocks += part.matrix.n_blocks();
  Range mine = share_of(n_blocks, thread, n_threads);
  for (const PackedPart& part : w.query_key_value) {
    const PackedMatrix& m = part.matrix;
    matmul(m, normed, {std::max(mine.begin, 0), std::min(mine.end, m.n_blocks())}, room,
           [&](int row, int b, const float* sums) {
             // A part may end inside a block, and another thread write what follows.
             std::copy_n(sums, std::min(kBlock, m.n_out - b * kBlock),
                         job.query_key_value +
                             static_cast<std::ptrdiff_t>(row) * job.query_key_value_stride +
                             part.first + b * kBlock);
           });
    mine = {mine.begin - m.n_blocks(), mine.end - m.n_blocks()};
  }
  job.barrier->wait(n_threads);
  const PackedRows attended{job.packed, n, c.n_heads * c.head_dim};
  enter_and_attend(job, layer, thread, n_threads, attended);
  job.barrier->wait(n_threads);
  matmul(w.attention_out, attended, share_of(w.attention_out.n_blocks(), thread, n_threads), room,
         [&](int row, int b, const float* sums) { add_to_hidden(job, row, b, sums); });
  job.barrier->wait(n_threads);
}

void ffn_layer(const Job& job, int layer, int thread, int n_threads) {
  const ModelConfig& c = *job.config;
  const PackedLayer& w = job.layers[layer];
  const int n = static_cast<int>(job.rows.size());
  const ThreadRoom room = room_of(job, thread);
  const PackedRows normed = norm(job, w.weights->ffn_norm.data(), thread, n_threads);
  const PackedRows gated{job.gated, n, c.ffn_width};
  matmul(w.gate_up, normed, share_of(w.gate_up.n_blocks(), thread, n_threads), room,
         [&](int row, int b, const float* sums) {
           const int first = b * kBlock / 2;
           const int stride = gated.tile_rows(row / kTile);
           gate_block(
               sums, std::min(kBlock / 2, c.ffn_width - first), stride,
               gated.tile(row / kTile) + row % kTile + static_cast<std::ptrdiff_t>(first) * stride);
         });
  job.barrier->wait(n_threads);
  matmul(w.down, gated, share_of(w.down.n_blocks(), thread, n_threads), room,
         [&](int row, int b, const float* sums) { add_to_hidden(job, row, b, sums); });
  job.barrier->wait(n_threads);
}

void run_layers_thread(const Job& job, int thread, int n_threads) {
  const int width = job.config->width;
  if (job.first == 0) {
    const Range mine = share_of(static_cast<int>(job.rows.size()), thread, n_threads);
    for (int row = mine.begin; row < mine.end; ++row) {
      const Row& r = job.rows[static_cast<std::size_t>(row)];
      job.embedding->read_row(r.token, job.hidden + static_cast<std::ptrdiff_t>(r.slot) * width);
    }
    job.barrier->wait(n_threads);
  }
  for (int layer = job.first; layer < job.last; ++layer) {
    attention_layer(job, layer, thread, n_threads);
    ffn_layer(job, layer, thread, n_threads);
  }
}

void run_head_thread(const Job& job, int thread, int n_threads) {
  const int vocab = job.config->vocab_size;
  const PackedRows normed = norm(job, job.final_norm, thread, n_threads);
  matmul(*job.head, normed, share_of(job.head->n_blocks(), thread, n_threads), room_of(job, thread),
         [&](int row, int b, const float* sums) {
           std::copy_n(sums, std::min(kBlock, vocab - b * kBlock),
                       job.logits + static_cast<std::ptrdiff_t>(row) * vocab + b * kBlock);
         });
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace specbench::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specbench::engine {

HWY_EXPORT(run_layers_thread);
HWY_EXPORT(run_head_thread);
HWY_EXPORT(target_name);

void layers_thread(const Job& job, int thread, int n_threads) {
  HWY_DYNAMIC_DISPATCH(run_layers_thread)(job, thread, n_threads);
}
void head_thread(const Job& job, int thread, int n_threads) {
  HWY_DYNAMIC_DISPATCH(run_head_thread)(job, thread, n_threads);
}
const char* vector_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace specbench::engine
#endif
