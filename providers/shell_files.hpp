#pragma once
#include <functional>
#include <string>
#include <vector>

#include "providers/sandbox.hpp"

// The file verbs of a backend that has a shell and no more: each is one line for /bin/sh, which
// needs stat, find, readlink, mv and base64 as in coreutils or busybox. Names may hold any byte but
// NUL and newline pairs of ours; answers come as base64, so that a backend's text cannot bend them.
// Relative paths start at $HOME.
namespace sandgate::shell {

// Pure: the line, and what its output means. read_entries throws the Error that the line ended
// with (not_found, invalid, conflict), and Error(unavailable) for what no such line prints.
std::string stat_line(const std::string& path, bool follow = false);
std::string list_line(const std::string& path, int depth);
std::string make_directory_line(const std::string& path);
std::string move_line(const std::string& from, const std::string& to);
std::string remove_line(const std::string& path, bool recursive);
// Gives a file that was uploaded under another name its mode and its place.
std::string publish_line(const std::string& uploaded, const std::string& path, uint32_t mode);
std::vector<FileEntry> read_entries(const std::string& output);

// The same as verbs. `run` runs a line in one sandbox to its end and returns what it printed.
class ShellFiles {
 public:
  using Run = std::function<Task<std::string>(std::string line)>;
  explicit ShellFiles(Run run) : run_(std::move(run)) {}

  Task<FileEntry> stat(std::string path, bool follow = false);
  Task<std::vector<FileEntry>> list(std::string path, int depth);
  Task<FileEntry> make_directory(std::string path);
  Task<FileEntry> move(std::string from, std::string to);
  Task<void> remove(std::string path, bool recursive);
  // Where to upload what publish() then moves: a new name, from the root, in the directory of
  // `path`, which is made.
  Task<std::string> place_for(std::string path);
  Task<FileEntry> publish(std::string uploaded, std::string path, uint32_t mode);

 private:
  Task<FileEntry> one(std::string line);
  Run run_;
};

}  // namespace sandgate::shell
