#include "providers/byte_sources.hpp"

#include <gtest/gtest.h>

#include "gateway/core/error.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

// Everything, read in pieces of `size`.
Task<std::string> all_of(ByteSource& source, size_t size) {
  std::string all, piece(size, '\0');
  for (;;) {
    const size_t count = co_await source.read(piece);
    if (count == 0) co_return all;
    all.append(piece, 0, count);
  }
}

std::string part(uint64_t skip, uint64_t limit, size_t size) {
  SlicedBytes bytes(std::make_unique<TextBytes>("0123456789"), skip, limit);
  return test::run(all_of(bytes, size));
}

TEST(ByteSources, APartIsWhatWasAskedFor) {
  for (const size_t size : {1, 3, 100}) {
    EXPECT_EQ(part(0, UINT64_MAX, size), "0123456789");
    EXPECT_EQ(part(4, 3, size), "456");
    EXPECT_EQ(part(9, 5, size), "9");
    EXPECT_EQ(part(10, 5, size), "");
    EXPECT_EQ(part(50, 5, size), "");
  }
}

TEST(ByteSources, AFormHoldsTextsAndTheFile) {
  for (const size_t size : {1, 7, 1000}) {
    TextBytes file("bytes");
    FormFile form(file, "file", "na\"me\r\n", {{"path", "/x"}});
    const std::string boundary = form.content_type().substr(30);
    const std::string start = "--" + boundary + "\r\nContent-Disposition: form-data; ";
    EXPECT_EQ(test::run(all_of(form, size)),
              start + "name=\"path\"\r\n\r\n/x\r\n" + start +
                  "name=\"file\"; filename=\"name\"\r\nContent-Type: application/octet-stream"
                  "\r\n\r\nbytes\r\n--" +
                  boundary + "--\r\n");
  }
}

// A process that prints on both channels and ends.
class PrintingProcess : public ProcessStream {
 public:
  explicit PrintingProcess(int status) : status_(status) {}
  Task<std::optional<ProcessEvent>> next() override {
    switch (step_++) {
      case 0:
        co_return OutputChunk{Channel::stdout_, "ab", 2};
      case 1:
        co_return OutputChunk{Channel::stderr_, "no", 4};
      case 2:
        co_return OutputChunk{Channel::stdout_, "c", 5};
      case 3:
        co_return ProcessExit{.exit_code = status_};
      default:
        co_return std::nullopt;
    }
  }
  Task<void> write_stdin(std::string) override { co_return; }
  Task<void> close_stdin() override { co_return; }

 private:
  const int status_;
  int step_ = 0;
};

TEST(ByteSources, WhatAProcessPrintsIsAFileWhenItEndsWell) {
  for (const size_t size : {1, 100}) {
    StdoutBytes whole(std::make_unique<PrintingProcess>(0));
    EXPECT_EQ(test::run(all_of(whole, size)), "abc");
    StdoutBytes broken(std::make_unique<PrintingProcess>(1));
    EXPECT_THROW(test::run(all_of(broken, size)), Error);
  }
}

TEST(ByteSources, APieceIsFilledUnlessTheBytesEnd) {
  StdoutBytes bytes(std::make_unique<PrintingProcess>(0));
  std::string piece(2, '\0');
  EXPECT_EQ(test::run(fill(bytes, piece)), 2U);
  EXPECT_EQ(piece, "ab");
  EXPECT_EQ(test::run(fill(bytes, piece)), 1U);
  EXPECT_EQ(test::run(fill(bytes, piece)), 0U);
}

}  // namespace
}  // namespace sandgate
