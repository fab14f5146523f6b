#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

using cli::kTenant;
using cli::ScriptedServer;
using cli::tell;
using cli::Told;

TEST(MoneyCommands, SetABudgetOfAPart) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, R"({"name":"b"})"); });
  const Told told = tell(
      server.url(), {"budgets", "set", kTenant, "b", "--amount", "5", "--timezone", "Europe/Berlin",
                     "--alert-at", "50,80", "--profile", "python", "--metadata", "run=42"});
  EXPECT_EQ(told.exit_code, 0);
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].method + " " + server.requests()[0].target,
            std::string("PUT /v1/tenants/") + kTenant + "/budgets/b");
  EXPECT_EQ(Json::parse(server.requests()[0].body),
            Json::parse(R"({"amount":"5","currency":"USD","window":"month","timezone":
              "Europe/Berlin","on_exceeded":"deny","alert_at":[50,80],
              "applies_to":{"profile":"python","metadata":{"run":"42"}}})"));
}

TEST(MoneyCommands, ATimeZoneIsNeverAssumed) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, R"({"name":"b"})"); });
  tell(server.url(), {"budgets", "set", kTenant, "b", "--amount", "5", "--window", "total"});
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_FALSE(Json::parse(server.requests()[0].body).contains("timezone"));
}

TEST(MoneyCommands, AskInACurrency) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, R"({"items":[]})"); });
  tell(server.url(), {"usage", "--currency", "EUR"});
  tell(server.url(), {"invoices", "create", kTenant, "--period", "2026-10", "--currency", "EUR"});
  ASSERT_EQ(server.requests().size(), 2u);
  EXPECT_EQ(server.requests()[0].target, "/v1/usage?group_by=profile&currency=EUR");
  EXPECT_EQ(Json::parse(server.requests()[1].body),
            (Json{{"tenant", kTenant}, {"period", "2026-10"}, {"currency", "EUR"}}));
}

TEST(MoneyCommands, ShowAllInOne) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, R"({"items":[]})"); });
  tell(server.url(), {"usage", "--by", "", "--from", "2026-11-01"});
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].target, "/v1/usage?from=2026-11-01");
}

TEST(MoneyCommands, GroupInTheOrderThatWasAskedFor) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"currency":"USD","items":[{"day":"2026-11-01",
      "profile":"p","tenant":null,"metadata.run":"7","cost":"1","charge":"2","meters":{}}]})");
  });
  EXPECT_EQ(tell(server.url(), {"usage", "--by", "tenant,profile,metadata.run,day"}).output,
            "-\tp\t7\t2026-11-01\t1\t2\t\n");
  EXPECT_EQ(tell(server.url(), {"usage", "--by", "day,profile"}).output, "2026-11-01\tp\t1\t2\t\n");
}

TEST(MoneyCommands, RefuseWhatIsNoAmount) {
  const std::vector<std::vector<const char*>> commands = {
      {"budgets", "set", kTenant, "b", "--amount"},
      {"budgets", "credit", "tn1", "--reason", "r"},
      {"invoices", "credit", "in1", "--reason", "r", "--amount"},
      {"create", "--max-cost"}};
  for (const auto& command : commands)
    for (const char* amount : {"ten", "1,50", "5 USD", "1.", ".5", "1.2.3"}) {
      std::vector<const char*> words = command;
      words.push_back(amount);
      testing::internal::CaptureStderr();
      EXPECT_EQ(tell("http://127.0.0.1:1", words).exit_code, 2) << amount;
      const std::string text = testing::internal::GetCapturedStderr();
      EXPECT_NE(text.find("must be an amount such as 12.50, not"), std::string::npos) << text;
    }
}

TEST(MoneyCommands, WriteEveryEvent) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, "one line\n"); });
  const Told told =
      tell(server.url(), {"usage", "export", "--format", "focus", "--from", "2026-11-01"});
  EXPECT_EQ(told.output, "one line\n");
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].target, "/v1/usage/export?format=focus&from=2026-11-01");
}

