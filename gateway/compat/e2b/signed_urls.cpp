#include "gateway/compat/e2b/signed_urls.hpp"

#include <algorithm>

#include "gateway/compat/e2b/sandbox_address.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/number_text.hpp"
#include "gateway/http/problem.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr std::string_view kFiles = "/files", kSignature = "signature";

Error refused_signature(const char* message) { return Error(ErrorCode::unauthenticated, message); }

bool is_over(const std::string& expiration, Time now) {
  const auto seconds = number_from<int64_t>(expiration);
  if (!seconds) throw refused_signature("the signature's expiration is no time");
  return *seconds < to_micros(now) / 1'000'000;
}

SignedFile signed_file_from(const http::Request& request) {
  SignedFile file;
  file.path = request.query.find("path").value_or("");
  file.user = request.query.find("username").value_or("");
  file.writes = request.method == http::Method::post;
  file.expiration = request.query.find("signature_expiration").value_or("");
  return file;
}

// Even if the signature is wrong or sent twice, so that scripts can read why it is refused.
bool is_signed(const http::Request& request) {
  const auto is_it = [](const auto& item) { return item.first == kSignature; };
  return request.path == kFiles && std::ranges::any_of(request.query.items(), is_it);
}

bool is_preflight(const http::Request& request) {
  return request.method == http::Method::options &&
         request.headers.find("Access-Control-Request-Method");
}

// Lets scripts of any page read the answer. Browsers add nothing to such a request that the script
// does not have: what opens the file is in the address.
http::Response open_to_pages(http::Response response) {
  response.headers.emplace_back("Access-Control-Allow-Origin", "*");
  return response;
}

http::Response preflight_answer() {
  http::Response response = open_to_pages(http::Response::empty(204));
  response.headers.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST");
  response.headers.emplace_back("Access-Control-Allow-Headers", "*");
  response.headers.emplace_back("Access-Control-Max-Age", "7200");
  return response;
}

}  // namespace

Task<void> SignedUrls::take_signature(http::Request& request) {
  const auto signature = request.query.find(kSignature);
  if (request.path != kFiles || !signature) co_return;
  const SignedFile file = signed_file_from(request);
  if (!is_well_formed(file, *signature)) throw refused_signature("the signature is not valid");
  const auto address = sandbox_address(request, domain_);
  std::optional<SandboxId> sandbox;
  if (address) {
    const std::string right = signature_of(file, tokens_.token_of(address->sandbox));
    if (equal_in_constant_time(right, *signature)) sandbox = address->sandbox;
  } else {
    auto searching = live_.find(file, *signature, request.remote_address);
    sandbox = co_await std::move(searching);
  }
  if (!sandbox) throw refused_signature("the signature is not valid");
  if (!file.expiration.empty() && is_over(file.expiration, clock_.now()))
    throw refused_signature("signature is already expired");
  if (!address) request.headers.add(std::string(kSandboxHeader), sandbox->value);
  request.headers.add(std::string(kTokenHeader), tokens_.token_of(*sandbox));
}

Task<void> SignedUrls::take_token(http::Request& request) {
  if (request.headers.find(kSandboxHeader) || address_by_host(request, domain_)) co_return;
  auto finding = live_.find(std::string(*request.headers.find(kTokenHeader)));
  const auto sandbox = co_await std::move(finding);
  if (sandbox) request.headers.add(std::string(kSandboxHeader), sandbox->value);
}

Task<http::Response> SignedUrls::respond(http::Request& request, http::IncomingBody& body) {
  if (!is_signed(request)) return answer(request, body);
  return answer_page(request, body);
}

Task<http::Response> SignedUrls::answer_page(http::Request& request, http::IncomingBody& body) {
  if (is_preflight(request)) co_return preflight_answer();
  co_return open_to_pages(co_await answer(request, body));
}

Task<http::Response> SignedUrls::answer(http::Request& request, http::IncomingBody& body) {
  const bool tokened = request.headers.find(kTokenHeader).has_value();
  auto taking = tokened ? take_token(request) : take_signature(request);
  const auto taken = co_await attempt(std::move(taking));
  if (const auto* error = std::get_if<Error>(&taken)) co_return http::problem(*error, request.id);
  co_return co_await data_.respond(request, body);
}

}  // namespace sandgate::compat::e2b
