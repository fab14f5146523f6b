#pragma once
#include <openssl/evp.h>

#include <memory>
#include <string>
#include <string_view>

#include "gateway/core/crypto.hpp"

namespace sandgate {

// The digest of bytes that come in pieces.
class Sha256 {
 public:
  Sha256() { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }

  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string hex() {  // once, at the end
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &size);
    return to_hex({reinterpret_cast<char*>(digest), size});
  }

 private:
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(),
                                                                         EVP_MD_CTX_free};
};

}  // namespace sandgate
