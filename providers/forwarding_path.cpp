#include "providers/forwarding_path.hpp"

#include <algorithm>

#include <boost/algorithm/string/join.hpp>

#include "gateway/core/error.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxPassed = 8, kLongestInstallation = 64;
constexpr std::string_view kComma = ", ";

bool is_installation(std::string_view text) {
  const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kLongestInstallation && std::ranges::all_of(text, is_part);
}

}  // namespace

std::string via_of(const ForwardingPath& path) { return boost::algorithm::join(path, kComma); }

ForwardingPath forwarding_path_from(std::string_view header) {
  ForwardingPath path;
  for (;;) {
    const size_t comma = header.find(kComma);
    const std::string_view one = header.substr(0, comma);
    if (!is_installation(one))
      throw Error::invalid(std::string("/") + kViaHeader,
                           "must be ids of gateways, separated by \", \"");
    path.emplace_back(one);
    if (comma == std::string_view::npos) return path;
    header.remove_prefix(comma + kComma.size());
  }
}

void check_can_forward(const ForwardingPath& path, std::string_view installation) {
  if (std::ranges::find(path, installation) != path.end())
    throw Error(
        ErrorCode::unsupported,
        "this create has been here before: one of the deployments leads back to this gateway");
  if (path.size() >= kMaxPassed)
    throw Error(ErrorCode::unsupported, "this create came through " + std::to_string(kMaxPassed) +
                                            " gateways, which is the most");
}

}  // namespace sandgate
