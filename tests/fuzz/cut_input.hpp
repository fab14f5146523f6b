#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sandgate {

// An input that arrives in pieces, whose size its first byte says.
struct CutInput {
  CutInput(const uint8_t* data, size_t size)
      : bytes(reinterpret_cast<const char*>(data) + 1, size - 1), piece(size_t{data[0]} + 1) {}

  std::string_view bytes;
  size_t piece;  // 1 to 256
};

}  // namespace sandgate
