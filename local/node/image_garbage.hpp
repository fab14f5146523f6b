#pragma once
#include <string>
#include <vector>

#include "local/image/store.hpp"
#include "local/node/settings.hpp"

namespace sandgate {

// Removes image trees that no name points to and no sandbox of this machine runs from, waiting ones
// included: the journal says which those are, whether a node runs or not. Returns their digests.
std::vector<std::string> collect_images(const NodeSettings& settings, ImageStore& store);

}  // namespace sandgate
