#pragma once
#include <chrono>
#include <mutex>
#include <string>

#include "gateway/core/secret.hpp"
#include "providers/descriptor.hpp"
#include "providers/modal/modal_wire.hpp"
#include "providers/transport/grpc_call.hpp"

namespace sandgate {

struct ModalSettings {
  std::string api_url = "https://api.modal.com";
  std::string app = "sandgate";
  std::string environment;  // empty: the account's default
  modal::CreateRules rules;
  DescriptorLimits limits;
  bool process_limit = false, disk_limit = false;  // enforced, as the operator states
  Secret token_id, token_secret;
  bool allow_private = false;  // set for the operator's deployments
};

// A client of Modal's control plane with one account's keys. Caches tokens and ids. Thread-safe.
class ModalAccount {
 public:
  ModalAccount(HttpClient& http, const ModalSettings& settings);

  // Calls the control plane. `repeat` is the idempotency key, or empty.
  Task<std::string> call(std::string method, std::string message,
                         std::chrono::milliseconds deadline = std::chrono::seconds(10),
                         std::string repeat = "");
  // Returns the id of the app that all sandboxes belong to; creates the app if necessary.
  Task<std::string> app();
  // Returns the image id for a registry reference, building the image if necessary. An image id is
  // returned as it is.
  Task<std::string> image(std::string reference);
  const std::string& environment() const { return environment_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Cached {
    std::string value;
    Clock::time_point until;
  };
  HttpFields fields_of_keys() const;
  Task<std::string> token();
  Task<std::string> builder();
  Task<void> wait_for_build(std::string image);
  std::string cached(const Cached& what);
  void cache(Cached& what, std::string value, std::chrono::seconds time);

  grpc::Channel channel_;
  const Secret token_id_, token_secret_;
  const std::string app_name_, environment_;
  std::mutex mutex_;
  Cached token_, app_, builder_;
};

}  // namespace sandgate
