#pragma once
#include <cstdint>

namespace sandgate {

// How much an image may unpack to, over all its layers; counted down as they are.
struct UnpackRoom {
  int64_t bytes = int64_t{32} << 30;
  int64_t entries = 1'000'000;
};

// Applies a layer, a tar archive (plain, gzip, zstd) read from a descriptor, to the file tree below
// the root directory: to be called inside in_tree(). Whiteouts remove what earlier layers brought;
// owners and modes are kept, extended attributes are not. Names with "..", devices outside /dev
// (inside it they are skipped: a sandbox has its own) and hard links to what is not there are
// Error(invalid), and so is a layer that needs more than `room`.
void apply_layer(int archive_file, UnpackRoom& room);

}  // namespace sandgate
