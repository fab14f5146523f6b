#pragma once
#include <cstdint>
#include <string>

namespace sandgate::agent {

constexpr size_t kTarBlock = 512;

enum class TarType { file, directory, symlink, hardlink, special };

// A member of an archive, without its content.
struct TarEntry {
  std::string name;  // as written in the archive; untrusted when read
  TarType type = TarType::file;
  uint32_t mode = 0644;
  uint64_t size = 0;  // bytes of content that follow
  int64_t mtime = 0;  // seconds
  std::string target;  // of a link
};

}  // namespace sandgate::agent
