#include "registry/redact_url.hpp"

#include <algorithm>

namespace sandgate {
namespace {

constexpr std::string_view kHidden = "***", kSchemeEnd = "://";

}  // namespace

std::string redact_url(std::string_view url) {
  const size_t scheme = url.find(kSchemeEnd);
  const size_t begin = scheme == std::string_view::npos ? 0 : scheme + kSchemeEnd.size();
  const size_t slash = std::min(url.find_first_of("/?#", begin), url.size());
  const std::string_view authority = url.substr(begin, slash - begin);
  const size_t at = authority.rfind('@');
  std::string shown(url.substr(0, begin));
  shown += at == std::string_view::npos ? authority : std::string(kHidden).append(authority, at);
  const size_t query = std::min(url.find_first_of("?#", slash), url.size());
  shown += url.substr(slash, query - slash);
  if (query < url.size()) (shown += url[query]) += kHidden;
  return shown;
}

}  // namespace sandgate
