#pragma once
#include <functional>
#include <string>
#include <vector>

#include "providers/sandbox.hpp"

// The file verbs as lines for /bin/sh, using stat, find, readlink, mv and base64 from coreutils or
// busybox. Names may contain any byte but NUL and the separators of our output ("//" between
// newlines). Output is base64, so that text conversion by a vendor cannot damage it. Relative paths
// start at $HOME.
namespace sandgate::shell {

// Returns the path as a shell word that is absolute: a relative one, and one below "~", starts at
// $HOME.
std::string rooted(std::string path);

// Pure functions that make the lines and parse their output. read_entries throws the Error of a
// line's exit status (not_found, invalid, conflict), or Error(unavailable) for unexpected output.
std::string stat_line(const std::string& path, bool follow = false);
std::string list_line(const std::string& path, int depth);
std::string make_directory_line(const std::string& path);
std::string move_line(const std::string& from, const std::string& to);
std::string remove_line(const std::string& path, bool recursive);
// Succeeds if the path is one that must not be removed, for which remove_line's error is
// root_and_home_stay().
std::string stays_line(const std::string& path);
Error root_and_home_stay();
// Sets the mode of an uploaded temporary file and moves the file to `path`.
std::string publish_line(const std::string& uploaded, const std::string& path, uint32_t mode);
std::vector<FileEntry> read_entries(const std::string& output);

// Runs the lines. `run` executes a line in one sandbox and returns its output.
class ShellFiles {
 public:
  using Run = std::function<Task<std::string>(std::string line)>;
  explicit ShellFiles(Run run) : run_(std::move(run)) {}

  Task<FileEntry> stat(std::string path, bool follow = false);
  Task<std::vector<FileEntry>> list(std::string path, int depth);
  Task<FileEntry> make_directory(std::string path);
  Task<FileEntry> move(std::string from, std::string to);
  Task<void> remove(std::string path, bool recursive);
  // Creates the directory of `path` and returns an absolute path in it with a new name, to upload
  // to before publish().
  Task<std::string> place_for(std::string path);
  Task<FileEntry> publish(std::string uploaded, std::string path, uint32_t mode);

 private:
  Task<FileEntry> one(std::string line);
  Run run_;
};

}  // namespace sandgate::shell
