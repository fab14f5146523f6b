#include "gateway/core/crypto.hpp"

#include <memory>
#include <optional>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "gateway/core/error.hpp"
#include "gateway/core/random.hpp"

namespace sandgate {
namespace {

constexpr size_t kKeyBytes = 32, kNonceBytes = 12, kTagBytes = 16;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

using DigestContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

CipherContext cipher_context() { return {EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free}; }

// Looked up once: SHA256() searches OpenSSL's providers on every call.
const EVP_MD* sha256() {
  static const EVP_MD* const digest = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return digest;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string uuid_bytes(std::string_view text) {
  std::string bytes;
  int high = -1;
  for (char c : text) {
    if (c == '-') continue;
    const int digit = hex_digit(c);
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<char>(high * 16 + digit));
      high = -1;
    }
  }
  return bytes;
}

}  // namespace

std::string to_hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(bytes.size() * 2, '\0');
  auto digit = text.begin();
  for (const unsigned char byte : bytes) {
    *digit++ = kDigits[byte >> 4];
    *digit++ = kDigits[byte & 15];
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

std::string sha256_hex(std::string_view bytes) {
  // Kept, since making one costs as much as a short digest.
  thread_local const DigestContext context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  char digest[SHA256_DIGEST_LENGTH];
  if (EVP_DigestInit_ex(context.get(), sha256(), nullptr) != 1 ||
      EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(digest), nullptr) != 1)
    throw Error(ErrorCode::internal, "OpenSSL offers no SHA-256");
  return to_hex({digest, sizeof digest});
}

std::string hmac_sha256_hex(const Secret& key, std::string_view message) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  HMAC(EVP_sha256(), key.reveal().data(), static_cast<int>(key.reveal().size()), bytes_of(message),
       message.size(), bytes_of(digest), nullptr);
  return to_hex(digest);
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string base64_encode(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3), '\0');
  EVP_EncodeBlock(bytes_of(text), bytes_of(bytes), static_cast<int>(bytes.size()));
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.empty()) return std::string();
  const bool padded = text.size() % 4 == 0;
  const size_t content = text.find_last_not_of('=') + 1;
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (!padded || text.size() - content > 2 ||
      text.substr(0, content).find_first_not_of(kAlphabet) != std::string_view::npos)
    return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(bytes_of(bytes), bytes_of(text), static_cast<int>(text.size())) < 0)
    return std::nullopt;
  bytes.resize(bytes.size() - (text.size() - content));
  return bytes;
}

std::string uuid_v5(std::string_view uuid_namespace, std::string_view name) {
  const std::string input = uuid_bytes(uuid_namespace).append(name);
  std::string digest(SHA_DIGEST_LENGTH, '\0');
  SHA1(bytes_of(input), input.size(), bytes_of(digest));
  digest.resize(16);
  digest[6] = static_cast<char>((digest[6] & 0x0f) | 0x50);
  digest[8] = static_cast<char>((digest[8] & 0x3f) | 0x80);
  const std::string hex = to_hex(digest);
  std::string text;
  for (size_t i = 0; i < hex.size(); ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) text.push_back('-');
    text.push_back(hex[i]);
  }
  return text;
}

Cipher::Cipher(Secret key) : key_(std::move(key)) {
  if (key_.reveal().size() != kKeyBytes)
    throw Error(ErrorCode::invalid, "the master key must be 32 bytes");
}

std::string Cipher::seal(const Secret& value, std::string_view context) const {
  std::string nonce(kNonceBytes, '\0');
  random_fill({bytes_of(nonce), nonce.size()});
  std::string sealed(value.reveal().size(), '\0'), tag(kTagBytes, '\0');
  const auto cipher = cipher_context();
  int length = 0;
  const bool ok =
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key_.reveal()),
                         bytes_of(nonce)) == 1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &length, bytes_of(context),
                        static_cast<int>(context.size())) == 1 &&
      EVP_EncryptUpdate(cipher.get(), bytes_of(sealed), &length, bytes_of(value.reveal()),
                        static_cast<int>(value.reveal().size())) == 1 &&
      EVP_EncryptFinal_ex(cipher.get(), bytes_of(sealed) + length, &length) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) == 1;
  if (!ok) throw Error(ErrorCode::internal, "sealing a value failed");
  return nonce + tag + sealed;
}

Secret Cipher::open(std::string_view sealed, std::string_view context) const {
  if (sealed.size() < kNonceBytes + kTagBytes)
    throw Error(ErrorCode::internal, "a sealed value is too short");
  const std::string_view nonce = sealed.substr(0, kNonceBytes);
  std::string tag(sealed.substr(kNonceBytes, kTagBytes));
  const std::string_view body = sealed.substr(kNonceBytes + kTagBytes);
  std::string value(body.size(), '\0');
  const auto cipher = cipher_context();
  int length = 0;
  const bool ok =
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key_.reveal()),
                         bytes_of(nonce)) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &length, bytes_of(context),
                        static_cast<int>(context.size())) == 1 &&
      EVP_DecryptUpdate(cipher.get(), bytes_of(value), &length, bytes_of(body),
                        static_cast<int>(body.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(cipher.get(), bytes_of(value) + length, &length) == 1;
  if (!ok) throw Error(ErrorCode::internal, "a sealed value does not open with this master key");
  return Secret(std::move(value));
}

}  // namespace sandgate