TEST(MoneyCommands, TakeBackAPartOfAnInvoice) {
  ScriptedServer server(
      [](const auto&) { return ScriptedServer::json(201, R"({"due":"7.50","currency":"USD"})"); });
  const Told told =
      tell(server.url(), {"invoices", "credit", "in1", "--amount", "2.5", "--reason", "down"});
  EXPECT_EQ(told.output, "taken back; due 7.50 USD\n");
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].target, "/v1/invoices/in1/credit-notes");
  EXPECT_EQ(Json::parse(server.requests()[0].body),
            Json::parse(R"({"amount":"2.5","reason":"down"})"));
}

TEST(MoneyCommands, TellWhatIsDueAndWhy) {
  const std::string issued = R"("id":"in1","number":7,"state":"issued","tenant":"tn1",
    "from":"2026-10-01T00:00:00Z","to":"2026-11-01T00:00:00Z","currency":"USD","total":"10.00",
    "credits_applied":"4.00","due":"3.50","credit_notes":[{"amount":"2.50","reason":"down"}])";
  const std::string draft = R"("id":"in2","number":null,"state":"draft","tenant":"tn1",
    "from":"2026-10-01T00:00:00Z","to":"2026-11-01T00:00:00Z","currency":"USD","total":"1.00")";
  ScriptedServer server([&](const auto& request) {
    const bool one = request.target == "/v1/invoices/in1";
    return ScriptedServer::json(200, one ? "{" + issued + R"(,"lines":[]})"
                                         : R"({"items":[{)" + issued + "},{" + draft + "}]}");
  });
  EXPECT_EQ(tell(server.url(), {"invoices", "list"}).output,
            "in1\t7\tissued\ttn1\t2026-10-01 00:00:00Z\t2026-11-01 00:00:00Z\t10.00\t3.50\tUSD\n"
            "in2\t-\tdraft\ttn1\t2026-10-01 00:00:00Z\t2026-11-01 00:00:00Z\t1.00\t-\tUSD\n");
  tell(server.url(), {"invoices", "list", "--for", kTenant});
  EXPECT_EQ(server.requests().back().target,
            std::string("/v1/invoices?tenant=") + kTenant + "&limit=100");
  const std::string text = tell(server.url(), {"invoices", "show", "in1"}).output;
  EXPECT_TRUE(text.starts_with("in1  number 7  issued  ")) << text;
  EXPECT_TRUE(
      text.ends_with("total 10.00 USD\npaid from credits 4.00 USD\n"
                     "taken back (down) 2.50 USD\ndue 3.50 USD\n"))
      << text;
}

TEST(MoneyCommands, TellWhatATakenBackInvoiceReturned) {
  const auto shown = [](const std::string& returned) {
    ScriptedServer server([&](const auto&) {
      return ScriptedServer::json(
          200, R"({"id":"in1","number":7,"state":"issued","tenant":"tn1",
        "from":"2026-10-01T00:00:00Z","to":"2026-11-01T00:00:00Z","currency":"USD","lines":[],
        "total":"10.00","credits_applied":"8.00","due":"0.00","returned":")" +
                   returned + R"(","credit_notes":[{"amount":"5.00","reason":"down"}]})");
    });
    const std::string text = tell(server.url(), {"invoices", "show", "in1"}).output;
    return text.substr(text.find("taken back"));
  };
  EXPECT_EQ(shown("3.00"),
            "taken back (down) 5.00 USD\nreturned to credits 3.00 USD\ndue 0.00 USD\n");
  EXPECT_EQ(shown("0.00"), "taken back (down) 5.00 USD\ndue 0.00 USD\n");
}

