#include "gateway/http/http_metrics.hpp"

#include <algorithm>

namespace sandgate::http {
namespace {

constexpr std::string_view kRequests = "sandgate_http_requests_total";
constexpr std::string_view kSeconds = "sandgate_http_request_seconds";

}  // namespace

HttpMetrics::HttpMetrics(const Routes& routes)
    : routes_(routes), counters_(routes.all().size() + 1) {}

void HttpMetrics::record(const Route* route, int status, std::chrono::steady_clock::duration took) {
  const size_t index =
      route ? static_cast<size_t>(route - routes_.all().data()) : counters_.size() - 1;
  Counters& counters = counters_[index];
  const double seconds = std::chrono::duration<double>(took).count();
  const size_t bucket = static_cast<size_t>(
      std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin());
  const size_t digit = std::min<size_t>(static_cast<size_t>(status) / 100, 5);
  counters.statuses[digit].fetch_add(1, std::memory_order_relaxed);
  counters.buckets[bucket].fetch_add(1, std::memory_order_relaxed);
  counters.nanoseconds.fetch_add(
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()),
      std::memory_order_relaxed);
}

std::string HttpMetrics::labels_of(size_t index) const {
  if (index == routes_.all().size()) return "method=\"\",route=\"\"";
  const Route& route = routes_.all()[index];
  return "method=\"" + std::string(to_string(route.method)) + "\",route=\"" + route.pattern + "\"";
}

void HttpMetrics::render_requests(MetricText& out, const Counters& counters,
                                  const std::string& labels) const {
  for (size_t digit = 1; digit < counters.statuses.size(); ++digit) {
    const uint64_t count = counters.statuses[digit].load(std::memory_order_relaxed);
    const std::string status = ",status=\"" + std::to_string(digit) + "xx\"";
    if (count > 0) out.sample(kRequests, labels + status, count);
  }
}

void HttpMetrics::render_seconds(MetricText& out, const Counters& counters,
                                 const std::string& labels) const {
  uint64_t count = 0;
  for (const auto& bucket : counters.buckets) count += bucket.load(std::memory_order_relaxed);
  if (count == 0) return;
  const std::string name(kSeconds);
  uint64_t below = 0;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    below += counters.buckets[i].load(std::memory_order_relaxed);
    out.sample(name + "_bucket", labels + ",le=\"" + metric_number(kBounds[i]) + "\"", below);
  }
  out.sample(name + "_bucket", labels + ",le=\"+Inf\"", count);
  const auto nanoseconds = counters.nanoseconds.load(std::memory_order_relaxed);
  out.sample(name + "_sum", labels, static_cast<double>(nanoseconds) / 1e9);
  out.sample(name + "_count", labels, count);
}

void HttpMetrics::render(MetricText& out) const {
  out.begin(kRequests, "counter", "Answers by route and status class.");
  for (size_t i = 0; i < counters_.size(); ++i) render_requests(out, counters_[i], labels_of(i));
  out.begin(kSeconds, "histogram", "Time from a request's head to its answer's.");
  for (size_t i = 0; i < counters_.size(); ++i) render_seconds(out, counters_[i], labels_of(i));
}

}  // namespace sandgate::http
