#include "local/secret_trust.hpp"

namespace sandgate {
namespace {

constexpr const char* kBundle = "/tmp/.sandgate/authorities.pem";
constexpr const char* kImageBundle = "/etc/ssl/certs/ca-certificates.crt";
constexpr size_t kMaxBundle = 4 << 20;
constexpr uint32_t kBundleMode = 0444;

Task<std::string> read_bundle(AgentClient agent) {
  auto opening = agent.read_file(kImageBundle, {});
  FileContent file = co_await std::move(opening);
  std::string text;
  std::array<char, 16384> buffer;
  for (;;) {
    auto reading = file.bytes->read(buffer);
    const size_t got = co_await std::move(reading);
    if (got == 0) break;
    text.append(buffer.data(), got);
    if (text.size() > kMaxBundle) throw Error(ErrorCode::too_large, "too many authorities");
  }
  co_return text;
}

}  // namespace

void add_authority_variables(std::map<std::string, std::string>& env) {
  for (const char* name : {"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
                           "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"})
    env.try_emplace(name, kBundle);
}

Task<void> install_authority(AgentClient agent, std::string certificate) {
  auto reading = read_bundle(agent);
  auto outcome = co_await attempt(std::move(reading));
  const auto* failure = std::get_if<Error>(&outcome);
  // Somebody may be replacing the bundle at this moment.
  if (failure && failure->code == ErrorCode::unavailable) throw *failure;
  // An image without a bundle trusts no other authority, and that stays so.
  std::string text = outcome.index() == 0 ? std::get<0>(std::move(outcome)) : std::string();
  TextBytes source(text + "\n" + certificate);
  auto writing = agent.write_file(kBundle, kBundleMode, source);
  co_await std::move(writing);
}

}  // namespace sandgate
