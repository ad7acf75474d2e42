// Attention of a step: which queries go through which spans of the cache together, and on which
// thread. A key or value is read once for all rows of a lane and all query heads of its group.
// Included once for each vector target (Highway's foreach_target), hence the toggled guard.
#if defined(SPECBENCH_ENGINE_CPU_ATTEND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECBENCH_ENGINE_CPU_ATTEND_INL_H_
#undef SPECBENCH_ENGINE_CPU_ATTEND_INL_H_
#else
#define SPECBENCH_ENGINE_CPU_ATTEND_INL_H_
#endif

#include <algorithm>

#include "engine/cpu/attention-inl.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/matmul-inl.h"

HWY_BEFORE_NAMESPACE();
namespace specbench::engine::HWY_NAMESPACE {

// The queries of a run of rows that share a key/value head, in order of rows, then heads.
struct Unit {
  RowRun run;
  int kv_head = 0;
  int group = 0;  ///< query heads of a key/value head
  int n_queries() const { return run.n * group; }
  int row(int query) const { return run.first + query / group; }
  int head(int query) const { return kv_head * group + query % group; }
};

// Result of a unit over one span or several: out [query][head_dim], unnormalised.
struct Attended {
  Weighed* weighed;
  float* out;
};

// The queries are taken in pieces of about equal size.
int piece_size(int n_queries) {
  const int n_pieces = (n_queries + kQueriesAtOnce - 1) / kQueriesAtOnce;
  return (n_queries + n_pieces - 1) / n_pieces;
}

class Attention {
 public:
  Attention(const Job& job, int layer, float* scratch)
      : job_(job),
        layer_(layer),
        dim_(job.config->head_dim),
        group_(job.config->n_heads / job.config->n_kv_heads),
        most_(longest_run(*job.config) * group_),
        queries_(scratch),
        scores_(queries_ + most_ * dim_),
        all_{reinterpret_cast<Weighed*>(scores_ + kQueriesAtOnce * kSpan), nullptr},
        part_{all_.weighed + most_, nullptr} {
    all_.out = reinterpret_cast<float*>(part_.weighed + most_);
    part_.out = all_.out + most_ * dim_;
  }

  int n_units() const { return static_cast<int>(job_.runs.size()) * job_.config->n_kv_heads; }
  int n_spans(const Unit& unit) const {
    return (n_keys(unit.run.first + unit.run.n - 1) + kSpan - 1) / kSpan;
  }
  Unit unit(int u) const {
    const int n = job_.config->n_kv_heads;
    return {job_.runs[static_cast<std::size_t>(u / n)], u % n, group_};
  }

  // Few units and long caches: the spans themselves are shared out.
  bool is_split(int n_threads) const {
    const int n_queries = static_cast<int>(job_.rows.size()) * job_.config->n_heads;
    if (n_threads == 1 || n_units() >= 4 * n_threads || n_queries > kSplitQueries) return false;
    for (int u = 0; u < n_units(); u += job_.config->n_kv_heads)
      if (n_spans(unit(u)) > 1) return true;
    return false;
  }

  // All spans of a unit, to the packed input of the output projection.
  void attend_unit(const Unit& unit, const PackedRows& out) {
    load_queries(unit);
    attend_span(unit, 0, all_);
    for (int span = 1; span < n_spans(unit); ++span) {
      attend_span(unit, span, part_);
      fold(unit, span, part_, all_);
    }
    finish(unit, all_, out);
  }

  // The share of one thread in the spans of all units; then, when all threads are there, in
  // putting them together.
  void attend_share(int thread, int n_threads) {
    int n_items = 0;
    for (int u = 0; u < n_units(); ++u) n_items += n_spans(unit(u));
    const Range mine = share_of(n_items, thread, n_threads);
    int item = 0;
    for (int u = 0; u < n_units(); ++u) {
      const Unit one = unit(u);
      const Range spans{std::max(mine.begin - item, 0), std::min(mine.end - item, n_spans(one))};
      item += n_spans(one);
      if (spans.begin >= spans.end) continue;
      load_queries(one);
      for (int span = spans.begin; span < spans.end; ++span)
        attend_span(one, span, split_room(one, span));
    }
  }
  void fold_share(int thread, int n_threads, const PackedRows& out) {
    for (int u = thread; u < n_units(); u += n_threads) {
      const Unit one = unit(u);
      const Attended all = split_room(one, 0);
      for (int span = 1; span < n_spans(one); ++span) fold(one, span, split_room(one, span), all);
      finish(one, all, out);
    }
  }

