#include "gateway/core/metric_text.hpp"

#include <cstdio>

namespace sandgate {

std::string metric_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

void MetricText::gauge(std::string_view name, std::string_view help, uint64_t value) {
  begin(name, "gauge", help);
  sample(name, "", value);
}

void MetricText::counter(std::string_view name, std::string_view help, uint64_t value) {
  begin(name, "counter", help);
  sample(name, "", value);
}

void MetricText::begin(std::string_view name, std::string_view type, std::string_view help) {
  text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void MetricText::sample(std::string_view name, std::string_view labels, uint64_t value) {
  line(name, labels, std::to_string(value));
}

void MetricText::sample(std::string_view name, std::string_view labels, double value) {
  line(name, labels, metric_number(value));
}

void MetricText::line(std::string_view name, std::string_view labels, std::string_view value) {
  text_.append(name);
  if (!labels.empty()) text_.append("{").append(labels).append("}");
  text_.append(" ").append(value).append("\n");
}

}  // namespace sandgate
