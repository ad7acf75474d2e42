#include "harness/marks.h"

#include <algorithm>

namespace specbench::harness {

void Marker::before_run() {
  if (watch_ == nullptr) return;
  before_ = watch_->read();
  note_frequency(before_);
  if (!open_) open_ = Stretch{before_, samples_.size()};
}

void Marker::after_run() {
  if (watch_ == nullptr) return;
  after_ = watch_->read();
  note_frequency(after_);
  const WatchRules& rules = watch_->rules();
  const std::size_t last = samples_.size() - 1;
  add(last, judge_events(before_, after_, highest_mhz_, rules));
  if (has_enough_ticks(before_, after_, rules)) add(last, judge_shares(before_, after_, rules));
}

void Marker::pass_ended() {
  if (watch_ == nullptr || !open_ || !has_enough_ticks(open_->begin, after_, watch_->rules()))
    return;
  add(open_->first_sample, judge_shares(open_->begin, after_, watch_->rules()));
  judged_ = open_;
  open_.reset();
}

void Marker::finish() {
  if (watch_ == nullptr || !open_) return;
  // A rest too short to be judged alone is judged with the stretch before it, as far as there is
  // one; only the rest is marked, the stretch has been judged.
  const WatchReading& begin = judged_ && !has_enough_ticks(open_->begin, after_, watch_->rules())
                                  ? judged_->begin
                                  : open_->begin;
  add(open_->first_sample, judge_shares(begin, after_, watch_->rules()));
  open_.reset();
  judged_.reset();
}

void Marker::add(std::size_t first_sample, const Marks& marks) {
  for (std::size_t i = first_sample; i < samples_.size(); ++i) {
    std::string& text = samples_[i].mark;
    for (const std::string& mark : marks) {
      // A run may have been marked for the same reason as its stretch. No name holds another.
      if (text.find(mark) == std::string::npos) text += (text.empty() ? "" : ",") + mark;
    }
  }
}

void Marker::note_frequency(const WatchReading& reading) {
  highest_mhz_ = std::max(highest_mhz_, reading.frequency_mhz.value_or(0));
}

}  // namespace specbench::harness
