#pragma once
#include <cstdint>

namespace sandgate {

// The remaining limits on an image's unpacked size; each layer is subtracted from them.
struct UnpackBudget {
  int64_t bytes = int64_t{32} << 30;  // of all members; a hard link counts its file again
  // Directories without an entry count, too, and what a whiteout looks at and keeps once more.
  int64_t entries = 1'000'000;
  int64_t names = 256 << 20;  // bytes of all their paths, which are kept in memory
  // What comes out of the layers' files, headers and what is read over included.
  int64_t stream = int64_t{36} << 30;
};

// Who unpacks. All files belong to an ordinary account, and unlike root it needs permission to
// compute their digest, to run them and to remove them: it may read files and write directories,
// whatever their modes are in the layer.
enum class Unpacker { root, ordinary };

// Applies a layer, a tar archive (plain, or compressed once by gzip or zstd), to the file tree at
// the root directory. To be called inside run_in_chroot(). Whiteouts remove files of earlier
// layers. Owners and modes are kept, extended attributes are dropped. Devices below /dev are
// skipped, as sandboxes have their own. Throws Error(invalid) for a damaged layer, names with "..",
// other devices, hard links to missing files, and a layer that exceeds `budget`.
void apply_layer(int archive_file, Unpacker unpacker, UnpackBudget& budget);

}  // namespace sandgate
