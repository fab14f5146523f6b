#include "providers/transport/aws_signature.hpp"

#include <map>

#include <boost/url/parse.hpp>

#include "gateway/core/crypto.hpp"
#include "gateway/core/error.hpp"
#include "providers/transport/rest_api.hpp"

namespace sandgate::aws {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string hmac(const std::string& key, std::string_view message) {
  return from_hex(hmac_sha256_hex(Secret(key), message)).value_or("");
}

std::string moment_of(std::time_t now) {
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[20];
  return {text, std::strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &utc)};
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string encoded_again(std::string_view path) {
  std::string encoded;
  for (const char c : path) encoded += c == '/' ? "/" : percent_encode({&c, 1});
  return encoded.empty() ? "/" : encoded;
}

// The value that the Host header has.
std::string host_of(const boost::urls::url_view& url) {
  std::string host(url.encoded_host());
  const std::string port(url.port());
  const bool is_usual = port.empty() || port == (url.scheme() == "https" ? "443" : "80");
  return is_usual ? host : host + ":" + port;
}

}  // namespace

HttpFields signature_of(const AwsSigner& signer, const HttpCall& call, std::time_t now) {
  const auto url = boost::urls::parse_uri(call.url);
  if (!url) throw Error(ErrorCode::internal, "a call to sign has no URL");
  const std::string moment = moment_of(now), day = moment.substr(0, 8);
  std::map<std::string, std::string> fields{{"host", host_of(*url)}, {"x-amz-date", moment}};
  for (const auto& [name, value] : call.headers) fields.emplace(lower(name), value);

  std::string canonical = call.method + "\n" + encoded_again(std::string(url->encoded_path())) +
                          "\n" + std::string(url->encoded_query()) + "\n";
  std::string names;
  for (const auto& [name, value] : fields) {
    canonical += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  canonical += "\n" + names + "\n" + sha256_hex(call.body);

  const std::string scope = day + "/" + signer.region + "/" + signer.service + "/aws4_request";
  std::string key = "AWS4" + signer.key.reveal();
  for (const std::string& part : {day, signer.region, signer.service, std::string("aws4_request")})
    key = hmac(key, part);
  const std::string algorithm(kAlgorithm);
  const std::string text = algorithm + "\n" + moment + "\n" + scope + "\n" + sha256_hex(canonical);
  return {{"X-Amz-Date", moment},
          {"Authorization", algorithm + " Credential=" + signer.key_id.reveal() + "/" + scope +
                                ", SignedHeaders=" + names +
                                ", Signature=" + hmac_sha256_hex(Secret(key), text)}};
}

}  // namespace sandgate::aws
