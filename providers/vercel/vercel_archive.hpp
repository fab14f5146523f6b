#pragma once
#include <string>
#include <string_view>

namespace sandgate::vercel {

// Returns one file as a gzipped tar, the upload format of the vendor, without compression. `name`
// is ASCII of at most 100 bytes.
std::string to_archive(std::string_view name, std::string_view bytes);

}  // namespace sandgate::vercel
