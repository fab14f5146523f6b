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
  int64_t claimed_size = -1;  // of a sparse file that is all hole; -1: as long as its content
};

// A tar archive; gzip when asked for.
std::string tar_of(const std::vector<Member>& members, bool gzip = false);

std::string sha256_of(const std::string& bytes);

// Writes an OCI layout of these layers into a directory that is made.
void write_layout(const std::string& directory, const std::vector<std::string>& layers,
                  const Json& config = Json::object());

// A layer with a static busybox and what a sandbox needs to run it.
std::vector<Member> busybox_layer();

}  // namespace sandgate::test
