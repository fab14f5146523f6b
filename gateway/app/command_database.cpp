#include "gateway/app/command_database.hpp"

#include "gateway/core/conninfo.hpp"

namespace sandgate {

std::unique_ptr<Database> command_database(const Config& config) {
  const std::string url = config.database_url();
  try {
    const pqxx::connection trial(conninfo_with_timeouts(url));
  } catch (const pqxx::failure& failure) {
    const std::string_view reason = failure.what();
    const std::string remedy = config.database.url.empty()
                                   ? "start the server with 'sandgate serve', which runs it, or "
                                     "set SANDGATE_DATABASE_URL if the server has it"
                                   : "check database.url";
    throw Error(ErrorCode::unavailable, "no connection to the database: " +
                                            std::string(reason.substr(0, reason.find('\n'))) +
                                            "; " + remedy);
  }
  return std::make_unique<Database>(Database::Options{.url = url, .connections = 1});
}

}  // namespace sandgate
