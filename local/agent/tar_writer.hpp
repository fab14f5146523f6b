#pragma once
#include <string>

#include "local/agent/tar_format.hpp"

namespace sandgate::agent {

// The header blocks of a member: ustar, preceded by a pax header where a name or the size does not
// fit one.
std::string tar_header(const TarEntry& entry);
// How many zero bytes follow a content of this size.
inline size_t tar_padding(uint64_t size) { return (kTarBlock - size % kTarBlock) % kTarBlock; }
// What ends an archive.
inline std::string tar_end() { return std::string(2 * kTarBlock, '\0'); }

}  // namespace sandgate::agent
