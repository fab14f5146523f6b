#include "local/image/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "gateway/core/files.hpp"
#include "gateway/core/random.hpp"
#include "local/image/draft.hpp"

namespace sandgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDraft = ".draft";

// The directory name of a tree with digest "sha256:…".
std::string tree_name(const std::string& digest) { return digest.substr(digest.find(':') + 1); }

// Parses an image's description; empty when it is broken.
std::optional<ImageInfo> described(const std::string& text) {
  try {
    return image_info_from(parse_json(text));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// Only what the system says is not there is missing: a process out of descriptors opens nothing.
Error unopened(const std::string& name, int number) {
  if (number == ENOENT) return Error::not_found("image", name);
  return Error(ErrorCode::no_capacity,
               "image '" + name + "' cannot be opened: " + std::strerror(number));
}

// A power cut must not leave a tree under its digest that has not its content.
void sync_files(const std::string& tree) {
  const Fd root(open(tree.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root || syncfs(root.get()) != 0)
    throw Error(ErrorCode::no_capacity, tree + " cannot be written: is the disk full?");
}

// While it lives, no other process or thread adds a tree or takes one away.
class Change {
 public:
  explicit Change(const std::string& store)
      : lock_(open((store + "/trees").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (flock(lock_.get(), LOCK_EX) != 0)
      if (errno != EINTR) throw Error(ErrorCode::no_capacity, "the image store cannot be locked");
  }
  Change(const Change&) = delete;
  // Explicitly: a process that is being forked may have the descriptor, too.
  ~Change() { flock(lock_.get(), LOCK_UN); }

 private:
  const Fd lock_;
};

}  // namespace

bool is_image_name(std::string_view name) {
  if (name.empty() || name.size() > 64 || name.front() == '.' || name.ends_with(kDraft))
    return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

Json to_json(const ImageInfo& image) {
  Json json = to_json(image.config);
  json.update({{"name", image.name},
               {"digest", image.digest},
               {"size_bytes", image.size_bytes},
               {"created_at", to_rfc3339(image.created_at)},
               {"source", image.source}});
  return json;
}

ImageInfo image_info_from(const Json& json) {
  ImageInfo image;
  json.at("name").get_to(image.name);
  json.at("digest").get_to(image.digest);
  json.at("size_bytes").get_to(image.size_bytes);
  image.created_at = from_rfc3339(json.at("created_at").get<std::string>()).value_or(Time{});
  image.config = image_config_from(json);
  image.source = json.value("source", "");
  return image;
}

ImageStore::ImageStore(std::string directory) : directory_(std::move(directory)) {
  for (const char* part : {"/trees", "/names", "/drafts"})
    fs::create_directories(directory_ + part);
  // The machine's own users must not reach set-user-id programs of images.
  chmod(directory_.c_str(), 0700);
}

ImageInfo ImageStore::read(const std::string& name) const {
  if (!is_image_name(name)) throw Error::not_found("image", name);
  const auto text = read_text_file(directory_ + "/names/" + name);
  if (!text) throw unopened(name, errno);
  if (auto info = described(*text)) return *std::move(info);
  throw Error(ErrorCode::not_found,
              "image '" + name + "' has a broken description: remove it, and make it again");
}

// Skips files whose names are not valid image names, such as drafts.
std::vector<std::string> ImageStore::names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory_ + "/names")) {
    const std::string name = entry.path().filename();
    if (is_image_name(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

ImageStore::NamedImage ImageStore::look_up(const std::string& name) const {
  const auto text = read_text_file(directory_ + "/names/" + name);
  if (!text && errno == ENOENT) return {.is_there = false};  // it was removed meanwhile
  return {.image = described(text.value_or(""))};
}

std::vector<ImageInfo> ImageStore::list() const {
  std::vector<ImageInfo> images;
  for (const std::string& name : names())
    if (auto found = look_up(name); found.image) images.push_back(*std::move(found.image));
  return images;
}

std::vector<std::string> ImageStore::broken() const {
  std::vector<std::string> broken;
  for (const std::string& name : names())
    if (look_up(name).is_broken()) broken.push_back(name);
  return broken;
}

OpenImage ImageStore::open(const std::string& name) const { return open_tree(read(name)); }

OpenImage ImageStore::open_version(const std::string& name, const std::string& digest) const {
  ImageInfo info = read(name);
  info.digest = digest;
  return open_tree(std::move(info));
}

OpenImage ImageStore::open_tree(ImageInfo info) const {
  const std::string path = tree_path(info.digest);
  OpenImage image{std::move(info), {}, {}};
  image.lease.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!image.lease) throw unopened(image.info.name, errno);
  if (flock(image.lease.get(), LOCK_SH | LOCK_NB) != 0)
    throw Error::not_found("image", image.info.name);  // it is being removed
  // Open the path again: a collection may have moved the tree before the lock was taken.
  image.root.reset(::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!image.root) throw unopened(image.info.name, errno);
  return image;
}

ImageInfo ImageStore::add(ImageInfo info, const std::string& tree) {
  if (!is_image_name(info.name)) throw Error::invalid("/name", "is not an image name");
  TreeDigest digest = digest_tree(tree);
  info.digest = digest.digest;
  info.size_bytes = digest.size_bytes;
  sync_files(tree);
  const Change change(directory_);
  const std::string place = tree_path(info.digest);
  if (!fs::exists(place)) fs::rename(tree, place);
  const std::string description = directory_ + "/names/" + info.name;
  if (!sync_directory(directory_ + "/trees") ||
      !replace_file(description, to_json(info).dump(2), 0644, Durability::through_power_cuts))
    throw Error(ErrorCode::no_capacity, description + " cannot be written: is the disk full?");
  return info;
}

void ImageStore::remove(const std::string& name) {
  if (!is_image_name(name) || !fs::remove(directory_ + "/names/" + name))
    throw Error::not_found("image", name);
}

std::vector<std::string> ImageStore::collect(const Users& users) {
  collect_drafts();
  std::vector<std::string> gone;
  auto kept = kept_trees(users);
  for (const auto& entry : fs::directory_iterator(directory_ + "/trees")) {
    const std::string name = entry.path().filename();
    if (!kept) break;
    if (kept->contains(name)) continue;
    const Draft away(*this);
    if (take_away(name, away.below("tree"), users, kept)) gone.push_back("sha256:" + name);
  }
  return gone;
}

// Renames a tree while holding its lock, so that no one can open it from then on. The lock is not
// taken of a tree that got a name meanwhile: who opens it would not wait.
bool ImageStore::take_away(const std::string& name, const std::string& to, const Users& users,
                           std::optional<std::set<std::string>>& kept) const {
  const std::string path = directory_ + "/trees/" + name;
  const Change change(directory_);
  kept = kept_trees(users);  // removing the one before may have taken long
  if (!kept || kept->contains(name)) return false;
  const Fd tree(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!tree || flock(tree.get(), LOCK_EX | LOCK_NB) != 0) return false;
  kept = kept_trees(users);  // somebody may have opened it to use it
  if (!kept || kept->contains(name)) return false;
  fs::rename(path, to);
  return true;
}

std::optional<std::set<std::string>> ImageStore::kept_trees(const Users& users) const {
  std::set<std::string> kept;
  for (const std::string& name : names()) {
    const NamedImage found = look_up(name);
    if (found.is_broken()) return std::nullopt;
    if (found.image) kept.insert(tree_name(found.image->digest));
  }
  const auto used = users();
  if (!used) return std::nullopt;
  for (const std::string& digest : *used) kept.insert(tree_name(digest));
  return kept;
}

void ImageStore::collect_drafts() const {
  constexpr time_t kMinute = 60;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory_ + "/drafts", ignored)) {
    const Fd draft(::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!draft || fstat(draft.get(), &status) != 0) continue;
    if (status.st_mtime + kMinute < time(nullptr) && flock(draft.get(), LOCK_EX | LOCK_NB) == 0)
      fs::remove_all(entry.path(), ignored);
  }
}

bool ImageStore::verify(const std::string& name) const {
  const OpenImage image = open(name);
  return digest_tree(tree_path(image.info.digest)).digest == image.info.digest;
}

std::string ImageStore::tree_path(const std::string& digest) const {
  return directory_ + "/trees/" + tree_name(digest);
}

std::string ImageStore::make_draft() const {
  std::string path = directory_ + "/drafts/" + random_hex(8);
  fs::create_directory(path);
  return path;
}

}  // namespace sandgate