 private:
  int n_keys(int row) const {
    const Row& r = job_.rows[static_cast<std::size_t>(row)];
    return job_.n_visible == nullptr ? r.pos + 1
                                     : job_.n_visible(r.pos, job_.lengths->at(r.lane, layer_));
  }

  // In pieces of [head_dim][query].
  void load_queries(const Unit& unit) {
    const int n = unit.n_queries();
    const int size = piece_size(n);
    for (int first = 0; first < n; first += size) {
      const int n_piece = std::min(size, n - first);
      for (int q = 0; q < n_piece; ++q) {
        const float* const query =
            job_.query_key_value +
            static_cast<std::ptrdiff_t>(unit.row(first + q)) * job_.query_key_value_stride +
            unit.head(first + q) * dim_;
        float* const to = queries_ + first * dim_ + q;
        for (int i = 0; i < dim_; ++i) to[i * n_piece] = query[i];
      }
    }
  }

  int n_seen(const Unit& unit, int query, int span) const {
    return std::min(n_keys(unit.row(query)) - span * kSpan, kSpan);
  }

  void attend_span(const Unit& unit, int span, const Attended& to) {
    if (job_.store->type() == KvType::kF16)
      attend_span<std::uint16_t>(unit, span, to);
    else
      attend_span<float>(unit, span, to);
  }

  template <typename T>
  void attend_span(const Unit& unit, int span, const Attended& to) {
    const int lane = job_.rows[static_cast<std::size_t>(unit.run.first)].lane;
    const std::ptrdiff_t behind = static_cast<std::ptrdiff_t>(span) * kSpan * dim_;
    const T* const keys = job_.store->key_blocks<T>(lane, layer_, unit.kv_head) + behind;
    const T* const values = job_.store->values<T>(lane, layer_, unit.kv_head) + behind;
    const int n = unit.n_queries();
    const int size = piece_size(n);
    for (int first = 0; first < n; first += size) {
      const int n_piece = std::min(size, n - first);
      if (n_seen(unit, first + n_piece - 1, span) <= 0) continue;
      // A query that does not reach this span goes along with one slot; fold() passes over it.
      int seen[kQueriesAtOnce];
      for (int q = 0; q < n_piece; ++q) seen[q] = std::max(n_seen(unit, first + q, span), 1);
      attend_queries(queries_ + first * dim_, keys, values, n_piece, seen, dim_, scores_,
                     to.weighed + first, to.out + first * dim_);
    }
  }

  void fold(const Unit& unit, int span, const Attended& part, const Attended& all) {
    for (int q = 0; q < unit.n_queries(); ++q)
      if (n_seen(unit, q, span) > 0)
        fold_span(part.weighed[q], part.out + q * dim_, dim_, all.weighed[q], all.out + q * dim_);
  }

  void finish(const Unit& unit, const Attended& all, const PackedRows& out) {
    for (int q = 0; q < unit.n_queries(); ++q) {
      const float scale = 1.0F / all.weighed[q].total;
      const float* const from = all.out + q * dim_;
      const int row = unit.row(q);
      const int stride = out.tile_rows(row / kTile);
      float* const to = out.tile(row / kTile) + row % kTile +
                        static_cast<std::ptrdiff_t>(unit.head(q)) * dim_ * stride;
      for (int i = 0; i < dim_; ++i) to[static_cast<std::ptrdiff_t>(i) * stride] = from[i] * scale;
    }
  }

  // [unit][span]: the results of its queries, then their weights.
  Attended split_room(const Unit& unit, int span) const {
    const int n = unit.n_queries();
    int n_spans_most = 0;
    for (int u = 0; u < n_units(); u += job_.config->n_kv_heads)
      n_spans_most = std::max(n_spans_most, n_spans(this->unit(u)));
    const int queries_before = unit.run.first * job_.config->n_heads + unit.kv_head * n;
    float* const room = job_.split + (static_cast<std::ptrdiff_t>(queries_before) * n_spans_most +
                                      static_cast<std::ptrdiff_t>(span) * n) *
                                         (dim_ + 2);
    return {reinterpret_cast<Weighed*>(room + static_cast<std::ptrdiff_t>(n) * dim_), room};
  }

  const Job& job_;
  int layer_, dim_, group_;
  int most_;        ///< queries of a unit
  float* queries_;  ///< [most_][head_dim], in pieces
  float* scores_;   ///< [kQueriesAtOnce][kSpan]
  Attended all_, part_;
};

}  // namespace specbench::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
