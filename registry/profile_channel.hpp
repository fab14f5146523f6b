#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"

namespace sandgate {

inline constexpr std::string_view kStable = "stable";

// Where a reference may send part of its creates before all of them.
struct Canary {
  int64_t version = 0;
  int64_t percent = 0;  // 0..100
  bool operator==(const Canary&) const = default;
};

// Another version that a part of the creates is placed under too; its sandboxes are thrown away.
struct Shadow {
  int64_t version = 0;
  int64_t percent = 0;  // 0..100
  bool operator==(const Shadow&) const = default;
};

// A name that points at a version and moves.
struct ProfileChannel {
  int64_t version = 0;
  std::optional<Canary> canary;
  std::optional<Shadow> shadow;
  bool operator==(const ProfileChannel&) const = default;
};

Json to_json(const ProfileChannel& channel);

// "python", "python@3" or "python@beta": a name and either a version or a channel.
struct ProfileReference {
  std::string name;
  std::optional<int64_t> version;
  std::string channel;  // "stable" when none is named; empty with a version
};

// Empty when the text is not a reference.
std::optional<ProfileReference> profile_reference_from(std::string_view text);
// A channel's name begins with a letter, so that it is never taken for a version; "none" is none.
bool is_channel_name(std::string_view text);

// Which of a channel's versions a create gets. Pure: the same stickiness always gets the same one,
// and whoever had the canary at 10 % still has it at 20 %.
int64_t choose_version(const ProfileChannel& channel, std::string_view stickiness);

// The version that a create is shadowed by, if any; drawn apart from the canary's.
std::optional<int64_t> choose_shadow(const ProfileChannel& channel, std::string_view stickiness);

// What a create sticks by: metadata.session, else its idempotency key, else nothing (the caller
// then gives something random to choose_version).
std::string stickiness_of(const std::map<std::string, std::string>& metadata,
                          std::string_view idempotency_key);

}  // namespace sandgate
