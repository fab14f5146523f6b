#include "local/image/oci_layout.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "local/image/sha256.hpp"
#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr int64_t kMaxJson = 4 << 20;
constexpr size_t kMaxLayers = 512, kMaxVariables = 1024, kMaxIndexEntries = 1024;
constexpr int kMaxIndexDepth = 3;
constexpr std::string_view kAlgorithm = "sha256:";

[[noreturn]] void no_image(const std::string& why) {
  throw Error(ErrorCode::invalid, "this is not an OCI image: " + why);
}

bool is_digest(const std::string& text) {
  return text.size() == kAlgorithm.size() + 64 && text.starts_with(kAlgorithm) &&
         text.find_first_not_of("0123456789abcdef", kAlgorithm.size()) == std::string::npos;
}

std::string architecture() {
  utsname name{};
  uname(&name);
  const std::string machine = name.machine;
  if (machine == "x86_64") return "amd64";
  return machine == "aarch64" ? "arm64" : machine;
}

std::string digest_of_file(int file) {
  Sha256 digest;
  std::vector<char> buffer(1 << 18);
  for (off_t at = 0;;) {
    const ssize_t got = check(pread(file, buffer.data(), buffer.size(), at), "read blob");
    if (got == 0) break;
    digest.add({buffer.data(), static_cast<size_t>(got)});
    at += got;
  }
  return std::string(kAlgorithm) + digest.hex();
}

// Opens a regular file of the layout without following symlinks.
Fd open_file(int directory, const std::string& path) {
  try {
    Fd file = open_below(directory, path.c_str(), O_RDONLY | O_NONBLOCK, "open");
    struct stat status {};
    if (fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) return file;
  } catch (const StepError&) {
    // reported below
  }
  no_image(path + " is missing");
}

std::string read_whole(const Fd& file) {
  struct stat status {};
  check(fstat(file.get(), &status), "stat blob");
  if (status.st_size > kMaxJson) no_image("a description is too long");
  std::string text(static_cast<size_t>(status.st_size), '\0');
  if (pread(file.get(), text.data(), text.size(), 0) != status.st_size) no_image("it changes");
  return text;
}

Json parsed(const std::string& text) {
  try {
    return parse_json(text);
  } catch (const std::exception&) {
    no_image("a description is not JSON");
  }
}

std::string text_at(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

const Json& list_at(const Json& json, const char* key, size_t most) {
  static const Json kNone = Json::array();
  const auto found = json.is_object() ? json.find(key) : json.end();
  if (found == json.end() || found->is_null()) return kNone;
  if (!found->is_array() || found->size() > most) no_image(std::string(key) + " is no short list");
  return *found;
}

bool is_index(const std::string& type) {
  return type.find("image.index") != std::string::npos ||
         type.find("manifest.list") != std::string::npos;
}

bool fits_machine(const Json& descriptor) {
  const auto platform = descriptor.find("platform");
  if (platform == descriptor.end()) return true;
  return text_at(*platform, "os") == "linux" &&
         text_at(*platform, "architecture") == architecture();
}

}  // namespace

OciLayout::OciLayout(const std::string& directory) {
  directory_.reset(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory_) no_image(directory + " is not a directory");
  if (faccessat(directory_.get(), "oci-layout", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
    no_image(
        "oci-layout is missing. `skopeo copy docker-archive:FILE oci-archive:OTHER` converts what "
        "`docker save` writes");
  const Json layout = parsed(read_whole(open_file(directory_.get(), "oci-layout")));
  if (!text_at(layout, "imageLayoutVersion").starts_with("1.")) no_image("unknown layout");
  const Json index = parsed(read_whole(open_file(directory_.get(), "index.json")));
  const Blob chosen = choose_manifest(index, 0);
  const Json manifest = read_json(chosen);
  manifest_digest_ = chosen.digest;
  if (!manifest.is_object() || !manifest.contains("config")) no_image("its manifest is broken");
  for (const Json& layer : list_at(manifest, "layers", kMaxLayers))
    layers_.push_back(blob_from(layer));
  read_config(blob_from(manifest["config"]));
}

OciLayout::Blob OciLayout::blob_from(const Json& descriptor) {
  Blob blob{text_at(descriptor, "digest"), text_at(descriptor, "mediaType"), -1};
  const auto size = descriptor.is_object() ? descriptor.find("size") : descriptor.end();
  if (!is_digest(blob.digest) || size == descriptor.end() || !size->is_number_integer())
    no_image("a part has no sha256 digest and size");
  blob.size = size->get<int64_t>();
  return blob;
}

Fd OciLayout::open_blob(const Blob& blob) const {
  Fd file = open_file(directory_.get(), "blobs/sha256/" + blob.digest.substr(kAlgorithm.size()));
  struct stat status {};
  check(fstat(file.get(), &status), "stat blob");
  if (status.st_size != blob.size || digest_of_file(file.get()) != blob.digest)
    throw Error(ErrorCode::invalid, "blob " + blob.digest + " is not what its digest says");
  return file;
}

Json OciLayout::read_json(const Blob& blob) const { return parsed(read_whole(open_blob(blob))); }

OciLayout::Blob OciLayout::choose_manifest(const Json& index, int depth) const {
  if (depth > kMaxIndexDepth) no_image("its indexes are nested too deeply");
  for (const Json& descriptor : list_at(index, "manifests", kMaxIndexEntries)) {
    const Blob blob = blob_from(descriptor);
    if (!fits_machine(descriptor)) continue;
    return is_index(blob.type) ? choose_manifest(read_json(blob), depth + 1) : blob;
  }
  throw Error(ErrorCode::invalid, "the image has nothing for linux/" + architecture());
}

void OciLayout::read_config(const Blob& blob) {
  const Json whole = read_json(blob);
  if (const std::string system = text_at(whole, "os"); !system.empty() && system != "linux")
    throw Error(ErrorCode::invalid, "the image is for " + system);
  if (const std::string made_for = text_at(whole, "architecture");
      !made_for.empty() && made_for != architecture())
    throw Error(ErrorCode::invalid, "the image is for " + made_for);
  const Json config = whole.is_object() ? whole.value("config", Json::object()) : Json();
  config_.user = text_at(config, "User");
  config_.workdir = text_at(config, "WorkingDir");
  for (const Json& variable : list_at(config, "Env", kMaxVariables)) {
    const std::string text = variable.is_string() ? variable.get<std::string>() : "";
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || text.find('\0') != std::string::npos)
      no_image("it has a variable without a name");
    config_.env[text.substr(0, equals)] = text.substr(equals + 1);
  }
}

Fd OciLayout::open_layer(size_t index) const { return open_blob(layers_.at(index)); }

}  // namespace sandgate
