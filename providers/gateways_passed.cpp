#include "providers/gateways_passed.hpp"

#include <algorithm>

#include "gateway/core/error.hpp"

namespace sandgate {
namespace {

constexpr size_t kMostPassed = 8, kLongestInstallation = 64;
constexpr std::string_view kComma = ", ";

bool is_installation(std::string_view text) {
  const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kLongestInstallation && std::ranges::all_of(text, is_part);
}

}  // namespace

std::string via_of(const GatewaysPassed& passed) {
  std::string text;
  for (const std::string& one : passed) text += (text.empty() ? "" : kComma.data()) + one;
  return text;
}

GatewaysPassed passed_from(std::string_view header) {
  GatewaysPassed passed;
  for (;;) {
    const size_t comma = header.find(kComma);
    const std::string_view one = header.substr(0, comma);
    if (!is_installation(one))
      throw Error::invalid(kViaHeader, "must be ids of gateways, separated by \", \"");
    passed.emplace_back(one);
    if (comma == std::string_view::npos) return passed;
    header.remove_prefix(comma + kComma.size());
  }
}

void check_goes_on(const GatewaysPassed& passed, std::string_view installation) {
  if (std::ranges::find(passed, installation) != passed.end())
    throw Error(
        ErrorCode::unsupported,
        "this create has been here before: one of the deployments leads back to this gateway");
  if (passed.size() >= kMostPassed)
    throw Error(ErrorCode::unsupported, "this create came through " + std::to_string(kMostPassed) +
                                            " gateways, which is the most");
}

}  // namespace sandgate
