#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace sandgate {

// Random bytes from the kernel's CSPRNG, buffered per thread to avoid a system call per id.
uint8_t random_byte();
void random_fill(std::span<uint8_t> out);
// Returns `bytes` random bytes as lower-case hex.
std::string random_hex(size_t bytes);

}  // namespace sandgate
