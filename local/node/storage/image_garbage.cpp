#include "local/node/storage/image_garbage.hpp"

#include <filesystem>

#include "gateway/core/log.hpp"
#include "local/node/storage/snapshot_store.hpp"
#include "local/node/supervisor/journal.hpp"

namespace sandgate {

namespace {

std::optional<std::set<std::string>> used_trees(const NodeSettings& settings) {
  std::set<std::string> used;
  const std::string directory = sandboxes_dir(settings);
  if (std::filesystem::is_directory(directory)) {
    for (const JournalRecord& record : Journal(directory).read_all()) {
      // The image of a broken entry is unknown and could be any.
      if (record.image.empty()) return std::nullopt;
      used.insert(record.image_digest);
    }
  }
  for (const StoredSnapshot& snapshot : snapshots_in(snapshots_dir(settings)))
    used.insert(snapshot.image_digest);
  return used;
}

}  // namespace

std::vector<std::string> collect_images(const NodeSettings& settings, ImageStore& store) {
  return store.collect([&]() -> std::optional<std::set<std::string>> {
    try {
      return used_trees(settings);
    } catch (const std::exception& unreadable) {
      log::warn("no image is removed: what is used is not known", {{"reason", unreadable.what()}});
      return std::nullopt;
    }
  });
}

}  // namespace sandgate
