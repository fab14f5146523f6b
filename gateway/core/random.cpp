#include "gateway/core/random.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace sandgate {
namespace {

struct Page {
  std::array<uint8_t, 1024> bytes;
  size_t used = sizeof(bytes);
};

void refill(Page& page) {
  size_t filled = 0;
  while (filled < page.bytes.size()) {
    const ssize_t got = getrandom(page.bytes.data() + filled, page.bytes.size() - filled, 0);
    if (got < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "getrandom");
    if (got > 0) filled += static_cast<size_t>(got);
  }
  page.used = 0;
}

}  // namespace

uint8_t random_byte() {
  thread_local Page page;
  if (page.used == page.bytes.size()) refill(page);
  const uint8_t byte = page.bytes[page.used];
  page.bytes[page.used++] = 0;
  return byte;
}

void random_fill(std::span<uint8_t> out) {
  for (uint8_t& byte : out) byte = random_byte();
}

std::string random_hex(size_t bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes * 2);
  for (size_t i = 0; i < bytes; ++i) {
    const uint8_t byte = random_byte();
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

}  // namespace sandgate
