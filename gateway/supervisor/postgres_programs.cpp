#include "gateway/supervisor/postgres_programs.hpp"

#include <cstdlib>

#include "gateway/core/error.hpp"
#include "gateway/core/files.hpp"

namespace sandgate {
namespace {

namespace fs = std::filesystem;

// The version that made the cluster; 0: there is none, or it does not say.
int version_of(const fs::path& data) {
  const auto text = read_text_file(data / "PG_VERSION");
  return text ? std::atoi(text->c_str()) : 0;
}

// Of the wanted version, or of the newest one if that is 0; empty if there is none.
std::string installed(const fs::path& versions, int wanted) {
  std::error_code missing;
  int newest = 0;
  std::string found;
  for (const auto& entry : fs::directory_iterator(versions, missing)) {
    const int version = std::atoi(entry.path().filename().c_str());
    if (wanted > 0 ? version != wanted : version <= newest) continue;
    if (!fs::exists(entry.path() / "bin/initdb", missing)) continue;
    newest = version;
    found = entry.path() / "bin";
  }
  return found;
}

}  // namespace

std::string postgres_programs(const fs::path& data, const fs::path& versions) {
  const int wanted = version_of(data);
  if (const std::string found = installed(versions, wanted); !found.empty()) return found;
  std::error_code missing;
  for (const fs::path place : {"/usr/pgsql/bin", "/usr/local/pgsql/bin", "/usr/bin"})
    if (fs::exists(place / "initdb", missing)) return place;
  if (wanted == 0)
    throw Error(ErrorCode::unavailable,
                "no PostgreSQL server programs found: run 'apt-get install postgresql' or set "
                "database.url");
  const std::string version = std::to_string(wanted);
  throw Error(ErrorCode::unavailable,
              "the database in " + data.string() + " is of PostgreSQL " + version +
                  ", whose server programs are missing: run 'apt-get install postgresql-" +
                  version + "', or move it to a newer version with pg_upgrade");
}

}  // namespace sandgate
