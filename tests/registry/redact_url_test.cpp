#include "registry/redact_url.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

TEST(RedactUrl, HidesWhatMayBeAPassword) {
  const std::pair<const char*, const char*> table[] = {
      {"https://example.com/hook", "https://example.com/hook"},
      {"https://example.com:8443", "https://example.com:8443"},
      {"https://example.com/hook?token=mackerel", "https://example.com/hook?***"},
      {"https://example.com?mackerel", "https://example.com?***"},
      {"https://example.com/a?b=1?c#d", "https://example.com/a?***"},
      {"https://example.com/a#mackerel?b", "https://example.com/a#***"},
      {"https://me:mackerel@example.com/a@b", "https://***@example.com/a@b"},
      {"https://me@mackerel@example.com", "https://***@example.com"},
      {"https://me:mackerel@example.com?mackerel", "https://***@example.com?***"},
      {"mackerel@example.com", "***@example.com"},
      {"https://", "https://"},
      {"", ""},
  };
  for (const auto& [url, shown] : table) EXPECT_EQ(redact_url(url), shown) << url;
}

}  // namespace
}  // namespace sandgate
