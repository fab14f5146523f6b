#include "providers/vercel/vercel_archive.hpp"

#include <algorithm>
#include <boost/crc.hpp>
#include <cstdint>
#include <cstdio>

namespace sandgate::vercel {
namespace {

constexpr size_t kBlock = 512;
constexpr size_t kMaxStored = 65'535;  // bytes of one stored block of deflate

void put_octal(std::string& header, size_t at, size_t digits, uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "%0*llo", static_cast<int>(digits),
                static_cast<unsigned long long>(value));
  header.replace(at, digits, text);
}

std::string header_of(std::string_view name, size_t size) {
  std::string header(kBlock, '\0');
  header.replace(0, name.size(), name);
  put_octal(header, 100, 7, 0600);
  put_octal(header, 108, 7, 0);
  put_octal(header, 116, 7, 0);
  put_octal(header, 124, 11, size);
  put_octal(header, 136, 11, 0);
  header.replace(148, 8, 8, ' ');
  header[156] = '0';
  header.replace(257, 8, std::string_view("ustar\00000", 8));
  uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put_octal(header, 148, 6, sum);
  header[154] = '\0';
  return header;
}

void put_little(std::string& out, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace

std::string to_archive(std::string_view name, std::string_view bytes) {
  std::string tar = header_of(name, bytes.size());
  tar.append(bytes);
  tar.append((kBlock - tar.size() % kBlock) % kBlock + 2 * kBlock, '\0');
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  for (size_t at = 0; at < tar.size(); at += kMaxStored) {
    const size_t size = std::min(kMaxStored, tar.size() - at);
    out.push_back(at + size == tar.size() ? 1 : 0);
    put_little(out, static_cast<uint32_t>(size), 2);
    put_little(out, ~static_cast<uint32_t>(size), 2);
    out.append(tar, at, size);
  }
  boost::crc_32_type crc;
  crc.process_bytes(tar.data(), tar.size());
  put_little(out, crc.checksum(), 4);
  put_little(out, static_cast<uint32_t>(tar.size()), 4);
  return out;
}

}  // namespace sandgate::vercel
