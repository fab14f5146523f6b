#pragma once
#include <cstdint>
#include <string>

#include "gateway/core/fd.hpp"

namespace sandgate::egress {

// The number of bytes that a sandbox has sent, in a small file shared by the egress process, which
// counts, and the node, which reads. The file outlives both, so that no crash loses a count.

// Opens the file at `path`, creating it if it is missing. Throws StepError.
Fd open_byte_count(const std::string& path);
// Returns the current count; 0 when there is no file. Throws StepError.
int64_t read_byte_count(const std::string& path);

// The writing side of a count, through a shared mapping of the file. The constructor throws
// StepError.
class ByteCount {
 public:
  explicit ByteCount(Fd file);
  ~ByteCount();
  ByteCount(const ByteCount&) = delete;

  void add(size_t bytes);

 private:
  int64_t* shared_ = nullptr;
};

}  // namespace sandgate::egress
