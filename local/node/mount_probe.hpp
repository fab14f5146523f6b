#pragma once
#include <string>

namespace sandgate {

// Whether the kernel can mount this type of file system; asks it to load the module where that is
// needed, which only root may.
bool can_mount(const std::string& type);

// Why files below `directory` (or, while it does not exist, its nearest parent) cannot be shown to
// sandboxes with ids of their own, as the images must be; empty: they can. For root only.
std::string id_mapping_lacks(const std::string& directory);

}  // namespace sandgate
