#include "gateway/compat/e2b/multipart.hpp"

#include <gtest/gtest.h>

#include "gateway/core/error.hpp"
#include "tests/support/run.hpp"

namespace sandgate::compat::e2b {
namespace {

// Gives at most `step` bytes at once.
class Slow : public ByteSource {
 public:
  Slow(std::string text, size_t step) : text_(std::move(text)), step_(step) {}
  Task<size_t> read(std::span<char> into) override {
    const size_t count = text_.copy(into.data(), std::min(step_, into.size()), at_);
    at_ += count;
    co_return count;
  }

 private:
  const std::string text_;
  const size_t step_;
  size_t at_ = 0;
};

using Files = std::vector<std::pair<std::string, std::string>>;

Task<Files> read_all(std::string text, size_t step) {
  Slow body(std::move(text), step);
  MultipartReader reader(body, "XX");
  Files files;
  for (;;) {
    const auto part = co_await reader.next();
    if (!part) break;
    std::string bytes, piece(7, '\0');
    for (;;) {
      const size_t count = co_await reader.read(piece);
      if (count == 0) break;
      bytes.append(piece, 0, count);
    }
    files.emplace_back(part->file_name, bytes);
  }
  co_return files;
}

std::string part(const std::string& name, const std::string& bytes) {
  return "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name +
         "\"\r\nContent-Type: text/plain\r\n\r\n" + bytes + "\r\n";
}

TEST(Multipart, GivesEachFileHoweverItArrives) {
  const std::string tricky = "a\r\n--XY\r\n--X\r\n\r\n--";
  const std::string body =
      part("one", tricky) + part("/two", "") + part("q%22", "z") + "--XX--\r\n";
  const Files wanted{{"one", tricky}, {"/two", ""}, {"q%22", "z"}};
  for (const size_t step : {1, 2, 3, 5, 64, 100'000})
    EXPECT_EQ(test::run(read_all(body, step)), wanted) << step;
}

TEST(Multipart, IgnoresWhatStandsAroundTheParts) {
  const Files wanted{{"a", "b"}};
  EXPECT_EQ(test::run(read_all("hello\r\n" + part("a", "b") + "--XX--\r\nbye", 9)), wanted);
  EXPECT_EQ(test::run(read_all("--XX--", 9)), Files());
}

TEST(Multipart, RefusesBadFraming) {
  for (const std::string& body : {std::string(), std::string("--XX\r\n"), part("a", "b"),
                                  std::string("--XX\r\nContent-Type: x\r\n\r\nb\r\n--XX--"),
                                  "--XX\r\nX: " + std::string(100'000, 'x')})
    EXPECT_THROW(test::run(read_all(body, 4096)), Error) << body.substr(0, 40);
}

TEST(Multipart, ReadsTheHeaders) {
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=\"a b\""), "a b");
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=ab; charset=x"), "ab");
  EXPECT_THROW(boundary_of("multipart/form-data"), Error);
  EXPECT_THROW(boundary_of("multipart/form-data; boundary=" + std::string(71, 'a')), Error);
  const auto read = part_from("Content-Disposition: form-data; filename=\"n\"; name=\"file\"");
  EXPECT_EQ(read.name, "file");
  EXPECT_EQ(read.file_name, "n");
}

TEST(Multipart, ReadsNamesAsTheyAreQuoted) {
  const auto name_in = [](const std::string& quoted) {
    return part_from("Content-Disposition: form-data; name=\"file\"; filename=" + quoted).file_name;
  };
  EXPECT_EQ(name_in(R"("a%22b%0A%0Dc%20")"), "a%22b%0A%0Dc%20");
  EXPECT_EQ(name_in(R"("a\\b")"), R"(a\b)");
  EXPECT_EQ(name_in(R"("a\"b")"), R"(a"b)");
  EXPECT_EQ(name_in(R"("a\b")"), R"(a\b)") << "of browsers, which escape no backslash";
  EXPECT_EQ(name_in(R"("a; filename=b")"), "a; filename=b");
  EXPECT_EQ(name_in("a; x=y"), "a");
  const auto read = part_from(R"(Content-Disposition: form-data; name="filename=x"; FileName="n")");
  EXPECT_EQ(read.name, "filename=x");
  EXPECT_EQ(read.file_name, "n");
  EXPECT_EQ(part_from(R"(Content-Disposition: form-data; filename="\)").file_name, "\\");
}

}  // namespace
}  // namespace sandgate::compat::e2b
