#pragma once
#include <string>
#include <string_view>

namespace sandgate::vercel {

// One file as a gzipped tar, as the vendor takes files. Nothing is compressed. `name`: ASCII, at
// most 100 bytes.
std::string to_archive(std::string_view name, std::string_view bytes);

}  // namespace sandgate::vercel
