#pragma once
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "providers/sandbox.hpp"

// Byte streams that adapters return.
namespace sandgate {

// Reads until `into` is full or the stream ends. Returns the number of bytes; fewer than fit means
// that the stream has ended.
Task<size_t> fill(ByteSource& bytes, std::span<char> into);

// A stream that keeps alive what it depends on.
class OwnedBytes : public ByteSource {
 public:
  OwnedBytes(std::shared_ptr<void> owner, std::unique_ptr<ByteSource> bytes)
      : owner_(std::move(owner)), bytes_(std::move(bytes)) {}
  Task<size_t> read(std::span<char> into) override { return bytes_->read(into); }

 private:
  std::shared_ptr<void> owner_;
  std::unique_ptr<ByteSource> bytes_;
};

// A part of a stream: skips bytes, then ends after a limit.
class SlicedBytes : public ByteSource {
 public:
  SlicedBytes(std::unique_ptr<ByteSource> bytes, uint64_t skip, uint64_t limit)
      : bytes_(std::move(bytes)), skip_(skip), left_(limit) {}
  Task<size_t> read(std::span<char> into) override;

 private:
  std::unique_ptr<ByteSource> bytes_;
  uint64_t skip_, left_;
};

// The stdout of a process. Throws Error(unavailable) if the exit code is not 0, which signals that
// reading a file failed.
class StdoutBytes : public ByteSource {
 public:
  explicit StdoutBytes(std::unique_ptr<ProcessStream> process) : process_(std::move(process)) {}
  Task<size_t> read(std::span<char> into) override;

 private:
  Task<void> refill();

  const std::unique_ptr<ProcessStream> process_;
  std::string piece_;
  size_t taken_ = 0;
  bool ended_ = false;
};

// A multipart/form-data body with one file. `file` must outlive it.
class FormFile : public ByteSource {
 public:
  // `texts` are name and value pairs of fields that precede the file.
  FormFile(ByteSource& file, std::string field, std::string file_name,
           std::vector<std::pair<std::string, std::string>> texts = {});
  std::string content_type() const { return "multipart/form-data; boundary=" + boundary_; }
  Task<size_t> read(std::span<char> into) override;

 private:
  const std::string boundary_;
  ByteSource& file_;
  std::string text_;  // the text before or after the file
  size_t at_ = 0;
  bool file_ended_ = false;
};

}  // namespace sandgate
