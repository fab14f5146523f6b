#include "gateway/compat/e2b/account.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/field_text.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr std::string_view kOwnAccount = "user", kBasic = "Basic ";
constexpr size_t kLongestPath = 4095;  // Linux's PATH_MAX without the NUL

std::string basic_account(std::string_view header) {
  const auto text = starts_with_ignoring_case(header, kBasic)
                        ? base64_decode(trimmed(header.substr(kBasic.size())))
                        : std::optional<std::string>();
  if (!text || !text->ends_with(':') || text->find(':') + 1 != text->size())
    throw Error(ErrorCode::unauthenticated, "an account is named as Basic, without a password");
  return text->substr(0, text->size() - 1);
}

}  // namespace

std::string account_of(const http::Request& request) {
  std::string account = request.query.find("username").value_or("");
  const auto header = request.headers.find("Authorization");
  if (account.empty() && header) account = basic_account(*header);
  return account == kOwnAccount ? "" : account;
}

void check_own_account(const http::Request& request) {
  if (!account_of(request).empty())
    throw Error(ErrorCode::forbidden, "files are those of the sandbox's own account, 'user'");
}

std::string path_from(std::string_view text, std::string field) {
  if (text.size() > kLongestPath || text.find('\0') != std::string_view::npos)
    throw Error::invalid(std::move(field), "must have at most 4095 bytes and no NUL");
  if (text.starts_with("~/")) text.remove_prefix(2);
  if (text.empty() || text == "~") return ".";
  return std::string(text);
}

}  // namespace sandgate::compat::e2b
