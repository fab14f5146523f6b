#include "gateway/app/master_key.hpp"

#include <algorithm>
#include <fstream>

#include "gateway/core/crypto.hpp"

namespace sandgate {
namespace {

constexpr const char* kUnknown = "unknown";
constexpr size_t kFingerprintDigits = 32;

// Values that outlive their request, each with its context. A few of each table: gateways with
// different keys may have shared the database, and then any of them fits some.
constexpr const char* kSealedValues =
    "(SELECT 'deployment/' || coalesce(tenant, 'operator') || '/' || name, credentials"
    " FROM deployment ORDER BY updated_at DESC LIMIT 50) UNION ALL "
    "(SELECT 'secret/' || tenant || '/' || name, value"
    " FROM secret ORDER BY updated_at DESC LIMIT 50) UNION ALL "
    "(SELECT 'webhook/' || coalesce(nullif(tenant, ''), 'operator') || '/' || name, secret"
    " FROM webhook ORDER BY updated_at DESC LIMIT 50) UNION ALL "
    "(SELECT 'export/' || name, secrets FROM export ORDER BY updated_at DESC LIMIT 50)";

Error sealed_with_another(const std::string& known) {
  return Error(ErrorCode::conflict,
               "the database was sealed with another master key: copy the master.key of the "
               "gateway that used it into this home, or set master_key; if it is lost, "
               "master_key_lost=" +
                   known + " gives up the credentials and secrets sealed with it");
}

bool opens(const Cipher& cipher, const pqxx::row& row) {
  try {
    cipher.open(pqxx::binarystring(row[1]).str(), row[0].as<std::string>());
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Also true if nothing is sealed.
bool fits_what_is_sealed(pqxx::work& tx, const Secret& key) {
  const Cipher cipher(key);
  const auto rows = tx.exec(kSealedValues);
  return rows.empty() ||
         std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return opens(cipher, row); });
}

}  // namespace

Secret master_key(const Config& config) {
  std::string hex = config.master_key.reveal();
  if (hex.empty()) {
    std::ifstream file(config.master_key_file());
    if (!file)
      throw Error(ErrorCode::invalid, "the master key cannot be read: check that " +
                                          config.master_key_file() +
                                          " is there and belongs to the gateway's account");
    file >> hex;
  }
  const auto bytes = from_hex(hex);
  if (!bytes || bytes->size() != 32)
    throw Error(ErrorCode::invalid, "the master key must be 64 hex digits: check " +
                                        config.master_key_file() + " or SANDGATE_MASTER_KEY");
  return Secret(*bytes);
}

std::string fingerprint(const Secret& key) {
  return hmac_sha256_hex(key, "fingerprint of the master key").substr(0, kFingerprintDigits);
}

std::optional<std::string> known_fingerprint(pqxx::work& tx) {
  if (tx.exec1("SELECT to_regclass('installation')")[0].is_null()) return std::nullopt;
  // By way of JSON, so that a database of an earlier version has none.
  const auto rows = tx.exec("SELECT to_jsonb(i) ->> 'master_key' FROM installation i");
  if (rows.empty() || rows[0][0].is_null()) return std::nullopt;
  const auto known = rows[0][0].as<std::string>();
  return known == kUnknown ? std::nullopt : std::optional(known);
}

KeyClaim claim_database(pqxx::work& tx, const Secret& key, const std::string& lost) {
  // The lock makes gateways that start together agree on one key.
  const auto known =
      tx.exec1("SELECT master_key FROM installation FOR UPDATE")[0].as<std::string>();
  const std::string own = fingerprint(key);
  if (known == own) return KeyClaim::ours;
  const bool fits = fits_what_is_sealed(tx, key);
  if (fits && known != kUnknown && known != lost) return KeyClaim::anothers;
  if (!fits && known != lost) throw sealed_with_another(known);
  tx.exec_params("UPDATE installation SET master_key = $1", own);
  return known == kUnknown && fits ? KeyClaim::ours : KeyClaim::given_up;
}

void check_key_is_wanted(const Config& config) {
  if (config.database.url.empty()) return;
  std::optional<std::string> sealed_with;
  try {
    asio::io_context loop;
    Database database({.url = config.database.url, .connections = 1});
    auto ask = [](pqxx::work& tx) {
      const auto known = known_fingerprint(tx);
      return known && !tx.exec(kSealedValues).empty() ? known : std::nullopt;
    };
    auto asking = asio::co_spawn(loop, database.run(std::move(ask)), asio::use_future);
    loop.run();
    sealed_with = asking.get();
  } catch (const Error&) {
    return;
  }
  if (sealed_with) throw sealed_with_another(*sealed_with);
}

}  // namespace sandgate
