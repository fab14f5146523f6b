#include "gateway/cli/terminal/table.hpp"

#include <algorithm>

namespace sandgate::cli {

Table::Table(std::vector<std::string> columns) : columns_(std::move(columns)) {
  for (std::string& column : columns_) {
    right_.push_back(column.starts_with('>'));
    if (right_.back()) column.erase(0, 1);
  }
}

void Table::add(std::vector<std::string> row) {
  row.resize(columns_.size());
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

void Table::print(const Console& console, std::string_view nothing) const {
  if (!console.terminal) {
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) console.out << (i ? "\t" : "") << row[i];
      console.out << '\n';
    }
    return;
  }
  if (rows_.empty()) {
    console.out << nothing << '\n';
    return;
  }
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = width_of(columns_[i]);
    for (const auto& row : rows_) width = std::max(width, width_of(row[i]));
    widths.push_back(width);
  }
  print_row(console, columns_, widths, /*header=*/true);
  for (const auto& row : rows_) print_row(console, row, widths, /*header=*/false);
}

void Table::print_row(const Console& console, const std::vector<std::string>& row,
                      const std::vector<size_t>& widths, bool header) const {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string padding(widths[i] - width_of(row[i]), ' ');
    const bool last = i + 1 == row.size();
    line += right_[i] ? padding + row[i] : row[i] + (last ? "" : padding);
    if (!last) line += "  ";
  }
  console.out << (header ? console.styled(line, Style::bold) : line) << '\n';
}

}  // namespace sandgate::cli
