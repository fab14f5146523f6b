#include "gateway/core/metric_text.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

TEST(MetricText, WritesAMetricOfOneSample) {
  MetricText text;
  text.gauge("things", "What there is.", 3);
  text.counter("things_total", "What there was.", 18'446'744'073'709'551'615u);
  EXPECT_EQ(text.str(),
            "# HELP things What there is.\n# TYPE things gauge\nthings 3\n"
            "# HELP things_total What there was.\n# TYPE things_total counter\n"
            "things_total 18446744073709551615\n");
}

TEST(MetricText, WritesSamplesWithLabels) {
  MetricText text;
  text.begin("took_seconds", "histogram", "How long.");
  text.sample("took_seconds_bucket", "way=\"in\",le=\"" + metric_number(0.0005) + "\"",
              uint64_t{7});
  text.sample("took_seconds_sum", "way=\"in\"", 0.25);
  EXPECT_EQ(text.str(),
            "# HELP took_seconds How long.\n# TYPE took_seconds histogram\n"
            "took_seconds_bucket{way=\"in\",le=\"0.0005\"} 7\n"
            "took_seconds_sum{way=\"in\"} 0.25\n");
}

}  // namespace
}  // namespace sandgate
