#include "local/node/storage/snapshot_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"
#include "local/namespaces/disk_copy.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr const char* kImage = ".img";
constexpr const char* kDocument = ".json";

void write_document(const std::string& path, const StoredSnapshot& snapshot, Durability lasting) {
  if (!replace_file(path, to_json(snapshot).dump(), 0600, lasting))
    throw StepError("keep snapshot", errno);
}

// Only what the system says is not there is missing: a process out of descriptors opens nothing.
std::optional<StoredSnapshot> read_document(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text && errno != ENOENT) throw StepError("read snapshot", errno);
  if (!text) return std::nullopt;
  try {
    return stored_snapshot_from(parse_json(*text));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void unlink_if_there(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) throw StepError("remove snapshot", errno);
}

// Throws if remove() has unlinked the image while it was being made.
void require_wanted(const Fd& image) {
  struct stat status {};
  check(fstat(image.get(), &status), "look at snapshot");
  if (status.st_nlink == 0)
    throw Error(ErrorCode::conflict, "the snapshot was removed while it was being made");
}

}  // namespace

Json to_json(const StoredSnapshot& snapshot) {
  Json json{{"version", 1},
            {"id", snapshot.id},
            {"sandbox", snapshot.sandbox_id},
            {"tenant", snapshot.tenant_id},
            {"image", snapshot.image},
            {"image_digest", snapshot.image_digest},
            {"disk_gib", snapshot.disk_gib},
            {"size_bytes", snapshot.size_bytes},
            {"created_at", to_micros(snapshot.created_at)}};
  if (snapshot.image_config) json["image_config"] = to_json(*snapshot.image_config);
  return json;
}

StoredSnapshot stored_snapshot_from(const Json& json) {
  StoredSnapshot snapshot;
  json.at("id").get_to(snapshot.id);
  json.at("sandbox").get_to(snapshot.sandbox_id);
  json.at("tenant").get_to(snapshot.tenant_id);
  json.at("image").get_to(snapshot.image);
  json.at("image_digest").get_to(snapshot.image_digest);
  if (json.contains("image_config"))
    snapshot.image_config = image_config_from(json["image_config"]);
  json.at("disk_gib").get_to(snapshot.disk_gib);
  json.at("size_bytes").get_to(snapshot.size_bytes);
  snapshot.created_at = from_micros(json.at("created_at").get<int64_t>());
  return snapshot;
}

SnapshotStore::SnapshotStore(std::string directory) : directory_(std::move(directory)) {
  std::filesystem::create_directories(directory_);
  chmod(directory_.c_str(), 0700);
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    const std::filesystem::path& path = entry.path();
    const std::string id = path.stem().string();
    const bool whole =
        (path.extension() == kDocument || path.extension() == kImage) && has_begun(id) && find(id);
    std::error_code ignored;
    if (!whole) std::filesystem::remove(path, ignored);
  }
}

std::string SnapshotStore::image_path(const std::string& id) const {
  return directory_ + "/" + id + kImage;
}

std::string SnapshotStore::document_path(const std::string& id) const {
  return directory_ + "/" + id + kDocument;
}

StoredSnapshot SnapshotStore::add(StoredSnapshot snapshot, int disk, bool lasting,
                                  const std::function<void()>& between,
                                  const std::function<void()>& copied) {
  const std::string path = image_path(snapshot.id);
  Fd image =
      check_fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "make snapshot");
  try {
    struct stat status {};
    check(fstat(disk, &status), "look at disk image");
    copy_disk(disk, image.get(), status.st_size, [&] {
      between();
      require_wanted(image);
    });
    copied();
    if (lasting) check(fsync(image.get()), "keep snapshot");
    check(fchmod(image.get(), 0400), "seal snapshot");
    check(fstat(image.get(), &status), "look at snapshot");
    snapshot.size_bytes = status.st_blocks * 512;
    // Also makes the names in the directory last.
    write_document(document_path(snapshot.id), snapshot,
                   lasting ? Durability::through_power_cuts : Durability::until_reboot);
    require_wanted(image);
  } catch (...) {
    discard(snapshot.id);
    throw;
  }
  return snapshot;
}

std::optional<StoredSnapshot> SnapshotStore::find(const std::string& id) const {
  return read_document(document_path(id));
}

bool SnapshotStore::has_begun(const std::string& id) const {
  return access(image_path(id).c_str(), F_OK) == 0;
}

OpenSnapshot SnapshotStore::open(const std::string& id) const {
  auto snapshot = find(id);
  Fd image(::open(image_path(id).c_str(), O_RDONLY | O_CLOEXEC));
  if (!image && errno != ENOENT) throw StepError("open snapshot", errno);
  if (!snapshot || !image) throw Error::not_found("snapshot", id);
  return {std::move(*snapshot), std::move(image)};
}

// The image first: whoever is making it looks for its name after writing the document.
void SnapshotStore::remove(const std::string& id) {
  unlink_if_there(image_path(id));
  unlink_if_there(document_path(id));
}

// What made it necessary is what the caller has to hear of.
void SnapshotStore::discard(const std::string& id) noexcept {
  try {
    remove(id);
  } catch (const StepError&) {
    log::warn("an unfinished snapshot is left", {{"snapshot", id}});
  }
}

std::vector<StoredSnapshot> SnapshotStore::list() const { return snapshots_in(directory_); }

std::vector<StoredSnapshot> snapshots_in(const std::string& directory) {
  std::vector<StoredSnapshot> all;
  if (!std::filesystem::exists(directory)) return all;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != kDocument) continue;
    if (auto snapshot = read_document(entry.path().string())) all.push_back(std::move(*snapshot));
  }
  return all;
}

}  // namespace sandgate
