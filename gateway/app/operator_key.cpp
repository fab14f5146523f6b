#include "gateway/app/operator_key.hpp"

#include <unistd.h>

#include "gateway/app/command_database.hpp"
#include "gateway/core/migrate.hpp"
#include "gateway/core/moment.hpp"
#include "registry/key_store.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kSchemaTimeout{10};

}  // namespace

cli::OperatorKeyMaker OperatorKey::maker() {
  return [self = shared_from_this()](const Json& body) { return self->make(body); };
}

Json OperatorKey::make(const Json& body) const {
  const Config config = flags_->load();
  Problems problems;
  ObjectReader reader(body, problems);
  const std::string name = reader.text("name", kGivenName).value_or(std::string());
  const auto expires_at = read_moment(reader, "expires_at");
  if (expires_at && *expires_at <= SystemClock().now())
    reader.problem("expires_at", "must be in the future");
  problems.throw_if_any();
  const auto database = command_database(config);
  KeyStore keys(*database);
  const Actor actor{.key_name = "command line of uid " + std::to_string(getuid()),
                    .role = "system"};
  asio::io_context loop;
  const auto create = [&]() -> Task<NewApiKey> {
    // The gateway's first start may still be migrating the database.
    auto waiting = await_schema(*database, kSchemaTimeout);
    co_await std::move(waiting);
    auto creating = keys.create(std::nullopt, name, Role::operator_, expires_at, actor);
    co_return co_await std::move(creating);
  };
  auto creating = asio::co_spawn(loop, create(), asio::use_future);
  loop.run();
  const NewApiKey made = creating.get();
  Json answer = to_json(made.key);
  answer["secret"] = made.secret.reveal();
  return answer;
}

}  // namespace sandgate
