#pragma once
#include <string>

#include "local/agent/files/tar_format.hpp"

namespace sandgate::agent {

// The header blocks of a member: ustar, preceded by a pax header when a name or the size does not
// fit.
std::string tar_header(const TarEntry& entry);
// The number of zero bytes after a content of this size.
inline size_t tar_padding(uint64_t size) { return (kTarBlock - size % kTarBlock) % kTarBlock; }
// The end marker of an archive.
inline std::string tar_end() { return std::string(2 * kTarBlock, '\0'); }

}  // namespace sandgate::agent
