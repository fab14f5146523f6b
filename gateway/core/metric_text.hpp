#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sandgate {

// Metrics in the text format that Prometheus reads (0.0.4). All samples of a metric are written
// after its begin() and before that of the next.
class MetricText {
 public:
  // A metric with one sample and no labels.
  void gauge(std::string_view name, std::string_view help, uint64_t value);
  void counter(std::string_view name, std::string_view help, uint64_t value);

  // A metric with samples of its own; `type` is a word of the format's: "counter", "histogram".
  void begin(std::string_view name, std::string_view type, std::string_view help);
  // `name` is the metric's, for a histogram's parts with their suffix; `labels` are as the format
  // writes them between the braces, `a="1",b="2"`, or empty for none.
  void sample(std::string_view name, std::string_view labels, uint64_t value);
  void sample(std::string_view name, std::string_view labels, double value);  // to nine digits

  const std::string& str() const { return text_; }

 private:
  void line(std::string_view name, std::string_view labels, std::string_view value);

  std::string text_;
};

// A number in the digits that samples and bounds of histograms have.
std::string metric_number(double value);

}  // namespace sandgate
