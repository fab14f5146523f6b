#include "local/agent/files/tar_writer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace sandgate::agent {
namespace {

constexpr size_t kNameField = 100;
constexpr uint64_t kMaxOctal = 077777777777;  // of sizes and times

char flag_of(TarType type) {
  switch (type) {
    case TarType::directory:
      return '5';
    case TarType::symlink:
      return '2';
    case TarType::hardlink:
      return '1';
    default:
      return '0';
  }
}

// A field of octal digits that ends in NUL.
void put_octal(std::string& block, size_t at, size_t width, uint64_t value) {
  for (size_t digit = width - 1; digit-- > 0; value >>= 3)
    block[at + digit] = static_cast<char>('0' + (value & 7));
}

std::string header_block(const TarEntry& entry, char flag) {
  std::string block(kTarBlock, '\0');
  entry.name.copy(block.data(), kNameField);
  put_octal(block, 100, 8, entry.mode & 0777);
  put_octal(block, 108, 8, 0);
  put_octal(block, 116, 8, 0);
  put_octal(block, 124, 12, std::min(entry.size, kMaxOctal));
  put_octal(block, 136, 12,
            std::min(static_cast<uint64_t>(std::max<int64_t>(entry.mtime, 0)), kMaxOctal));
  block[156] = flag;
  entry.target.copy(block.data() + 157, kNameField);
  std::memcpy(block.data() + 257, "ustar\00000", 8);
  std::memset(block.data() + 148, ' ', 8);
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put_octal(block, 148, 7, sum);
  return block;
}

// "<length> key=value\n", where the length counts itself.
std::string pax_record(const std::string& key, const std::string& value) {
  const size_t rest = key.size() + value.size() + 3;
  size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length)
    length = std::to_string(length).size() + rest;
  return std::to_string(length) + " " + key + "=" + value + "\n";
}

}  // namespace

std::string tar_header(const TarEntry& entry) {
  std::string records;
  if (entry.name.size() > kNameField) records += pax_record("path", entry.name);
  if (entry.target.size() > kNameField) records += pax_record("linkpath", entry.target);
  if (entry.size > kMaxOctal) records += pax_record("size", std::to_string(entry.size));
  if (entry.mtime < 0 || entry.mtime > static_cast<int64_t>(kMaxOctal))
    records += pax_record("mtime", std::to_string(entry.mtime));
  std::string blocks;
  if (!records.empty()) {
    const TarEntry pax{.name = "pax", .size = records.size(), .mtime = entry.mtime};
    blocks = header_block(pax, 'x') + records + std::string(tar_padding(records.size()), '\0');
  }
  return blocks + header_block(entry, flag_of(entry.type));
}

}  // namespace sandgate::agent
