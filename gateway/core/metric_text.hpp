#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sandgate {

// Writes metrics in Prometheus' text format (0.0.4). Write all samples of a metric after its
// begin() and before the next begin().
class MetricText {
 public:
  // A metric with one sample and no labels.
  void gauge(std::string_view name, std::string_view help, uint64_t value);
  void counter(std::string_view name, std::string_view help, uint64_t value);

  // Starts a metric with several samples; `type` is a format keyword: "counter", "histogram".
  void begin(std::string_view name, std::string_view type, std::string_view help);
  // `name` is the metric's name, plus a suffix for the parts of a histogram. `labels` is the text
  // between the braces, `a="1",b="2"`, or empty.
  void sample(std::string_view name, std::string_view labels, uint64_t value);
  void sample(std::string_view name, std::string_view labels, double value);  // to nine digits

  const std::string& str() const { return text_; }

 private:
  void line(std::string_view name, std::string_view labels, std::string_view value);

  std::string text_;
};

// Formats a number like samples and histogram bounds: at most nine significant digits.
std::string metric_number(double value);

}  // namespace sandgate
