#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace sandgate {

// The kernel's CSPRNG, drawn in pages per thread: an id costs no system call of its own.
uint8_t random_byte();
void random_fill(std::span<uint8_t> out);
// `bytes` random bytes as lower-case hex.
std::string random_hex(size_t bytes);

}  // namespace sandgate
