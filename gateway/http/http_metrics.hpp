#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gateway/core/metric_text.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::http {

// Counts answers by route and status class and measures the time until their head. Recording costs
// a few relaxed atomic additions. Thread-safe.
class HttpMetrics {
 public:
  // Upper bounds of the histogram's buckets in seconds; the last bucket has none.
  static constexpr std::array<double, 12> kBounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                  0.05,   0.1,   0.25,   1,     2.5,  10};

  // `routes` must be complete and outlive this object.
  explicit HttpMetrics(const Routes& routes);

  // A null `route` means that no route matched.
  void record(const Route* route, int status, std::chrono::steady_clock::duration took);
  // Writes sandgate_http_requests_total and sandgate_http_request_seconds.
  void render(MetricText& out) const;

 private:
  struct Counters {
    std::array<std::atomic<uint64_t>, 6> statuses{};  // index: first digit of the status
    std::array<std::atomic<uint64_t>, kBounds.size() + 1> buckets{};
    std::atomic<uint64_t> nanoseconds{0};
  };

  void render_requests(MetricText& out, const Counters& counters, const std::string& labels) const;
  void render_seconds(MetricText& out, const Counters& counters, const std::string& labels) const;
  std::string labels_of(size_t index) const;

  const Routes& routes_;
  std::vector<Counters> counters_;  // one per route, the last for unmatched requests
};

}  // namespace sandgate::http
