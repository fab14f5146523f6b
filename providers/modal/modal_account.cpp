#include "providers/modal/modal_account.hpp"

#include "providers/backoff.hpp"

namespace sandgate {
namespace {

constexpr std::string_view kService = "/modal.client.ModalClient/";
// The assumed life of a token that states no expiry, and the time that ids are cached. Half of a
// token's life is used, because the vendor's clock may differ.
constexpr auto kTokenLife = std::chrono::seconds(1200);
constexpr auto kKept = std::chrono::seconds(600);
constexpr auto kBuildSilence = std::chrono::seconds(90);

grpc::Target target_of_modal(const ModalSettings& settings) {
  return {
      .provider = "modal", .base_url = settings.api_url, .allow_private = settings.allow_private};
}

std::chrono::seconds half_life_of(std::string_view token) {
  const auto end = modal::expiry_of(token);
  if (!end) return kTokenLife / 2;
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const int64_t left = std::clamp<int64_t>(*end, 0, now.count() + 86'400) - now.count();
  return std::chrono::seconds(std::max<int64_t>(0, left / 2));
}

Error no_build() { return Error(ErrorCode::no_capacity, "modal could not build the image"); }

}  // namespace

ModalAccount::ModalAccount(HttpClient& http, const ModalSettings& settings)
    : channel_(http, target_of_modal(settings), &modal::read_status),
      token_id_(settings.token_id),
      token_secret_(settings.token_secret),
      app_name_(settings.app),
      environment_(settings.environment) {}

std::string ModalAccount::cached(const Cached& what) {
  std::lock_guard lock(mutex_);
  return Clock::now() < what.until ? what.value : "";
}

void ModalAccount::cache(Cached& what, std::string value, std::chrono::seconds time) {
  std::lock_guard lock(mutex_);
  what = {std::move(value), Clock::now() + time};
}

HttpFields ModalAccount::fields_of_keys() const {
  // The client type is a number assigned by the vendor; the version is that of the protocol.
  return {{"x-modal-client-type", "8"},
          {"x-modal-client-version", "1.0.0"},
          {"x-modal-token-id", token_id_.reveal()},
          {"x-modal-token-secret", token_secret_.reveal()}};
}

Task<std::string> ModalAccount::token() {
  const std::string known = cached(token_);
  if (!known.empty()) co_return known;
  grpc::Call call{.path = std::string(kService) + "AuthTokenGet", .metadata = fields_of_keys()};
  const std::string reply = co_await channel_.call(std::move(call));
  const std::string token = modal::from_id(reply);
  cache(token_, token, half_life_of(token));
  co_return token;
}

Task<std::string> ModalAccount::call(std::string method, std::string message,
                                     std::chrono::milliseconds deadline, std::string repeat) {
  grpc::Call call{.path = std::string(kService) + method,
                  .message = std::move(message),
                  .metadata = fields_of_keys(),
                  .deadline = deadline};
  call.metadata.emplace_back("x-modal-auth-token", co_await token());
  if (!repeat.empty()) call.metadata.emplace_back("x-idempotency-key", std::move(repeat));
  auto outcome = co_await attempt(channel_.call(std::move(call)));
  if (const auto* error = std::get_if<Error>(&outcome)) {
    // The cached token may be what is refused, rather than the key.
    if (are_credentials_refused(*error)) cache(token_, "", std::chrono::seconds(0));
    throw *error;
  }
  co_return std::move(std::get<std::string>(outcome));
}

Task<std::string> ModalAccount::app() {
  const std::string known = cached(app_);
  if (!known.empty()) co_return known;
  const std::string reply = co_await call("AppGetOrCreate", modal::to_app(app_name_, environment_));
  const std::string app = modal::from_id(reply);
  cache(app_, app, kKept);
  co_return app;
}

Task<std::string> ModalAccount::builder() {
  const std::string known = cached(builder_);
  if (!known.empty()) co_return known;
  const std::string reply =
      co_await call("EnvironmentGetOrCreate", modal::to_builder(environment_));
  const std::string builder = modal::from_builder(reply);
  cache(builder_, builder, kKept);
  co_return builder;
}

Task<std::string> ModalAccount::image(std::string reference) {
  if (reference.starts_with("im-")) co_return reference;
  const std::string its_app = co_await app();
  const std::string its_builder = co_await builder();
  std::string asked = modal::to_image(its_app, reference, its_builder);
  const std::string reply =
      co_await call("ImageGetOrCreate", std::move(asked), std::chrono::seconds(60));
  const modal::Build build = modal::from_image(reply);
  if (build.ended && !*build.ended) throw no_build();
  if (!build.ended) co_await wait_for_build(build.image);
  co_return build.image;
}

Task<void> ModalAccount::wait_for_build(std::string image) {
  std::string last;
  // A build may take minutes; the caller's own limit ends the wait.
  for (Backoff pause;;) {
    grpc::Call call{.path = std::string(kService) + "ImageJoinStreaming",
                    .message = modal::to_join(image, last),
                    .metadata = fields_of_keys(),
                    .deadline = std::chrono::milliseconds(0),
                    .silence = kBuildSilence};
    call.metadata.emplace_back("x-modal-auth-token", co_await token());
    const auto news = co_await channel_.stream(std::move(call));
    for (;;) {
      const auto message = co_await news->next();
      if (!message) break;
      const modal::BuildNews one = modal::from_join(*message);
      if (!one.entry.empty()) last = one.entry;
      if (one.ended && !*one.ended) throw no_build();
      if (one.ended) co_return;
    }
    co_await pause.wait();
  }
}

}  // namespace sandgate
