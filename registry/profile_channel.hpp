#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate {

inline constexpr std::string_view kStable = "stable";

// A version that gets a share of a channel's creates before all of them.
struct Canary {
  int64_t version = 0;
  int64_t percent = 0;  // 0..100
  bool operator==(const Canary&) const = default;
};

// A version that a share of the creates is also placed under; the extra sandboxes are discarded.
struct Shadow {
  int64_t version = 0;
  int64_t percent = 0;  // 0..100
  bool operator==(const Shadow&) const = default;
};

// A movable pointer to a version, such as "stable".
struct ProfileChannel {
  int64_t version = 0;
  std::optional<Canary> canary;
  std::optional<Shadow> shadow;
  bool operator==(const ProfileChannel&) const = default;
};

Json to_json(const ProfileChannel& channel);

// A parsed "python", "python@3" or "python@beta": a name and either a version or a channel.
struct ProfileReference {
  std::string name;
  std::optional<int64_t> version;
  std::string channel;  // "stable" when none is named; empty with a version
};

// Returns Error(not_found) for a profile without that version or channel.
Error no_such_version(const ProfileReference& wanted);

// Empty when the text is not a reference.
std::optional<ProfileReference> profile_reference_from(std::string_view text);
// A channel's name begins with a letter, so that it cannot be a version number, and is not "none".
bool is_channel_name(std::string_view text);

// The version of a channel for a create. Pure: equal stickiness gives the same version, and whoever
// has the canary at 10 % keeps it at 20 %.
int64_t choose_version(const ProfileChannel& channel, std::string_view stickiness);

// The shadow version for a create, if any; chosen independently of the canary.
std::optional<int64_t> choose_shadow(const ProfileChannel& channel, std::string_view stickiness);

// The stickiness of a create: metadata.session, else its idempotency key, else "" (the caller then
// passes random text to choose_version).
std::string stickiness_of(const std::map<std::string, std::string>& metadata,
                          std::string_view idempotency_key);

}  // namespace sandgate
