#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"
#include "local/namespaces/fd.hpp"

namespace sandgate {

// An image as sandboxes see it: a read-only file tree and how programs start in it.
struct ImageInfo {
  std::string name;
  std::string digest;  // "sha256:" and hex: of every entry's name, mode, owner and content
  int64_t size_bytes = 0;
  Time created_at;
  std::string user = "user", home = "/home/user";
  uint32_t uid = 1000, gid = 1000;
  std::map<std::string, std::string> env;
  std::string workdir;  // where commands start; empty: home
  std::string source;  // what it was made from, when that has a name
};

Json to_json(const ImageInfo& image);
ImageInfo image_info_from(const Json& json);  // throws Json::exception

// While it is open its tree is not collected.
struct OpenImage {
  ImageInfo info;
  Fd root;  // O_PATH directory
  Fd lease;
};

// Lower-case letters, digits, '-', '_', '.', not first a '.', 64 at most, not ".draft" last.
bool is_image_name(std::string_view name);

// Images below one directory, root's alone: trees by digest, names that point to them.
// Thread-safe; what one process adds another sees.
class ImageStore {
 public:
  explicit ImageStore(std::string directory);

  std::vector<ImageInfo> list() const;  // by name, without those that are broken
  // Names whose description cannot be read: no sandbox starts from them, and `remove` takes them.
  std::vector<std::string> broken() const;
  OpenImage open(const std::string& name) const;  // throws Error(not_found)
  // The tree that `digest` names, to be run as the image `name` says. Throws Error(not_found).
  OpenImage open_version(const std::string& name, const std::string& digest) const;
  // Takes over a finished tree (a directory inside draft_directory()) as `info.name`, computing
  // digest and size. An older image of that name loses the name; its tree stays until removed.
  ImageInfo add(ImageInfo info, const std::string& tree);
  // Forgets the name; its tree goes with the next collection. Throws Error(not_found).
  void remove(const std::string& name);
  // Removes trees that no name points to, nobody has open and `used` (digests) does not hold, and
  // drafts that somebody left a day ago. While a name is broken no tree goes: it may be that
  // name's. Returns the digests of what went.
  std::vector<std::string> collect(const std::set<std::string>& used);
  // Whether the tree still is what its digest says; reads all of it. Throws Error(not_found).
  bool verify(const std::string& name) const;

  // A fresh directory on the store's file system, to build a tree in.
  std::string make_draft() const;

  ImageInfo read(const std::string& name) const;  // throws Error(not_found), also when broken

 private:
  std::vector<std::string> names() const;
  std::string tree_path(const std::string& digest) const;
  OpenImage open_tree(ImageInfo info) const;
  void collect_drafts();

  std::string directory_;
};

// Digest and size of a file tree, as ImageInfo has them. Reads every file.
struct TreeDigest {
  std::string digest;
  int64_t size_bytes = 0;
};
TreeDigest digest_tree(const std::string& root);

}  // namespace sandgate
