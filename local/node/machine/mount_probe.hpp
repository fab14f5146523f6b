#pragma once
#include <string>

namespace sandgate {

// Whether the kernel can mount this type of file system. Loads its module if needed, which only
// root may.
bool can_mount(const std::string& type);

// Returns why `directory` (or its nearest existing parent) does not support id-mapped mounts, which
// sandboxes need of images; empty when it does, or when this could not be tried. For root only.
std::string id_mapping_lacks(const std::string& directory);

}  // namespace sandgate
