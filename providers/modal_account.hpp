#pragma once
#include <chrono>
#include <mutex>
#include <string>

#include "gateway/core/secret.hpp"
#include "providers/descriptor.hpp"
#include "providers/grpc_call.hpp"
#include "providers/modal_wire.hpp"

namespace sandgate {

struct ModalSettings {
  std::string api_url = "https://api.modal.com";
  std::string app = "sandgate";
  std::string environment;  // empty: the account's own default
  modal::CreateRules rules;
  DescriptorLimits limits;
  bool process_limit = false, disk_limit = false;  // the operator's word for it
  Secret token_id, token_secret;
  bool allow_private = false;  // an operator's deployment
};

// Modal's control plane with the keys of one account.
class ModalAccount {
 public:
  ModalAccount(HttpClient& http, const ModalSettings& settings);

  // One call of the control plane. `repeat`: by which the vendor knows it again.
  Task<std::string> call(std::string method, std::string message,
                         std::chrono::milliseconds deadline = std::chrono::seconds(10),
                         std::string repeat = "");
  // The app that all sandboxes belong to; made when it is not there.
  Task<std::string> app();
  // The image of a reference of a registry, built when it is not there; ids of images are answered
  // as they are.
  Task<std::string> image(std::string reference);
  const std::string& environment() const { return environment_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Kept {
    std::string value;
    Clock::time_point until;
  };
  HttpFields fields_of_keys() const;
  Task<std::string> token();
  Task<std::string> builder();
  Task<void> wait_for_build(std::string image);
  std::string kept(const Kept& what);
  void keep(Kept& what, std::string value, std::chrono::seconds time);

  grpc::Channel channel_;
  const Secret token_id_, token_secret_;
  const std::string app_name_, environment_;
  std::mutex mutex_;
  Kept token_, app_, builder_;
};

}  // namespace sandgate
