#pragma once
#include <string>
#include <string_view>

// Commands whose text and environment do not travel in the request that starts them, for backends
// that keep requests in a log, or bound them: a shell is started that takes its script from stdin.
// Where stdin cannot be closed, input follows as lines that end with a mark.
namespace sandgate::shell {

// For `sh -c`: runs the script that is the first line of stdin, and leaves the rest to it.
extern const char* const kReadScript;
// That line.
std::string script_line(std::string_view script);

// A script whose input is taken from such lines, and what they are.
std::string with_input_lines(const std::string& script);
std::string input_line(std::string_view bytes);
inline constexpr const char* kInputEnd = ".\n";

// A terminal would cut the script short and show it: these keep it in a file, by a line that is run
// before, and run it once. `name` is a word of letters and digits.
std::string keep_script(const std::string& script, const std::string& name);
std::string run_kept_script(const std::string& name);

}  // namespace sandgate::shell
