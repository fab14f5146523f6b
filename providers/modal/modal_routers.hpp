#pragma once
#include <memory>
#include <string>

#include "providers/modal/modal_account.hpp"
#include "providers/sandbox_data_cache.hpp"

namespace sandgate {

// Clients of the command routers of Modal's running sandboxes. Each sandbox has a server and token
// of its own, which the control plane tells. Calls throw Error(not_found) for a sandbox that has
// ended, if the vendor says so.
class ModalRouters {
 public:
  ModalRouters(HttpClient& http, ModalAccount& account, const ModalSettings& settings);

  // Stores the access that a create returned.
  void remember(const std::string& sandbox, modal::Access access);
  void forget(const std::string& sandbox);
  // Returns the id of the sandbox's task, which is part of every message to its router.
  Task<std::string> task(std::string sandbox);

  Task<std::string> call(std::string sandbox, std::string method, std::string message,
                         std::chrono::milliseconds deadline = std::chrono::seconds(30));
  Task<std::unique_ptr<grpc::MessageStream>> stream(std::string sandbox, std::string method,
                                                    std::string message,
                                                    std::chrono::seconds silence);

 private:
  Task<modal::Access> access(std::string sandbox);
  grpc::Channel channel_of(const modal::Access& access) const;
  // Whether the router refused the token; forgets the token, so that a repeat requests a new one.
  bool is_worth_repeating(const std::string& sandbox, const Error& error);

  HttpClient& http_;
  ModalAccount& account_;
  const bool without_tls_, allow_private_;
  SandboxDataCache<modal::Access> known_;
};

}  // namespace sandgate
