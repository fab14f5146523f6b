#include "gateway/cli/event_reader.hpp"

#include <gtest/gtest.h>

#include "gateway/core/error.hpp"

namespace sandgate::cli {
namespace {

std::string read_in_pieces(std::string_view text, size_t piece) {
  std::string seen;
  EventReader reader(
      [&](const Event& event) { seen += event.type + "|" + event.id + "|" + event.data + ";"; });
  for (size_t at = 0; at < text.size(); at += piece) reader.feed(text.substr(at, piece));
  return seen;
}

TEST(EventReader, DoesNotCareHowTheStreamIsCut) {
  constexpr std::string_view kStream =
      "event: start\ndata: {}\n\n"
      ": a comment\n\n"
      "id: 5\r\nevent: stdout\r\ndata: a\r\ndata: b\r\n\r\n"
      "data:no space\n\n"
      "event: without data\n\n"
      "data: unfinished\n";
  for (const size_t piece : {1, 2, 3, 7, 1000})
    EXPECT_EQ(read_in_pieces(kStream, piece), "start||{};stdout|5|a\nb;message||no space;");
}

TEST(EventReader, RefusesAnEndlessEvent) {
  EventReader reader([](const Event&) {});
  EXPECT_THROW(reader.feed("data: " + std::string(5 << 20, 'x')), Error);
}

}  // namespace
}  // namespace sandgate::cli
