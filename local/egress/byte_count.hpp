#pragma once
#include <cstdint>
#include <string>

#include "local/namespaces/fd.hpp"

namespace sandgate::egress {

// How many bytes one sandbox sent and received: a number in a small file, shared by the process
// that counts and the node that asks. It outlives both, so that neither's death loses a byte.

// The file at `path`, made when it is missing. Throws StepError.
Fd open_byte_count(const std::string& path);
// What it says now; 0 when nothing ever counted there. Throws StepError.
int64_t read_byte_count(const std::string& path);

// The side that counts, from one thread. Throws StepError.
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
