#pragma once
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "gateway/core/error.hpp"

namespace sandgate {

// Key exchanges but those over finite fields (DHE, ffdhe): there the peer chooses how large the
// field is, and one handshake in the largest takes 0.2 to 1.2 s of processor time, during which a
// loop serves nobody else. Otherwise as OpenSSL's defaults.
inline constexpr char kShortCiphers[] = "DEFAULT:!kDHE";  // up to TLS 1.2

inline const std::string& short_groups() {
  static const std::string groups = [] {
    const std::string curves = "X25519:P-256:X448:P-521:P-384";
    const std::string hybrid = "X25519MLKEM768:" + curves;  // since OpenSSL 3.5
    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> trial(SSL_CTX_new(TLS_method()),
                                                             SSL_CTX_free);
    const bool known = trial && SSL_CTX_set1_groups_list(trial.get(), hybrid.c_str()) == 1;
    ERR_clear_error();
    return known ? hybrid : curves;
  }();
  return groups;
}

// Throws Error(internal).
inline void use_short_key_exchanges(SSL_CTX* context) {
  if (SSL_CTX_set1_groups_list(context, short_groups().c_str()) != 1 ||
      SSL_CTX_set_cipher_list(context, kShortCiphers) != 1)
    throw Error(ErrorCode::internal, "this OpenSSL lacks the usual key exchanges");
}

}  // namespace sandgate
