#pragma once
#include <compare>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sandgate {

// Returns `kind` followed by 24 characters of [a-z0-9] from a CSPRNG.
std::string make_id(std::string_view kind);
// Whether the text has that form. Check it before an id reaches a query, a path or a vendor.
bool is_id(std::string_view kind, std::string_view text);

// A distinct type per kind, so that a tenant's id cannot be passed where a sandbox's is expected.
template <char A, char B>
struct Id {
  static constexpr char kKind[] = {A, B, '\0'};

  static Id make() { return Id{make_id(kKind)}; }
  static std::optional<Id> parse(std::string_view text) {
    if (!is_id(kKind, text)) return std::nullopt;
    return Id{std::string(text)};
  }

  std::string value;
  auto operator<=>(const Id&) const = default;
};

using SandboxId = Id<'s', 'b'>;
using SnapshotId = Id<'s', 'n'>;
using ProcessId = Id<'p', 'r'>;
using TenantId = Id<'t', 'n'>;
using KeyId = Id<'k', 'y'>;
using DecisionId = Id<'d', 'c'>;
using InvoiceId = Id<'i', 'n'>;
using RequestId = Id<'r', 'q'>;

}  // namespace sandgate

template <char A, char B>
struct std::hash<sandgate::Id<A, B>> {
  size_t operator()(const sandgate::Id<A, B>& id) const noexcept {
    return std::hash<std::string>{}(id.value);
  }
};
