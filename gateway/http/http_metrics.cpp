#include "gateway/http/http_metrics.hpp"

#include <cstdio>

namespace sandgate::http {
namespace {

constexpr std::string_view kRequests = "sandgate_http_requests_total";
constexpr std::string_view kSeconds = "sandgate_http_request_seconds";

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

void append_sample(std::string& out, std::string_view name, std::string_view suffix,
                   std::string_view labels, const std::string& value) {
  out.append(name).append(suffix).append("{").append(labels).append("} ").append(value).append(
      "\n");
}

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

void HttpMetrics::render_requests(std::string& out, const Counters& counters,
                                  const std::string& labels) const {
  for (size_t digit = 1; digit < counters.statuses.size(); ++digit) {
    const uint64_t count = counters.statuses[digit].load(std::memory_order_relaxed);
    const std::string status = ",status=\"" + std::to_string(digit) + "xx\"";
    if (count > 0) append_sample(out, kRequests, "", labels + status, std::to_string(count));
  }
}

void HttpMetrics::render_seconds(std::string& out, const Counters& counters,
                                 const std::string& labels) const {
  uint64_t count = 0;
  for (const auto& bucket : counters.buckets) count += bucket.load(std::memory_order_relaxed);
  if (count == 0) return;
  uint64_t below = 0;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    below += counters.buckets[i].load(std::memory_order_relaxed);
    append_sample(out, kSeconds, "_bucket", labels + ",le=\"" + number(kBounds[i]) + "\"",
                  std::to_string(below));
  }
  append_sample(out, kSeconds, "_bucket", labels + ",le=\"+Inf\"", std::to_string(count));
  const auto nanoseconds = counters.nanoseconds.load(std::memory_order_relaxed);
  append_sample(out, kSeconds, "_sum", labels, number(static_cast<double>(nanoseconds) / 1e9));
  append_sample(out, kSeconds, "_count", labels, std::to_string(count));
}

void HttpMetrics::render(std::string& out) const {
  out.append(
      "# HELP sandgate_http_requests_total Answers by route and status class.\n"
      "# TYPE sandgate_http_requests_total counter\n");
  for (size_t i = 0; i < counters_.size(); ++i) render_requests(out, counters_[i], labels_of(i));
  out.append(
      "# HELP sandgate_http_request_seconds Time from a request's head to its answer's.\n"
      "# TYPE sandgate_http_request_seconds histogram\n");
  for (size_t i = 0; i < counters_.size(); ++i) render_seconds(out, counters_[i], labels_of(i));
}

}  // namespace sandgate::http
