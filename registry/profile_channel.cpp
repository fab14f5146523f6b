#include "registry/profile_channel.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/number_text.hpp"
#include "registry/document_fields.hpp"

namespace sandgate {
namespace {

// 0..99, from 32 bits of the hash: enough for an even distribution of percents.
int64_t bucket_of(std::string_view text) {
  return static_cast<int64_t>(std::stoul(sha256_hex(text).substr(0, 8), nullptr, 16) % 100);
}

template <class T>
Json share_json(const std::optional<T>& share) {
  if (!share) return nullptr;
  return {{"version", share->version}, {"percent", share->percent}};
}

}  // namespace

Json to_json(const ProfileChannel& channel) {
  return {{"version", channel.version},
          {"canary", share_json(channel.canary)},
          {"shadow", share_json(channel.shadow)}};
}

Error no_such_version(const ProfileReference& wanted) {
  return Error(ErrorCode::not_found,
               "profile '" + wanted.name + "' has no " +
                   (wanted.version ? "version " + std::to_string(*wanted.version)
                                   : "channel '" + wanted.channel + "'"));
}

std::optional<ProfileReference> profile_reference_from(std::string_view text) {
  const size_t at = text.find('@');
  ProfileReference reference{.name = std::string(text.substr(0, at))};
  if (!is_name(reference.name)) return std::nullopt;
  if (at == std::string_view::npos) {
    reference.channel = kStable;
    return reference;
  }
  const std::string_view selector = text.substr(at + 1);
  if (is_channel_name(selector)) {
    reference.channel = selector;
    return reference;
  }
  // "01" would be a second name of version 1.
  if (selector.starts_with('0')) return std::nullopt;
  const auto version = number_from<int32_t>(selector);
  if (!version || *version < 1) return std::nullopt;
  reference.version = *version;
  return reference;
}

bool is_channel_name(std::string_view text) {
  return is_name(text) && text.front() >= 'a' && text != "none";
}

int64_t choose_version(const ProfileChannel& channel, std::string_view stickiness) {
  if (!channel.canary) return channel.version;
  return bucket_of(stickiness) < channel.canary->percent ? channel.canary->version
                                                         : channel.version;
}

std::optional<int64_t> choose_shadow(const ProfileChannel& channel, std::string_view stickiness) {
  if (!channel.shadow) return std::nullopt;
  if (bucket_of("shadow/" + std::string(stickiness)) >= channel.shadow->percent)
    return std::nullopt;
  return channel.shadow->version;
}

std::string stickiness_of(const std::map<std::string, std::string>& metadata,
                          std::string_view idempotency_key) {
  const auto session = metadata.find("session");
  return session == metadata.end() ? std::string(idempotency_key) : session->second;
}

}  // namespace sandgate
