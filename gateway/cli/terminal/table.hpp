#pragma once
#include <string>
#include <vector>

#include "gateway/cli/terminal/console.hpp"

namespace sandgate::cli {

// Rows under a header. A terminal gets aligned columns; other outputs get tabs and no header.
class Table {
 public:
  // Columns whose name begins with '>' are numeric and aligned to the right.
  explicit Table(std::vector<std::string> columns);
  void add(std::vector<std::string> row);
  // `nothing` is printed on a terminal if there are no rows.
  void print(const Console& console, std::string_view nothing) const;

 private:
  void print_row(const Console& console, const std::vector<std::string>& row,
                 const std::vector<size_t>& widths, bool header) const;

  std::vector<std::string> columns_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sandgate::cli
