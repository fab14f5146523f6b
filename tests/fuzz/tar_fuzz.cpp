// Any bytes, cut anywhere: the tar reader answers with members or Error(invalid), and never hands
// out more content than a member announced.
#include <algorithm>
#include <cstdlib>

#include "gateway/core/error.hpp"
#include "local/agent/files/tar_reader.hpp"
#include "tests/fuzz/cut_input.hpp"

using namespace sandgate::agent;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto [bytes, piece] = sandgate::CutInput(data, size);
  TarReader reader;
  uint64_t announced = 0, got = 0;
  try {
    for (size_t at = 0; at < bytes.size(); at += piece) {
      reader.push(bytes.substr(at, piece));
      while (const auto event = reader.next()) {
        if (const auto* entry = std::get_if<TarEntry>(&*event)) {
          announced = entry->size;
          got = 0;
        }
        if (const auto* content = std::get_if<TarContent>(&*event)) got += content->bytes.size();
        if (got > announced) std::abort();
      }
    }
    reader.finish();
  } catch (const sandgate::Error& error) {
    if (error.code != sandgate::ErrorCode::invalid) std::abort();
  }
  return 0;
}
