#include "billing/csv.hpp"

#include "gateway/core/decimal.hpp"
#include "gateway/core/error.hpp"

namespace sandgate {
namespace {

class CsvText {
 public:
  explicit CsvText(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  }

  bool ended() const { return rest_.empty(); }

  std::vector<std::string> row() {
    ++line_;
    std::vector<std::string> fields{field()};
    while (rest_.starts_with(',')) {
      rest_.remove_prefix(1);
      fields.push_back(field());
    }
    if (rest_.starts_with("\r\n"))
      rest_.remove_prefix(2);
    else if (!rest_.empty())
      rest_.remove_prefix(1);
    return fields;
  }

 private:
  std::string field() {
    if (rest_.starts_with('"')) return quoted();
    const std::string_view text = rest_.substr(0, rest_.find_first_of(",\r\n\""));
    rest_.remove_prefix(text.size());
    check_end();
    return std::string(text);
  }

  std::string quoted() {
    std::string text;
    do {
      rest_.remove_prefix(1);
      const size_t end = rest_.find('"');
      if (end == std::string_view::npos) fail("a quoted field does not end");
      // A doubled quote stands for one quote of the text.
      text.append(rest_.substr(0, end + 1));
      rest_.remove_prefix(end + 1);
    } while (rest_.starts_with('"'));
    text.pop_back();
    check_end();
    return text;
  }

  void check_end() const {
    if (!rest_.empty() && std::string_view(",\r\n").find(rest_[0]) == std::string_view::npos)
      fail("a quote stands inside a field");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error::invalid("", "row " + std::to_string(line_) + " of the CSV: " + what);
  }

  std::string_view rest_;
  size_t line_ = 0;
};

}  // namespace

std::vector<std::vector<std::string>> read_csv(std::string_view text) {
  CsvText csv(text);
  std::vector<std::vector<std::string>> rows;
  while (!csv.ended()) {
    auto row = csv.row();
    if (row.size() > 1 || !row[0].empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::string csv_field(std::string_view text) {
  std::string field(text);
  const bool formula =
      !field.empty() && std::string_view("=+-@\t\r").find(field[0]) != std::string_view::npos;
  if (formula && !Decimal::parse_printed(field)) field.insert(0, 1, '\'');
  if (field.find_first_of("\",\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (char c : field) quoted.append(c == '"' ? "\"\"" : std::string(1, c));
  return quoted + "\"";
}

std::string csv_row(const std::vector<std::string>& fields) {
  std::string row;
  for (const std::string& field : fields) row += csv_field(field) + ",";
  if (!row.empty()) row.pop_back();
  return row + "\r\n";
}

}  // namespace sandgate
