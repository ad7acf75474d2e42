// An estimate with its interval, shared by summary.h and bootstrap.h. Plain data.
#pragma once

namespace specbench::stats {

struct Interval {
  double estimate = 0.0;
  double lower = 0.0;
  double upper = 0.0;
  double level = 0.0;  // two-sided coverage: exact for order statistics, nominal for the bootstrap
};

}  // namespace specbench::stats
