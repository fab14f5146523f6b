#include "local/image/account_file.hpp"

#include "gateway/core/error.hpp"
#include "gateway/core/files.hpp"

namespace sandgate {
namespace {

constexpr uintmax_t kMaxAccountBytes = 1 << 20;

}  // namespace

std::string account_file(const std::filesystem::path& path) {
  if (std::filesystem::file_size(path) > kMaxAccountBytes)
    throw Error(ErrorCode::invalid,
                "the image's " + path.filename().string() + " file is larger than 1 MiB");
  return read_text_file(path).value_or("");
}

}  // namespace sandgate