TEST(MoneyCommands, PrintAnInvoiceAsTableOrPage) {
  ScriptedServer server([](const auto& request) {
    return ScriptedServer::of_type("text/plain", request.target + "\n");
  });
  EXPECT_EQ(tell(server.url(), {"invoices", "show", "in1", "--format", "csv"}).output,
            "/v1/invoices/in1.csv\n");
  EXPECT_EQ(tell(server.url(), {"invoices", "show", "in1", "--format", "html"}).output,
            "/v1/invoices/in1.html\n");
  EXPECT_EQ(tell(server.url(), {"invoices", "show", "in1", "--format", "pdf"}).exit_code, 2);
}

TEST(MoneyCommands, ShowAPartOfTheLedger) {
  ScriptedServer server(
      [](const auto&) { return ScriptedServer::json(200, R"({"items":[],"next_cursor":null})"); });
  tell(server.url(), {"ledger", "transfers"});
  tell(server.url(), {"ledger", "transfers", "--for", kTenant, "--account", "tenant:tn1", "--from",
                      "2026-11-01", "--to", "2026-12-01T00:00:00+01:00"});
  ASSERT_EQ(server.requests().size(), 2u);
  EXPECT_EQ(server.requests()[0].target, "/v1/ledger?limit=100");
  EXPECT_EQ(
      server.requests()[1].target,
      std::string("/v1/ledger?tenant=") + kTenant +
          "&account=tenant%3Atn1&from=2026-11-01&to=2026-12-01T00%3A00%3A00%2B01%3A00&limit=100");
}

TEST(MoneyCommands, SendAVendorsBillAsItIs) {
  const std::string file = std::filesystem::temp_directory_path() / "bill.csv";
  std::ofstream(file) << "meter,quantity,amount\n";
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"items":[{"sandbox":null,"meter":"vcpu_second","ours":"1",
      "theirs":"2","difference":"1","loss":"0"}],"currency":"EUR",
      "total":{"difference":"1"}})");
  });
  const Told told = tell(server.url(), {"reconcile", "acme-1", "--period", "2026-10", "--currency",
                                        "EUR", "-f", file.c_str()});
  EXPECT_NE(told.output.find("total in EUR"), std::string::npos) << told.output;
  EXPECT_NE(told.output.find("vcpu_second\t1\t2\t1\t0"), std::string::npos) << told.output;
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].target,
            "/v1/reconciliations?deployment=acme-1&period=2026-10&currency=EUR");
  EXPECT_EQ(server.requests()[0].body, "meter,quantity,amount\n");
  std::filesystem::remove(file);
}

TEST(MoneyCommands, ABookThatIsAMarkupShowsIt) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"next_cursor":null,"items":[
      {"version":1,"markup_percent":"33","entries":[]}]})");
  });
  EXPECT_EQ(tell(server.url(), {"prices", "show", "retail"}).output, "markup 33 % over the cost\n");
}

TEST(MoneyCommands, DifferencesOfPrices) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"next_cursor":null,"items":[
      {"version":1,"entries":[{"provider":"a","meter":"x","unit_price":"1"},
                              {"provider":"a","meter":"y","unit_price":"2"}]},
      {"version":2,"entries":[{"provider":"a","meter":"x","unit_price":"3"},
                              {"provider":"b","meter":"x","unit_price":"4"}]}]})");
  });
  const Told told = tell(server.url(), {"prices", "diff", "list", "--from", "1"});
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_NE(told.output.find("a - - x\t1\t3"), std::string::npos) << told.output;
  EXPECT_NE(told.output.find("a - - y\t2\t-"), std::string::npos) << told.output;
  EXPECT_NE(told.output.find("b - - x\t-\t4"), std::string::npos) << told.output;
  EXPECT_EQ(tell(server.url(), {"prices", "diff", "list", "--from", "7"}).exit_code, 1);
}

