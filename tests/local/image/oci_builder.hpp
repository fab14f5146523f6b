#pragma once
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"

namespace sandgate::test {

struct Member {
  enum Kind { file, directory, symlink, hardlink, device, pipe };
  std::string name;
  Kind kind = file;
  std::string content;  // of a file; the target of a link
  unsigned mode = 0644;
  int64_t uid = 0, gid = 0;
  int64_t claimed_size = -1;  // size of a sparse file without data; -1: the size of `content`
};

// Returns a tar archive, optionally compressed.
std::string tar_of(const std::vector<Member>& members, bool gzip = false);

std::string sha256_of(const std::string& bytes);

// Writes an OCI layout of these layers to a new directory.
void write_layout(const std::string& directory, const std::vector<std::string>& layers,
                  const Json& config = Json::object());

// A layer with a static busybox and the files that a sandbox needs to run it.
std::vector<Member> busybox_layer();

}  // namespace sandgate::test
