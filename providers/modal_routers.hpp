#pragma once
#include <memory>
#include <string>

#include "providers/known_sandboxes.hpp"
#include "providers/modal_account.hpp"

namespace sandgate {

// The command routers of Modal's running sandboxes: each has a server and a token of its own, which
// the control plane tells. Every call throws Error(not_found) for a sandbox that has ended, as far
// as the vendor says so.
class ModalRouters {
 public:
  ModalRouters(HttpClient& http, ModalAccount& account, const ModalSettings& settings);

  // What a create told.
  void remember(const std::string& sandbox, modal::Access access);
  void forget(const std::string& sandbox);
  // The name of the sandbox's task, which messages to its router begin with.
  Task<std::string> task(std::string sandbox);

  Task<std::string> call(std::string sandbox, std::string method, std::string message,
                         std::chrono::milliseconds deadline = std::chrono::seconds(30));
  Task<std::unique_ptr<grpc::MessageStream>> stream(std::string sandbox, std::string method,
                                                    std::string message,
                                                    std::chrono::seconds silence);

 private:
  Task<modal::Access> access(std::string sandbox);
  grpc::Channel channel_of(const modal::Access& access) const;
  // Whether the error is about a token, which another one was asked for after.
  bool is_worth_repeating(const std::string& sandbox, const Error& error);

  HttpClient& http_;
  ModalAccount& account_;
  const bool without_tls_, allow_private_;
  KnownSandboxes<modal::Access> known_;
};

}  // namespace sandgate
