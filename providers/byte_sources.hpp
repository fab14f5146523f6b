#pragma once
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "providers/sandbox.hpp"

// Small streams of bytes that adapters answer with.
namespace sandgate {

// Reads until `into` is full or the bytes end; how many there were. Fewer than fit: that was all.
Task<size_t> fill(ByteSource& bytes, std::span<char> into);

// What is in memory, which may be nothing.
class TextBytes : public ByteSource {
 public:
  explicit TextBytes(std::string text = "") : text_(std::move(text)) {}
  Task<size_t> read(std::span<char> into) override {
    const size_t count = text_.copy(into.data(), into.size(), at_);
    at_ += count;
    co_return count;
  }

 private:
  const std::string text_;
  size_t at_ = 0;
};

// Keeps what a stream depends on alive while it is read.
class OwnedBytes : public ByteSource {
 public:
  OwnedBytes(std::shared_ptr<void> owner, std::unique_ptr<ByteSource> bytes)
      : owner_(std::move(owner)), bytes_(std::move(bytes)) {}
  Task<size_t> read(std::span<char> into) override { return bytes_->read(into); }

 private:
  std::shared_ptr<void> owner_;
  std::unique_ptr<ByteSource> bytes_;
};

// A part of a stream: skips, then ends after a number of bytes.
class PartOfBytes : public ByteSource {
 public:
  PartOfBytes(std::unique_ptr<ByteSource> bytes, uint64_t skip, uint64_t limit)
      : bytes_(std::move(bytes)), skip_(skip), left_(limit) {}
  Task<size_t> read(std::span<char> into) override;

 private:
  std::unique_ptr<ByteSource> bytes_;
  uint64_t skip_, left_;
};

// What a process prints on its stdout. Throws Error(unavailable) when it does not end with 0, which
// is how a file's reading fails.
class PrintedBytes : public ByteSource {
 public:
  explicit PrintedBytes(std::unique_ptr<ProcessStream> process) : process_(std::move(process)) {}
  Task<size_t> read(std::span<char> into) override;

 private:
  Task<void> refill();

  const std::unique_ptr<ProcessStream> process_;
  std::string piece_;
  size_t taken_ = 0;
  bool ended_ = false;
};

// A file as the one part of a multipart/form-data body. `file` must outlive it.
class FormFile : public ByteSource {
 public:
  // Text fields before the file are pairs of name and value.
  FormFile(ByteSource& file, std::string field, std::string file_name,
           std::vector<std::pair<std::string, std::string>> texts = {});
  std::string content_type() const { return "multipart/form-data; boundary=" + boundary_; }
  Task<size_t> read(std::span<char> into) override;

 private:
  const std::string boundary_;
  ByteSource& file_;
  std::string text_;  // what comes before or after the file
  size_t at_ = 0;
  bool file_ended_ = false;
};

}  // namespace sandgate
