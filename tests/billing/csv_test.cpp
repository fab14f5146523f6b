#include "billing/csv.hpp"

#include "billing/ledger/reconciliation.hpp"
#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using Rows = std::vector<std::vector<std::string>>;

TEST(Csv, ReadsQuotesCommasAndEitherLineEnd) {
  EXPECT_EQ(read_csv("\xef\xbb\xbf"
                     "a,b\r\n1,\n\n\"x, \"\"y\"\"\n\",\"\"\r\n"),
            (Rows{{"a", "b"}, {"1", ""}, {"x, \"y\"\n", ""}}));
  EXPECT_EQ(read_csv(""), Rows());
  EXPECT_EQ(read_csv("a"), Rows{{"a"}});
}

TEST(Csv, RefusesQuotesThatMeanNothing) {
  for (const char* text : {"\"open", "a\"b", "\"a\"b", "\"\"\""})
    EXPECT_THROW(read_csv(text), Error) << text;
}

TEST(Csv, WritesFieldsThatSpreadsheetsReadAsText) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("-1.5"), "-1.5");
}

TEST(Csv, WritesRowsWithAllTheirFields) {
  EXPECT_EQ(csv_row({"", "a,b", ""}), ",\"a,b\",\r\n");
  EXPECT_EQ(read_csv(csv_row({"", "a,b", ""})), (Rows{{"", "a,b", ""}}));
}

TEST(Csv, OfAVendorsBillIsTheBillAsJson) {
  const auto report = vendor_report_from_csv(
      "Day,meter,sandbox,quantity,amount\n1,vcpu_second,sbone,1600,0.16\n2,egress_gib,,3,-1\n",
      "acme-1", "2026-10");
  EXPECT_EQ(report.deployment, "acme-1");
  EXPECT_EQ(report.from, test::at("2026-10-01T00:00:00Z"));
  ASSERT_EQ(report.lines.size(), 2u);
  EXPECT_EQ(report.lines[0].sandbox, "sbone");
  EXPECT_EQ(report.lines[0].amount, test::dec("0.16"));
  EXPECT_EQ(report.lines[1].meter, MeterKind::egress_gib);
  EXPECT_EQ(report.lines[1].sandbox, "");
  const auto path_of = [](const char* text) {
    try {
      vendor_report_from_csv(text, "acme-1", "2026-10");
      return std::string("accepted");
    } catch (const Error& error) {
      return error.fields.at(0).path;
    }
  };
  EXPECT_EQ(path_of("meter,quantity,amount\nvcpu_second,1,one\n"), "/lines/0/amount");
  EXPECT_EQ(path_of("meter,quantity\nvcpu_second,1\n"), "/lines/0/amount");
  EXPECT_EQ(path_of("meter,quantity,amount\nwishes,1,1\n"), "/lines/0/meter");
  EXPECT_EQ(path_of("meter,quantity,amount,sandbox\nvcpu_second,1,1,\xe4\n"), "/lines/0/sandbox");
  EXPECT_EQ(path_of("Geb\xfchr,meter,quantity,amount\n\xe4,vcpu_second,1,1\n"), "accepted");
  EXPECT_EQ(path_of(""), "");
}

TEST(Csv, OfAVendorsBillSaysOneThing) {
  const auto complaint = [](const char* text) {
    try {
      vendor_report_from_csv(text, "acme-1", "2026-10");
      return std::string("accepted");
    } catch (const Error& error) {
      return error.fields.at(0).path + " " + error.fields.at(0).message.substr(0, 19);
    }
  };
  // A thousand, unquoted, would be one.
  EXPECT_EQ(complaint("meter,quantity,amount\negress_gib,1,1\nvcpu_second,1,1,234.50\n"),
            "/lines/1 has more fields tha");
  EXPECT_EQ(complaint("meter,quantity,amount\nvcpu_second,1,1,\n"), "accepted");
  // Net and gross, of which one would be compared.
  EXPECT_EQ(complaint("meter,quantity,amount,amount\nvcpu_second,1,1,1.19\n"),
            " the first row names");
  EXPECT_EQ(complaint("day,day,meter,quantity,amount\n1,2,vcpu_second,1,1\n"), "accepted");
}

}  // namespace
}  // namespace sandgate
