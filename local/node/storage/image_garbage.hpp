#pragma once
#include <string>
#include <vector>

#include "local/image/store.hpp"
#include "local/node/settings.hpp"

namespace sandgate {

// Removes image trees that no image name refers to and that no sandbox (including those of the warm
// pool) or snapshot of the node uses, according to its journal, whether the node runs or not.
// Removes nothing while a journal entry is broken, or an entry or a snapshot cannot be read.
// Returns the digests of removed trees.
std::vector<std::string> collect_images(const NodeSettings& settings, ImageStore& store);

}  // namespace sandgate
