#include "providers/modal/modal_routers.hpp"

#include "providers/vendor_json.hpp"

namespace sandgate {
namespace {

grpc::Call router_call(const modal::Access& access, std::string_view method, std::string message) {
  return {.path = "/modal.task_command_router.TaskCommandRouter/" + std::string(method),
          .message = std::move(message),
          .metadata = {{"authorization", "Bearer " + access.token.reveal()}}};
}

}  // namespace

ModalRouters::ModalRouters(HttpClient& http, ModalAccount& account, const ModalSettings& settings)
    : http_(http),
      account_(account),
      without_tls_(settings.api_url.starts_with("http:")),
      allow_private_(settings.allow_private) {}

void ModalRouters::remember(const std::string& sandbox, modal::Access access) {
  known_.remember(sandbox, std::move(access));
}

void ModalRouters::forget(const std::string& sandbox) { known_.forget(sandbox); }

Task<modal::Access> ModalRouters::access(std::string sandbox) {
  if (auto known = known_.find(sandbox)) co_return std::move(*known);
  const std::string first = co_await account_.call("SandboxGetTaskIdV2", modal::to_id(sandbox));
  const auto task = modal::from_task(first);
  if (!task) throw Error::not_found("sandbox", sandbox);
  const std::string second =
      co_await account_.call("SandboxGetCommandRouterAccess", modal::to_id(sandbox));
  const modal::Access access = modal::from_access(second, *task);
  remember(sandbox, access);
  co_return access;
}

Task<std::string> ModalRouters::task(std::string sandbox) {
  const modal::Access found = co_await access(std::move(sandbox));
  co_return found.task;
}

grpc::Channel ModalRouters::channel_of(const modal::Access& access) const {
  std::string url = access.url;
  if (!url.starts_with("https://")) throw unexpected_answer("modal");
  // As in the vendor's clients: without TLS on the control plane, the routers have none either.
  if (without_tls_) url.erase(4, 1);
  while (url.ends_with('/')) url.pop_back();
  grpc::Target target{
      .provider = "modal", .base_url = std::move(url), .allow_private = allow_private_};
  return grpc::Channel(http_, std::move(target), &modal::read_status);
}

bool ModalRouters::is_worth_repeating(const std::string& sandbox, const Error& error) {
  if (!are_credentials_refused(error)) return false;
  forget(sandbox);
  return true;
}

Task<std::string> ModalRouters::call(std::string sandbox, std::string method, std::string message,
                                     std::chrono::milliseconds deadline) {
  for (bool again = false;; again = true) {
    const modal::Access now = co_await access(sandbox);
    grpc::Channel channel = channel_of(now);
    grpc::Call call = router_call(now, method, message);
    call.deadline = deadline;
    auto outcome = co_await attempt(channel.call(std::move(call)));
    const auto* error = std::get_if<Error>(&outcome);
    if (!error) co_return std::move(std::get<std::string>(outcome));
    if (!is_worth_repeating(sandbox, *error) || again) throw *error;
  }
}

Task<std::unique_ptr<grpc::MessageStream>> ModalRouters::stream(std::string sandbox,
                                                                std::string method,
                                                                std::string message,
                                                                std::chrono::seconds silence) {
  for (bool again = false;; again = true) {
    const modal::Access now = co_await access(sandbox);
    grpc::Channel channel = channel_of(now);
    grpc::Call call = router_call(now, method, message);
    // A server may send headers only with the first message, possibly hours later.
    call.deadline = std::chrono::milliseconds(0);
    call.silence = silence;
    auto outcome = co_await attempt(channel.stream(std::move(call)));
    const auto* error = std::get_if<Error>(&outcome);
    if (!error) co_return std::move(std::get<0>(outcome));
    if (!is_worth_repeating(sandbox, *error) || again) throw *error;
  }
}

}  // namespace sandgate
