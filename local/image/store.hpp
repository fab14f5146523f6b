#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gateway/core/fd.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"
#include "local/image/config.hpp"

namespace sandgate {

// The description of an image: a read-only file tree, and how programs in it run.
struct ImageInfo {
  std::string name;
  std::string digest;  // "sha256:" and hex, over every entry's name, mode, owner and content
  int64_t size_bytes = 0;
  Time created_at;
  ImageConfig config;
  std::string source;  // digest of the OCI manifest it was imported from; else empty
};

Json to_json(const ImageInfo& image);
ImageInfo image_info_from(const Json& json);  // throws Json::exception

// An image in use: while `lease` is open, collect() keeps its tree.
struct OpenImage {
  ImageInfo info;
  Fd root;  // O_PATH directory
  Fd lease;
};

// Whether the text is a valid image name: 1 to 64 lower-case letters, digits, '-', '_' and '.', not
// starting with '.' or ending in ".draft".
bool is_image_name(std::string_view name);

// The store of images in a directory accessible to root only: file trees by digest, and names that
// refer to them. Thread-safe; may be shared by several processes.
class ImageStore {
 public:
  explicit ImageStore(std::string directory);

  std::vector<ImageInfo> list() const;  // sorted by name, without broken ones
  // Names whose description cannot be read. They cannot be opened, but removed.
  std::vector<std::string> broken() const;
  OpenImage open(const std::string& name) const;  // throws Error(not_found)
  // Opens the tree of `digest` with the description of image `name`. Throws Error(not_found).
  OpenImage open_version(const std::string& name, const std::string& digest) const;
  // Moves a finished tree (a directory inside make_draft()) into the store as `info.name`, unless
  // the store has the same one, and sets digest and size. An older image of that name is replaced;
  // its tree stays until collect(). Throws Error: invalid for the name, no_capacity; StepError.
  ImageInfo add(ImageInfo info, const std::string& tree);
  // Removes the name; collect() removes its tree. Throws Error(not_found).
  void remove(const std::string& name);
  // The digests of trees that must stay; empty: not known, no tree may be removed.
  using Users = std::function<std::optional<std::set<std::string>>()>;
  // Removes trees without a name that are not open and not used, and drafts as collect_drafts().
  // `users` is asked again for each tree once nobody can open it any more. Removes no tree while a
  // name is broken, because that name may refer to it. Returns the digests of removed trees.
  std::vector<std::string> collect(const Users& users);
  // Whether the tree still matches its digest; reads all of it. Throws Error(not_found).
  bool verify(const std::string& name) const;

  // Makes a new directory on the store's file system, to build a tree in. Who takes longer than a
  // minute holds a lock (flock) of it: see Draft.
  std::string make_draft() const;
  // Removes drafts older than a minute that nobody holds: whoever made them was killed.
  void collect_drafts() const;

  ImageInfo read(const std::string& name) const;  // throws Error(not_found), also when broken

 private:
  // What the store has under a name that it listed.
  struct NamedImage {
    bool is_there = true;
    std::optional<ImageInfo> image;
    bool is_broken() const { return is_there && !image; }
  };

  std::vector<std::string> names() const;
  NamedImage look_up(const std::string& name) const;
  std::string tree_path(const std::string& digest) const;
  OpenImage open_tree(ImageInfo info) const;
  // Moves a tree to another path and returns true, unless it has to stay. Sets what has to.
  bool take_away(const std::string& name, const std::string& to, const Users& users,
                 std::optional<std::set<std::string>>& kept) const;
  // The directory names of trees that must stay; empty: not known.
  std::optional<std::set<std::string>> kept_trees(const Users& users) const;

  std::string directory_;
};

// Digest and size of a file tree, as in ImageInfo. digest_tree() reads every file.
struct TreeDigest {
  std::string digest;
  int64_t size_bytes = 0;
};
TreeDigest digest_tree(const std::string& root);

}  // namespace sandgate
