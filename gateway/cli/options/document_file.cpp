#include "gateway/cli/options/document_file.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "gateway/core/files.hpp"
#include "registry/yaml.hpp"

namespace sandgate::cli {

std::string read_text(const std::string& path) {
  using Bytes = std::istreambuf_iterator<char>;
  if (path == "-") return std::string{Bytes(std::cin), {}};
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw Error(ErrorCode::invalid, path + " is a directory: name a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::not_found, cannot_read(path));
  return std::string{Bytes(file), {}};
}

Json read_document(const std::string& path) {
  const std::string text = read_text(path);
  try {
    return yaml_to_json(text);
  } catch (const Error& error) {
    throw about_file(path, error);
  }
}

Error about_file(const std::string& path, const Error& error) {
  const std::string name = path == "-" ? "standard input" : path;
  Error named(error.code, name + ": " + error.what(), error.fields);
  named.details = error.details;
  return named;
}

}  // namespace sandgate::cli