TEST(MoneyCommands, ADifferenceMayBeOfTheWholeBook) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"items":[
      {"version":1,"currency":"EUR","markup_percent":"20","effective_from":"a","entries":[
        {"provider":"p","meter":"m","unit_price":"1"}]},
      {"version":2,"currency":"EUR","markup_percent":"30","effective_from":"b","entries":[
        {"provider":"p","meter":"m","unit_price":"1","minimum":"60"}]}]})");
  });
  EXPECT_EQ(tell(server.url(), {"prices", "diff", "list", "--from", "1"}).output,
            "markup_percent\t20\t30\np - - m\t1\t1, minimum 60\n");
}

TEST(MoneyCommands, PreviewSendsTheFile) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"items":[],"total":[{"currency":"USD",
      "booked":{"charge":"1"},"preview":{"charge":"3"},"difference":{"charge":"2"}}]})");
  });
  const std::string file = testing::TempDir() + "prices.yaml";
  std::ofstream(file) << "kind: charge\nmarkup_percent: \"25\"\n";
  const Told told = tell(
      server.url(), {"prices", "preview", "resale", "-f", file.c_str(), "--period", "2026-10"});
  std::filesystem::remove(file);
  EXPECT_EQ(server.requests().at(0).target, "/v1/prices/resale/preview?period=2026-10");
  EXPECT_EQ(Json::parse(server.requests()[0].body)["markup_percent"], "25");
  EXPECT_NE(told.output.find("1\t3\t2\tUSD"), std::string::npos) << told.output;
}

TEST(MoneyCommands, SecretsOfExportsComeFromTheEnvironment) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, "{}"); });
  const std::string file = testing::TempDir() + "settings.json";
  std::ofstream(file) << R"({"url":"https://receiver.example"})";
  setenv("RECEIVER_SECRET", "0123456789abcdef", 1);
  const Told told = tell(server.url(), {"exports", "set", "out", "--kind", "webhook", "-f",
                                        file.c_str(), "--secret-env", "secret=RECEIVER_SECRET"});
  std::filesystem::remove(file);
  EXPECT_EQ(told.exit_code, 0);
  const Json body = Json::parse(server.requests().at(0).body);
  EXPECT_EQ(body["secrets"]["secret"], "0123456789abcdef");
  EXPECT_EQ(body["settings"]["url"], "https://receiver.example");
}

TEST(MoneyCommands, TheFirstOperatorKeyIsMadeWithoutAGateway) {
  unsetenv("SANDGATE_ADMIN_KEY");
  Json asked;
  const Told told = tell("http://127.0.0.1:1", {"keys", "create", "first", "--operator"},
                         [&](const Json& body) -> Json {
                           asked = body;
                           return {{"id", "ky1"}, {"secret", "sg_first"}};
                         });
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(told.output, "sg_first\n");
  EXPECT_EQ(asked, Json({{"name", "first"}, {"role", "operator"}}));
}

TEST(MoneyCommands, WithAnOperatorKeyInTheFileTheNextOneIsMadeByTheGateway) {
  unsetenv("SANDGATE_ADMIN_KEY");
  ScriptedServer server(
      [](const auto&) { return ScriptedServer::json(201, R"({"id":"ky2","secret":"sg_next"})"); });
  const test::TempDirectory home;
  std::filesystem::create_directories(home.path() + "/sandgate");
  std::ofstream(home.path() + "/sandgate/config.yaml") << "admin_key: sg_operator\n";
  int made_directly = 0;
  const auto create = [&] {
    return tell(
        server.url(), {"keys", "create", "next", "--operator"},
        [&](const Json&) -> Json {
          ++made_directly;
          return {{"id", "ky3"}, {"secret", "sg_direct"}};
        },
        home.path());
  };
  EXPECT_EQ(create().output, "sg_next\n");
  EXPECT_EQ(made_directly, 0);
  EXPECT_NE(server.requests().at(0).head.find("Bearer sg_operator"), std::string::npos);
  setenv("SANDGATE_ADMIN_KEY", "", 1);
  EXPECT_EQ(create().output, "sg_direct\n") << "the environment goes before the file";
  unsetenv("SANDGATE_ADMIN_KEY");
}

}  // namespace
}  // namespace sandgate
