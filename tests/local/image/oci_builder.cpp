#include "tests/local/image/oci_builder.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <openssl/evp.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "gateway/core/crypto.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxTar = 64 << 20;

unsigned type_of(Member::Kind kind) {
  switch (kind) {
    case Member::directory:
      return AE_IFDIR;
    case Member::symlink:
      return AE_IFLNK;
    case Member::device:
      return AE_IFCHR;
    case Member::pipe:
      return AE_IFIFO;
    default:
      return AE_IFREG;
  }
}

void add_member(archive* out, const Member& member) {
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                            archive_entry_free);
  const bool has_content = member.kind == Member::file && member.claimed_size < 0;
  archive_entry_set_pathname(entry.get(), member.name.c_str());
  archive_entry_set_filetype(entry.get(), type_of(member.kind));
  archive_entry_set_perm(entry.get(), member.mode);
  archive_entry_set_uid(entry.get(), member.uid);
  archive_entry_set_gid(entry.get(), member.gid);
  archive_entry_set_size(entry.get(), has_content ? static_cast<int64_t>(member.content.size())
                                                  : std::max<int64_t>(0, member.claimed_size));
  if (member.claimed_size >= 0) archive_entry_sparse_add_entry(entry.get(), 0, 0);
  if (member.kind == Member::symlink)
    archive_entry_set_symlink(entry.get(), member.content.c_str());
  if (member.kind == Member::hardlink)
    archive_entry_set_hardlink(entry.get(), member.content.c_str());
  if (member.kind == Member::device) archive_entry_set_rdev(entry.get(), 0x0103);
  if (archive_write_header(out, entry.get()) != ARCHIVE_OK)
    throw std::runtime_error(archive_error_string(out));
  if (has_content) archive_write_data(out, member.content.data(), member.content.size());
}

Json put_blob(const fs::path& directory, const std::string& bytes, const std::string& type) {
  const std::string digest = sha256_of(bytes);
  std::ofstream(directory / "blobs/sha256" / digest.substr(7), std::ios::binary) << bytes;
  return {{"mediaType", type}, {"digest", digest}, {"size", bytes.size()}};
}

}  // namespace

std::string tar_of(const std::vector<Member>& members, bool gzip) {
  std::string bytes(kMaxTar, '\0');
  size_t used = 0;
  archive* out = archive_write_new();
  archive_write_set_format_pax(out);
  if (gzip) archive_write_add_filter_gzip(out);
  archive_write_set_bytes_in_last_block(out, 1);
  archive_write_open_memory(out, bytes.data(), bytes.size(), &used);
  for (const Member& member : members) add_member(out, member);
  archive_write_close(out);
  archive_write_free(out);
  bytes.resize(used);
  return bytes;
}

std::string sha256_of(const std::string& bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  return "sha256:" + to_hex({reinterpret_cast<char*>(digest), size});
}

void write_layout(const std::string& directory, const std::vector<std::string>& layers,
                  const Json& config) {
  fs::create_directories(directory + "/blobs/sha256");
  const std::string base = "application/vnd.oci.image.";
  Json blobs = Json::array();
  for (const std::string& layer : layers)
    blobs.push_back(put_blob(directory, layer, base + "layer.v1.tar"));
  const Json image = {{"os", "linux"}, {"config", config}};
  const Json manifest = {{"schemaVersion", 2},
                         {"config", put_blob(directory, image.dump(), base + "config.v1+json")},
                         {"layers", blobs}};
  const Json index = {
      {"schemaVersion", 2},
      {"manifests",
       Json::array({put_blob(directory, manifest.dump(), base + "manifest.v1+json")})}};
  std::ofstream(directory + "/index.json") << index.dump();
  std::ofstream(directory + "/oci-layout") << R"({"imageLayoutVersion":"1.0.0"})";
}

std::vector<Member> busybox_layer() {
  std::ifstream in("/bin/busybox", std::ios::binary);
  const std::string program{std::istreambuf_iterator<char>(in), {}};
  std::vector<Member> members = {{"bin", Member::directory, "", 0755},
                                 {"bin/busybox", Member::file, program, 0755},
                                 {"etc", Member::directory, "", 0755},
                                 {"etc/passwd", Member::file, "root:x:0:0::/root:/bin/sh\n", 0644}};
  for (const char* name : {"bash", "sh", "ls", "cat", "id", "pwd", "env", "true", "readlink"})
    members.push_back({std::string("bin/") + name, Member::symlink, "busybox", 0777});
  return members;
}

}  // namespace sandgate::test
