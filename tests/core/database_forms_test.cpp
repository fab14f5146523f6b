#include <gtest/gtest.h>

#include "gateway/core/database.hpp"
#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate {
namespace {

// As an operator may have set them for the server, the database or the role.
TEST(Database, ReadsAndWritesInItsOwnFormsWhateverItsRoleHas) {
  test::TestDatabase database;
  const std::string forms =
      " options='-c datestyle=German -c array_nulls=off -c intervalstyle=sql_standard"
      " -c bytea_output=escape -c extra_float_digits=-5 -c standard_conforming_strings=off"
      " -c timezone=Asia/Kathmandu -c transform_null_equals=on' client_encoding=LATIN1";
  Database odd({.url = database.url() + forms, .connections = 1});
  const auto written = test::run(odd.run([](pqxx::work& tx) {
    const auto row = tx.exec_params1(
        "SELECT timestamptz '2026-11-30 18:00:00.5Z', $1::numeric[], interval '1 day 2 hours',"
        " '\\x00ff'::bytea, 0.1::float8 + 0.2, length($2), NULL = NULL",
        "{1,NULL}", "ü");
    std::vector<std::string> texts;
    for (const auto& field : row) texts.push_back(field.is_null() ? "-" : field.c_str());
    return texts;
  }));
  EXPECT_EQ(written,
            (std::vector<std::string>{"2026-11-30 18:00:00.5+00", "{1,NULL}", "1 day 02:00:00",
                                      "\\x00ff", "0.30000000000000004", "1", "-"}));
}

}  // namespace
}  // namespace sandgate
