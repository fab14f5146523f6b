#include "providers/transport/event_stream.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

std::vector<std::string> lines_of(const std::string& bytes, size_t step) {
  LineSplitter splitter;
  for (size_t at = 0; at < bytes.size(); at += step) splitter.add(bytes.substr(at, step));
  std::vector<std::string> lines;
  while (auto line = splitter.next()) lines.push_back(*line);
  return lines;
}

TEST(EventStream, LinesEndInThreeWaysHoweverTheyArrive) {
  const std::string bytes = "a\nb\r\nc\rd\r\n\r\ne\n";
  const std::vector<std::string> expected{"a", "b", "c", "d", "", "e"};
  for (const size_t step : {1, 2, 3, 100}) EXPECT_EQ(lines_of(bytes, step), expected) << step;
}

TEST(EventStream, EventsHaveNamesIdsAndManyLines) {
  EventSplitter splitter;
  splitter.add(
      "\xEF\xBB\xBF: hi\nevent: x\nid: 7\ndata: one\ndata:two\n\nid: 8\n\ndata: z\n\ndata: cut");
  const auto first = splitter.next(), second = splitter.next();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->name, "x");
  EXPECT_EQ(first->id, "7");
  EXPECT_EQ(first->data, "one\ntwo");
  EXPECT_EQ(second->name, "message");
  EXPECT_EQ(second->id, "8");
  EXPECT_FALSE(splitter.next());
}

TEST(EventStream, EndlessRecordsAreRefused) {
  LineSplitter lines(10);
  EXPECT_THROW(lines.add(std::string(11, 'x')), Error);
  EventSplitter events(10);
  EXPECT_THROW(events.add("data: 1234\ndata: 1234\ndata: 1234\n"), Error);
}

}  // namespace
}  // namespace sandgate
